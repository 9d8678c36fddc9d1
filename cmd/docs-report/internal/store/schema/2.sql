-- The rows of an export were deleted for their age; they are not loaded again.
ALTER TABLE docs_exports ADD COLUMN expired BOOLEAN NOT NULL DEFAULT FALSE;
-- What readers asked us to forget. sync leaves it out when the service reports it again.
CREATE TABLE docs_forgotten (
	project TEXT NOT NULL, -- '': all
	kind    TEXT NOT NULL,
	id      TEXT NOT NULL, -- of a search term, a salted hash
	PRIMARY KEY (project, kind, id)
)
