-- Times of fleet_prompts are Unix nanoseconds, all others Unix milliseconds. 0 is the zero time.
CREATE TABLE IF NOT EXISTS fleet_schema ( -- one row
	version BIGINT PRIMARY KEY, only_row BIGINT NOT NULL DEFAULT 1 UNIQUE,
	worked  BIGINT NOT NULL DEFAULT 0, -- when a worker was last there
	unstored TEXT NOT NULL DEFAULT '', -- why the last webhook could not be stored
	docs     TEXT NOT NULL DEFAULT ''  -- the repositories that serve leaves out, such as the documentation's
);
CREATE TABLE IF NOT EXISTS fleet_prompts (
	-- The record of package once.
	key       TEXT PRIMARY KEY,
	version   BIGINT NOT NULL,
	state     TEXT NOT NULL,
	project   TEXT NOT NULL,
	prompt    TEXT NOT NULL,
	after_key TEXT NOT NULL,
	thread    TEXT NOT NULL, -- of a message: the key of the prompt whose job gets it
	sends     BIGINT NOT NULL,
	sender    TEXT NOT NULL,
	deadline  BIGINT NOT NULL,
	job       TEXT NOT NULL,
	pr_link   TEXT NOT NULL,
	problem   TEXT NOT NULL,
	updated   BIGINT NOT NULL,
	added     BIGINT NOT NULL,
	told      TEXT NOT NULL, -- the state that was told last
	-- Fleet's own.
	repository TEXT NOT NULL DEFAULT '',    -- owner/repo of the key, else of the first pull request
	priority   BIGINT NOT NULL DEFAULT 2,   -- 1 is the most urgent
	queued     BIGINT NOT NULL DEFAULT 0,   -- when it was added, or came back from the service: the order of the queue
	not_before BIGINT NOT NULL DEFAULT 0,   -- of a message: no turn before, unless its thread changes
	retried    BIGINT NOT NULL DEFAULT 0,   -- 1: a person has it sent again, so the limit of a day does not hold it back
	tried      BIGINT NOT NULL DEFAULT 0,   -- when somebody last tried to tell its result
	refusal    TEXT NOT NULL DEFAULT '',    -- why GitHub refuses to be told
	looked     BIGINT NOT NULL DEFAULT 0,   -- when somebody last looked for what became of it
	forgotten  BIGINT NOT NULL DEFAULT 0,   -- when its texts were forgotten
	closed     TEXT NOT NULL DEFAULT '',    -- the state in which a person has closed it
	author     TEXT NOT NULL DEFAULT '',    -- the login of who wrote the comment, of a reviewer's
	turn       TEXT NOT NULL DEFAULT '',    -- the turn in which it was sent last
	river      BIGINT NOT NULL DEFAULT 0    -- the job of River's that follows it
);
-- The queries repeat the conditions of the indexes word by word: SQLite takes an index only then.
CREATE INDEX IF NOT EXISTS fleet_prompts_queue ON fleet_prompts (project, priority, queued, key)
	WHERE state = 'pending';
CREATE INDEX IF NOT EXISTS fleet_prompts_messages ON fleet_prompts (project, not_before)
	WHERE state = 'pending' AND thread <> '';
CREATE INDEX IF NOT EXISTS fleet_prompts_deadline ON fleet_prompts (project, deadline) WHERE deadline > 0;
CREATE INDEX IF NOT EXISTS fleet_prompts_day ON fleet_prompts (repository, deadline) WHERE deadline > 0;
CREATE INDEX IF NOT EXISTS fleet_prompts_state ON fleet_prompts (state, project);
CREATE INDEX IF NOT EXISTS fleet_prompts_updated ON fleet_prompts (updated);
CREATE INDEX IF NOT EXISTS fleet_prompts_kept ON fleet_prompts (updated) WHERE forgotten = 0;
CREATE INDEX IF NOT EXISTS fleet_prompts_untold ON fleet_prompts (updated) WHERE told <> state AND forgotten = 0
	AND state IN ('done', 'failed', 'refused', 'unknown', 'sending', 'running');
CREATE INDEX IF NOT EXISTS fleet_prompts_canceled ON fleet_prompts (key)
	WHERE state = 'canceled' AND thread <> '' AND told <> state;
CREATE INDEX IF NOT EXISTS fleet_prompts_repository ON fleet_prompts (repository, added);
CREATE INDEX IF NOT EXISTS fleet_prompts_link ON fleet_prompts (project, updated) WHERE pr_link <> '';
CREATE INDEX IF NOT EXISTS fleet_prompts_author ON fleet_prompts (author) WHERE author <> '';
CREATE INDEX IF NOT EXISTS fleet_prompts_thread ON fleet_prompts (thread) WHERE thread <> '';
-- The commits of a prompt: of a push with several, each.
CREATE TABLE IF NOT EXISTS fleet_commits (
	commit_key TEXT PRIMARY KEY, sha TEXT NOT NULL, key TEXT NOT NULL,
	joined BIGINT NOT NULL DEFAULT 0 -- 1: the prompt does not tell of it, so its pull request gets a prompt of its own
);
CREATE INDEX IF NOT EXISTS fleet_commits_sha ON fleet_commits (sha);
-- The logins of those who wrote the commits of a prompt: of a push there may be several.
CREATE TABLE IF NOT EXISTS fleet_authors (
	author TEXT NOT NULL, key TEXT NOT NULL,
	PRIMARY KEY (author, key)
);
CREATE INDEX IF NOT EXISTS fleet_authors_key ON fleet_authors (key);
-- The pull requests of a prompt, which get a comment with the result.
CREATE TABLE IF NOT EXISTS fleet_pulls (
	key TEXT NOT NULL, pull TEXT NOT NULL, -- owner/repo#7
	place BIGINT NOT NULL, -- as they were named
	PRIMARY KEY (key, pull)
);
CREATE INDEX IF NOT EXISTS fleet_pulls_pull ON fleet_pulls (pull);
-- The queue of a project, and under '' what all queues have in common. Its times are those of the database's clock.
CREATE TABLE IF NOT EXISTS fleet_projects (
	project TEXT PRIMARY KEY,
	river BIGINT NOT NULL DEFAULT 0, -- the job of River's that looks whether it may send
	-- A project has one turn at a time. Under '' it is the turn that tries, after a pause of all, whether the service
	-- works again.
	turn TEXT NOT NULL DEFAULT '', turn_until BIGINT NOT NULL DEFAULT 0,
	claimed BIGINT NOT NULL DEFAULT 0, -- 1: the prompt of the turn is being sent
	-- The pause that a failure, or the service itself, has asked for.
	paused_since BIGINT NOT NULL DEFAULT 0, paused_until BIGINT NOT NULL DEFAULT 0,
	asked   BIGINT NOT NULL DEFAULT 0, -- 1: it follows a question in vain, not a failed send
	began   BIGINT NOT NULL DEFAULT 0, -- the first failure in a row
	last    BIGINT NOT NULL DEFAULT 0, -- the latest
	strikes BIGINT NOT NULL DEFAULT 0, -- failed sends in a row; under '' failures of one project after the other, up to 3
	doubled BIGINT NOT NULL DEFAULT 0, -- under '': failed sends in a row after a pause of all
	failed  TEXT NOT NULL DEFAULT '',  -- under '': the project that failed last
	source  TEXT NOT NULL DEFAULT '',  -- service (429, or a key to mend) or breaker
	cause   TEXT NOT NULL DEFAULT '',  -- key, project, credits, quota or outage
	reason  TEXT NOT NULL DEFAULT '',
	tries   BIGINT NOT NULL DEFAULT 0, -- failures in a row
	alien   BIGINT NOT NULL DEFAULT 0, -- 1: something else than the service responds, such as a login page
	-- What a person has stopped.
	stopped BIGINT NOT NULL DEFAULT 0, stopped_by TEXT NOT NULL DEFAULT ''
);
INSERT INTO fleet_projects (project) VALUES ('') ON CONFLICT DO NOTHING;
-- What a person has said about a repository. Most is how many new jobs it may have a day, -1 if nobody has said; ''
-- is all that have no number of their own.
CREATE TABLE IF NOT EXISTS fleet_repositories (
	repository TEXT PRIMARY KEY, most BIGINT NOT NULL DEFAULT -1,
	stopped BIGINT NOT NULL DEFAULT 0, stopped_by TEXT NOT NULL DEFAULT ''
);
-- A version may have two lines.
CREATE TABLE IF NOT EXISTS fleet_history (
	id TEXT PRIMARY KEY, key TEXT NOT NULL, version BIGINT NOT NULL, at BIGINT NOT NULL,
	state TEXT NOT NULL, job TEXT NOT NULL, problem TEXT NOT NULL,
	who TEXT NOT NULL -- a machine, or NAME@HOST of a person's command
);
CREATE INDEX IF NOT EXISTS fleet_history_key ON fleet_history (key);
-- Comments of which it is not known yet whether they are for the job of a prompt.
CREATE TABLE IF NOT EXISTS fleet_comments (
	id BIGINT PRIMARY KEY, -- GitHub's
	key TEXT NOT NULL,     -- in the marker of the pull request's description
	pull TEXT NOT NULL,    -- owner/repo#7
	url TEXT NOT NULL,     -- of the pull request
	author TEXT NOT NULL, text TEXT NOT NULL, at BIGINT NOT NULL,
	may_ask BIGINT NOT NULL, -- 1: the author may ask; 0: GitHub has to say so still
	unasked TEXT NOT NULL DEFAULT '' -- why GitHub does not say so
);
-- Pull requests with a marker, as webhooks and comments name them: an unknown prompt is done with one.
CREATE TABLE IF NOT EXISTS fleet_found (
	key TEXT NOT NULL, link TEXT NOT NULL, at BIGINT NOT NULL,
	PRIMARY KEY (key, link)
);
CREATE INDEX IF NOT EXISTS fleet_found_at ON fleet_found (at);
-- Merges and comments that are left out.
CREATE TABLE IF NOT EXISTS fleet_left_out (
	id TEXT PRIMARY KEY, at BIGINT NOT NULL,
	kind TEXT NOT NULL, -- merge or comment
	repository TEXT NOT NULL, sha TEXT NOT NULL, pull TEXT NOT NULL, author TEXT NOT NULL, reason TEXT NOT NULL,
	comment BIGINT NOT NULL DEFAULT 0 -- GitHub's id
);
-- The newest event of each comment, for 7 days: they come in any order.
CREATE TABLE IF NOT EXISTS fleet_comment_events (
	id BIGINT PRIMARY KEY, updated BIGINT NOT NULL, deleted BIGINT NOT NULL, text TEXT NOT NULL, at BIGINT NOT NULL
);
CREATE INDEX IF NOT EXISTS fleet_comment_events_at ON fleet_comment_events (at);
-- Webhooks that were refused, by day and by the repository that their bodies name, which nothing proves.
CREATE TABLE IF NOT EXISTS fleet_refused (
	day BIGINT NOT NULL, repository TEXT NOT NULL, status BIGINT NOT NULL, n BIGINT NOT NULL,
	PRIMARY KEY (day, repository, status)
);
CREATE INDEX IF NOT EXISTS fleet_left_out_at ON fleet_left_out (at);
INSERT INTO fleet_schema (version) SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM fleet_schema) ON CONFLICT DO NOTHING;
