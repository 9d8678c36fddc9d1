-- From version 1 of the schema to 2.
ALTER TABLE docs_exports ADD COLUMN expired BOOLEAN NOT NULL DEFAULT FALSE;
CREATE TABLE docs_forgotten (
	project TEXT NOT NULL,
	kind    TEXT NOT NULL,
	id      TEXT NOT NULL,
	PRIMARY KEY (project, kind, id)
);
UPDATE docs_service SET version = 2
