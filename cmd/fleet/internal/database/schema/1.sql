-- Times are Unix milliseconds, unless a comment says otherwise. The prompts' states are in the table mintlify_once.
CREATE TABLE IF NOT EXISTS fleet_schema ( -- one row, which transactions lock
	version BIGINT PRIMARY KEY, only_row BIGINT NOT NULL DEFAULT 1 UNIQUE
);

CREATE TABLE IF NOT EXISTS fleet_prompts (
	key        TEXT PRIMARY KEY,
	project    TEXT NOT NULL,
	repository TEXT NOT NULL,             -- owner/repo of the key or of the pull request; '' if neither names one
	priority   BIGINT NOT NULL,           -- 1 is the most urgent
	added      BIGINT NOT NULL,
	queued     BIGINT NOT NULL,           -- when it came back from the service, or was added: the order in a priority
	not_before BIGINT NOT NULL DEFAULT 0, -- it gets no turn before: its job has been found at work
	thread     TEXT NOT NULL,             -- the first prompt of its thread, whose job gets this message; '' is none
	place      BIGINT NOT NULL,           -- in the thread: when the record was added, in Unix nanoseconds
	told       TEXT NOT NULL DEFAULT '',  -- the state that was told last; '' once the prompt is open again
	tried      BIGINT NOT NULL DEFAULT 0, -- when somebody last tried to tell its result, in Unix microseconds
	retried    BIGINT NOT NULL DEFAULT 0, -- 1: a person has it sent again, and the limit of a day does not hold it back
	looked     BIGINT NOT NULL DEFAULT 0, -- when somebody last looked for what became of it
	forgotten  BIGINT NOT NULL DEFAULT 0  -- when its texts were forgotten
);
CREATE INDEX IF NOT EXISTS fleet_prompts_repository ON fleet_prompts (repository);
CREATE INDEX IF NOT EXISTS fleet_prompts_thread ON fleet_prompts (thread) WHERE thread <> '';

-- The pull requests of a prompt, which get a comment with the result.
CREATE TABLE IF NOT EXISTS fleet_pulls (
	key TEXT NOT NULL, pull TEXT NOT NULL, -- owner/repo#7
	place BIGINT NOT NULL, -- as they were named
	PRIMARY KEY (key, pull)
);
CREATE INDEX IF NOT EXISTS fleet_pulls_pull ON fleet_pulls (pull);
CREATE TABLE IF NOT EXISTS fleet_commits (commit_key TEXT PRIMARY KEY, key TEXT NOT NULL); -- those of a push with several

CREATE TABLE IF NOT EXISTS fleet_posts (
	id TEXT PRIMARY KEY, project TEXT NOT NULL, at BIGINT NOT NULL,
	ends BIGINT NOT NULL -- when the POST has ended, or must have
);
CREATE INDEX IF NOT EXISTS fleet_posts_at ON fleet_posts (project, at);

CREATE TABLE IF NOT EXISTS fleet_pauses (
	project TEXT NOT NULL, -- '' is all
	source  TEXT NOT NULL, -- person, service (429, or a key to mend) or breaker
	cause   TEXT NOT NULL DEFAULT '', -- person, key, project, credits, quota or outage
	since   BIGINT NOT NULL, until BIGINT NOT NULL, strikes BIGINT NOT NULL, reason TEXT NOT NULL,
	PRIMARY KEY (project, source)
);
CREATE TABLE IF NOT EXISTS fleet_paused_repositories (
	repository TEXT PRIMARY KEY, since BIGINT NOT NULL, reason TEXT NOT NULL
);

-- At most so many new jobs of a repository a day; '' is all that have no limit of their own.
CREATE TABLE IF NOT EXISTS fleet_limits (repository TEXT PRIMARY KEY, most BIGINT NOT NULL);
CREATE TABLE IF NOT EXISTS fleet_days (
	day TEXT NOT NULL, repository TEXT NOT NULL, sent BIGINT NOT NULL,
	PRIMARY KEY (day, repository)
);

CREATE TABLE IF NOT EXISTS fleet_history (
	id TEXT NOT NULL, key TEXT NOT NULL, version BIGINT NOT NULL, at BIGINT NOT NULL,
	state TEXT NOT NULL, job TEXT NOT NULL, problem TEXT NOT NULL,
	who TEXT NOT NULL, -- a machine, or NAME@HOST of a person's command
	CONSTRAINT fleet_history_id PRIMARY KEY (id)
);
CREATE INDEX IF NOT EXISTS fleet_history_key ON fleet_history (key);

-- Comments of which it is not known yet whether they are for the job of a prompt.
CREATE TABLE IF NOT EXISTS fleet_comments (
	id BIGINT PRIMARY KEY, -- GitHub's
	key TEXT NOT NULL,     -- in the marker of the pull request's description
	pull TEXT NOT NULL,    -- owner/repo#7
	url TEXT NOT NULL,     -- of the pull request
	author TEXT NOT NULL, text TEXT NOT NULL, at BIGINT NOT NULL,
	may_ask BIGINT NOT NULL -- whether GitHub has said that the author may, or has to be asked still
);
-- Pull requests with a marker, as webhooks and comments name them: an unknown prompt is done with one.
CREATE TABLE IF NOT EXISTS fleet_found (
	key TEXT NOT NULL, link TEXT NOT NULL, at BIGINT NOT NULL,
	PRIMARY KEY (key, link)
);
-- Merges and comments that are left out.
CREATE TABLE IF NOT EXISTS fleet_left_out (
	id TEXT PRIMARY KEY, at BIGINT NOT NULL,
	kind TEXT NOT NULL, -- merge or comment
	repository TEXT NOT NULL, sha TEXT NOT NULL, pull TEXT NOT NULL, author TEXT NOT NULL, reason TEXT NOT NULL
);
INSERT INTO fleet_schema (version) SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM fleet_schema) ON CONFLICT DO NOTHING;
