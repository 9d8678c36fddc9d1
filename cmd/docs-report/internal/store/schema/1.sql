-- Times are milliseconds since 1970, dates are YYYY-MM-DD.
CREATE TABLE docs_service (
	version       BIGINT NOT NULL, -- of this schema
	source        TEXT NOT NULL,   -- a base URL, or the demo
	blocked_until BIGINT NOT NULL -- no request is sent before
);
CREATE TABLE docs_requests (
	sent_at BIGINT NOT NULL
);
CREATE TABLE docs_sizes (
	project TEXT PRIMARY KEY,
	pages   BIGINT NOT NULL -- the maximum that probing has found
);
-- An export has the visitors or a list of a window. A window can have one export that is complete,
-- and one in progress that will replace it.
CREATE TABLE docs_exports (
	id          BIGINT PRIMARY KEY,
	project     TEXT NOT NULL,
	date_from   TEXT NOT NULL,
	date_to     TEXT NOT NULL, -- exclusive
	span        TEXT NOT NULL, -- day, week, month, or a number of weeks
	kind        TEXT NOT NULL,
	complete    BOOLEAN NOT NULL DEFAULT FALSE,
	fetched_at  BIGINT NOT NULL, -- when its first page was asked for
	rows_kept   BIGINT NOT NULL DEFAULT 0,
	human       BIGINT NOT NULL DEFAULT 0,
	ai          BIGINT NOT NULL DEFAULT 0,
	total       BIGINT NOT NULL DEFAULT 0,  -- as the service counts, 0 if it does not
	truncated   BOOLEAN NOT NULL DEFAULT FALSE, -- the service has more rows
	texts       BOOLEAN NOT NULL DEFAULT FALSE, -- what readers wrote is kept
	problem     TEXT NOT NULL DEFAULT '',   -- why there are no rows, or why the last run could not go on
	next_offset BIGINT NOT NULL DEFAULT 0,
	cursor_at   TEXT NOT NULL DEFAULT '',
	holder      TEXT NOT NULL,   -- the run that loads it: host, process, a random name
	held_until  BIGINT NOT NULL,
	UNIQUE (project, date_from, date_to, kind, complete)
);
-- Rows are kept as received, by their position: the service may report a path twice.
CREATE TABLE docs_visitors (
	export   BIGINT,
	position BIGINT,
	path     TEXT NOT NULL,
	human    BIGINT NOT NULL,
	ai       BIGINT NOT NULL,
	total    BIGINT NOT NULL,
	PRIMARY KEY (export, position)
);
CREATE TABLE docs_rows (
	export   BIGINT,
	position BIGINT,
	data     JSON NOT NULL, -- under the service's own field names
	PRIMARY KEY (export, position)
)
