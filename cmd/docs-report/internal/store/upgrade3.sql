-- From version 2 of the schema to 3. The views are made anew: Postgres cannot change the types of their columns.
ALTER TABLE docs_service ADD COLUMN salt TEXT NOT NULL DEFAULT '';
CREATE TABLE docs_syncs (
	project  TEXT PRIMARY KEY,
	ended_at BIGINT NOT NULL,
	missing  BIGINT NOT NULL,
	problem  TEXT NOT NULL
);
DROP VIEW docs_days;
DROP VIEW docs_weeks;
DROP VIEW docs_months;
DROP VIEW docs_pages;
DROP VIEW docs_lists;
UPDATE docs_service SET version = 3
