-- The pull requests of a prompt, which get a comment with the result. What the column pulls has moves here.
CREATE TABLE fleet_pulls (
	key TEXT NOT NULL, pull TEXT NOT NULL, -- owner/repo#7
	place BIGINT NOT NULL, -- as they were named
	PRIMARY KEY (key, pull)
);
CREATE INDEX fleet_pulls_pull ON fleet_pulls (pull);

-- The state that was told last; '' once the prompt is open again.
ALTER TABLE fleet_prompts RENAME COLUMN told TO told_version;
ALTER TABLE fleet_prompts ADD COLUMN told TEXT NOT NULL DEFAULT '';
UPDATE fleet_prompts SET told = coalesce((SELECT o.state FROM mintlify_once o
WHERE o.key = fleet_prompts.key AND o.version = fleet_prompts.told_version), '');
ALTER TABLE fleet_prompts DROP COLUMN told_version;

-- owner/repo of the key or of the pull request; '' if neither names one.
ALTER TABLE fleet_prompts ADD COLUMN repository TEXT NOT NULL DEFAULT '';
UPDATE fleet_prompts SET repository = rtrim(rtrim(key, replace(key, '@', '')), '@') WHERE key LIKE '%/%@%';
CREATE INDEX fleet_prompts_repository ON fleet_prompts (repository);
-- A person has it sent again: the limit of a day does not hold it back.
ALTER TABLE fleet_prompts ADD COLUMN retried BIGINT NOT NULL DEFAULT 0;
-- When somebody last looked for what became of it, and when its texts were forgotten.
ALTER TABLE fleet_prompts ADD COLUMN looked BIGINT NOT NULL DEFAULT 0;
ALTER TABLE fleet_prompts ADD COLUMN forgotten BIGINT NOT NULL DEFAULT 0;

-- The history gets an id of its own: a version may have two lines.
ALTER TABLE fleet_history RENAME TO fleet_history_3;
CREATE TABLE fleet_history (
	id TEXT NOT NULL, key TEXT NOT NULL, version BIGINT NOT NULL, at BIGINT NOT NULL,
	state TEXT NOT NULL, job TEXT NOT NULL, problem TEXT NOT NULL, who TEXT NOT NULL,
	CONSTRAINT fleet_history_id PRIMARY KEY (id)
);
CREATE INDEX fleet_history_key ON fleet_history (key);
INSERT INTO fleet_history (id, key, version, at, state, job, problem, who)
SELECT version || ' ' || key, key, version, at, state, job, problem, who FROM fleet_history_3;
DROP TABLE fleet_history_3;

-- Why a pause is there: person, key, project, credits, quota or outage.
ALTER TABLE fleet_pauses ADD COLUMN cause TEXT NOT NULL DEFAULT '';
UPDATE fleet_pauses SET cause = CASE WHEN source = 'person' THEN 'person' ELSE 'outage' END;
CREATE TABLE fleet_paused_repositories (repository TEXT PRIMARY KEY, since BIGINT NOT NULL, reason TEXT NOT NULL);

-- At most so many new jobs of a repository a day; '' is all that have no limit of their own.
CREATE TABLE fleet_limits (repository TEXT PRIMARY KEY, most BIGINT NOT NULL);
CREATE TABLE fleet_days (
	day TEXT NOT NULL, repository TEXT NOT NULL, sent BIGINT NOT NULL,
	PRIMARY KEY (day, repository)
);

-- Pull requests with a marker, as webhooks and comments name them: an unknown prompt is done with one.
CREATE TABLE fleet_found (
	key TEXT NOT NULL, link TEXT NOT NULL, at BIGINT NOT NULL,
	PRIMARY KEY (key, link)
);
-- Merges and comments that are left out.
CREATE TABLE fleet_left_out (
	id TEXT PRIMARY KEY, at BIGINT NOT NULL,
	kind TEXT NOT NULL, -- merge or comment
	repository TEXT NOT NULL, sha TEXT NOT NULL, pull TEXT NOT NULL, author TEXT NOT NULL, reason TEXT NOT NULL
);
-- Whether GitHub has said that a comment's author may ask, or has to be asked still.
ALTER TABLE fleet_comments ADD COLUMN may_ask BIGINT NOT NULL DEFAULT 1;

-- A message names the first prompt of its thread, whose job gets it. Package once orders the messages of a thread.
DROP INDEX fleet_prompts_follows;
WITH RECURSIVE chain (key, thread) AS (
	SELECT key, key FROM fleet_prompts WHERE follows = ''
	UNION ALL SELECT p.key, c.thread FROM fleet_prompts p JOIN chain c ON p.follows = c.key
)
UPDATE fleet_prompts SET follows = (SELECT c.thread FROM chain c WHERE c.key = fleet_prompts.key) WHERE follows <> '';
ALTER TABLE fleet_prompts RENAME COLUMN follows TO thread;
CREATE INDEX fleet_prompts_thread ON fleet_prompts (thread) WHERE thread <> '';
-- The place in the thread: when the record was added, in Unix nanoseconds.
ALTER TABLE fleet_prompts ADD COLUMN place BIGINT NOT NULL DEFAULT 0;
UPDATE fleet_prompts SET place = added * 1000000;

-- River's jobs of the old kind. A pass of a worker makes those of the new kinds.
DELETE FROM river_job WHERE kind = 'fleet_prompt';
