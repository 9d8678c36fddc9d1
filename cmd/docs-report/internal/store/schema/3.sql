-- The salt of the hashes of search terms that are forgotten.
ALTER TABLE docs_service ADD COLUMN salt TEXT NOT NULL DEFAULT '';
-- How many pages of an export are loaded: the service may cap them, so offsets do not tell.
ALTER TABLE docs_exports ADD COLUMN pages_loaded BIGINT NOT NULL DEFAULT 0;
-- How the last sync of a project ended.
CREATE TABLE docs_syncs (
	project  TEXT PRIMARY KEY,
	ended_at BIGINT NOT NULL,
	missing  BIGINT NOT NULL, -- requests that would load what its flags ask for
	problem  TEXT NOT NULL -- '': none
)
