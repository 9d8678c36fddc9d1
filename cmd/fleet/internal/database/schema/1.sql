-- Times are Unix milliseconds. The prompts' states are in the table mintlify_once.
CREATE TABLE IF NOT EXISTS fleet_schema ( -- one row, which transactions lock
	version BIGINT PRIMARY KEY, only_row BIGINT NOT NULL DEFAULT 1 UNIQUE
);
CREATE TABLE IF NOT EXISTS fleet_prompts (
	key         TEXT PRIMARY KEY,
	project     TEXT NOT NULL,
	pulls       TEXT NOT NULL,               -- owner/repo#7, with a space between several
	priority    BIGINT NOT NULL,             -- 1 is the most urgent
	added       BIGINT NOT NULL,
	told        BIGINT NOT NULL DEFAULT 0    -- the version of the record that was told
);
CREATE TABLE IF NOT EXISTS fleet_commits (commit_key TEXT PRIMARY KEY, key TEXT NOT NULL); -- those of a push with several
CREATE TABLE IF NOT EXISTS fleet_posts (
	id TEXT PRIMARY KEY, project TEXT NOT NULL, at BIGINT NOT NULL,
	ends BIGINT NOT NULL -- when the POST has ended, or must have
);
CREATE INDEX IF NOT EXISTS fleet_posts_at ON fleet_posts (project, at);
CREATE TABLE IF NOT EXISTS fleet_pauses (
	project TEXT NOT NULL, -- '' is all
	source  TEXT NOT NULL, -- person, service (429, or a key to mend) or breaker
	since   BIGINT NOT NULL, until BIGINT NOT NULL, strikes BIGINT NOT NULL, reason TEXT NOT NULL,
	PRIMARY KEY (project, source)
);
CREATE TABLE IF NOT EXISTS fleet_history (
	key TEXT NOT NULL, version BIGINT NOT NULL, at BIGINT NOT NULL,
	state TEXT NOT NULL, job TEXT NOT NULL, problem TEXT NOT NULL,
	PRIMARY KEY (key, version)
);
INSERT INTO fleet_schema (version) SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM fleet_schema) ON CONFLICT DO NOTHING;
