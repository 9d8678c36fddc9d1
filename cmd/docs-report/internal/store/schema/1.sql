-- Times are milliseconds since 1970, dates are YYYY-MM-DD.
CREATE TABLE docs_service (
	version       BIGINT NOT NULL, -- of this schema
	source        TEXT NOT NULL,   -- a base URL, or the demo
	salt          TEXT NOT NULL,   -- of the hashes of search terms that are forgotten
	blocked_until BIGINT NOT NULL DEFAULT 0, -- no request is sent before
	holder        TEXT NOT NULL DEFAULT '',  -- the sync that loads into this database: host, process, a random name
	held_until    BIGINT NOT NULL DEFAULT 0
);
CREATE TABLE docs_requests (
	sent_at BIGINT NOT NULL
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
	expired     BOOLEAN NOT NULL DEFAULT FALSE, -- its rows were deleted for their age; they are not loaded again
	fetched_at  BIGINT NOT NULL, -- when its first page was asked for
	failed_at   BIGINT NOT NULL DEFAULT 0, -- when the last run could not go on
	rows_kept   BIGINT NOT NULL DEFAULT 0,
	human       BIGINT NOT NULL DEFAULT 0,
	ai          BIGINT NOT NULL DEFAULT 0,
	total       BIGINT NOT NULL DEFAULT 0,  -- as the service counts, 0 if it does not
	truncated   BOOLEAN NOT NULL DEFAULT FALSE, -- the service has more rows
	texts       BOOLEAN NOT NULL DEFAULT FALSE, -- what readers wrote is kept
	problem     TEXT NOT NULL DEFAULT '',   -- why there are no rows, or why the last run could not go on
	next_offset BIGINT NOT NULL DEFAULT 0,
	cursor_at   TEXT NOT NULL DEFAULT '',
	-- The service may cap its pages, so offsets do not tell how many are loaded.
	pages_loaded BIGINT NOT NULL DEFAULT 0,
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
);
-- What readers asked us to forget. sync leaves it out when the service reports it again.
CREATE TABLE docs_forgotten (
	project TEXT NOT NULL, -- '': all
	kind    TEXT NOT NULL,
	id      TEXT NOT NULL, -- of a search term, a salted hash
	PRIMARY KEY (project, kind, id)
);
-- How the last sync of a project ended.
CREATE TABLE docs_syncs (
	project  TEXT PRIMARY KEY,
	ended_at BIGINT NOT NULL,
	missing  BIGINT NOT NULL, -- requests that would load what its flags ask for
	problem  TEXT NOT NULL, -- '': none
	lists    TEXT NOT NULL -- JSON: those that could not be loaded, and in how many syncs in a row
);
-- Pages that were found under new names.
CREATE TABLE docs_moved (
	project   TEXT NOT NULL,
	path_from TEXT NOT NULL,
	path_to   TEXT NOT NULL,
	moved_on  TEXT NOT NULL,
	PRIMARY KEY (project, path_from)
);
-- On Postgres, DATE and TIMESTAMPTZ are casts. SQLite has no such types: there the text stays.
CREATE VIEW docs_days AS SELECT project, DATE(date_from) AS date_from, DATE(date_to) AS date_to, human, ai, total, rows_kept AS pages, fetched_at FROM docs_exports WHERE kind = 'visitors' AND complete AND span = 'day';
CREATE VIEW docs_weeks AS SELECT project, DATE(date_from) AS date_from, DATE(date_to) AS date_to, human, ai, total, rows_kept AS pages, fetched_at FROM docs_exports WHERE kind = 'visitors' AND complete AND span = 'week';
CREATE VIEW docs_months AS SELECT project, DATE(date_from) AS date_from, DATE(date_to) AS date_to, human, ai, total, rows_kept AS pages, fetched_at FROM docs_exports WHERE kind = 'visitors' AND complete AND span = 'month';
CREATE VIEW docs_pages AS SELECT e.project, e.span, DATE(e.date_from) AS date_from, DATE(e.date_to) AS date_to, v.path, MAX(v.human) AS human, MAX(v.ai) AS ai, MAX(v.total) AS total
	FROM docs_exports e JOIN docs_visitors v ON v.export = e.id WHERE e.kind = 'visitors' AND e.complete
	GROUP BY e.project, e.span, e.date_from, e.date_to, v.path;
CREATE VIEW docs_lists AS SELECT e.project, e.span, DATE(e.date_from) AS date_from, DATE(e.date_to) AS date_to, e.kind, r.position, r.data
	FROM docs_exports e JOIN docs_rows r ON r.export = e.id WHERE e.complete;
CREATE VIEW docs_searches AS SELECT e.project, e.span, DATE(e.date_from) AS date_from, DATE(e.date_to) AS date_to, r.position,
	r.data ->> 'searchQuery' AS term,
	CAST(r.data ->> 'hits' AS BIGINT) AS hits,
	CAST(r.data ->> 'ctr' AS DOUBLE PRECISION) AS ctr,
	r.data ->> 'topClickedPage' AS top_clicked_page,
	TIMESTAMPTZ(r.data ->> 'lastSearchedAt') AS last_searched_at
	FROM docs_exports e JOIN docs_rows r ON r.export = e.id WHERE e.complete AND e.kind = 'searches';
CREATE VIEW docs_feedback AS SELECT e.project, e.span, DATE(e.date_from) AS date_from, DATE(e.date_to) AS date_to, r.position,
	r.data ->> 'id' AS id,
	r.data ->> 'path' AS path,
	CAST(r.data ->> 'helpful' AS BOOLEAN) AS helpful,
	r.data ->> 'source' AS source,
	r.data ->> 'status' AS status,
	TIMESTAMPTZ(r.data ->> 'createdAt') AS created_at,
	r.data ->> 'comment' AS comment,
	r.data ->> 'contact' AS contact,
	r.data ->> 'code' AS code,
	r.data ->> 'filename' AS filename,
	r.data ->> 'lang' AS lang
	FROM docs_exports e JOIN docs_rows r ON r.export = e.id WHERE e.complete AND e.kind = 'feedback';
CREATE VIEW docs_questions AS SELECT e.project, e.span, DATE(e.date_from) AS date_from, DATE(e.date_to) AS date_to, r.position,
	r.data ->> 'id' AS id,
	TIMESTAMPTZ(r.data ->> 'timestamp') AS asked_at,
	r.data ->> 'query' AS question,
	r.data ->> 'response' AS response,
	r.data ->> 'responseType' AS response_type,
	r.data ->> 'resolutionStatus' AS resolution,
	r.data ->> 'queryCategory' AS category,
	r.data ->> 'pageUrl' AS page_url,
	r.data -> 'sources' AS sources
	FROM docs_exports e JOIN docs_rows r ON r.export = e.id WHERE e.complete AND e.kind = 'conversations'
