-- A database of version 2 as it was made then. It does not change any more.
CREATE TABLE docs_service (
	version       BIGINT NOT NULL,
	source        TEXT NOT NULL,
	blocked_until BIGINT NOT NULL
);
CREATE TABLE docs_requests (
	sent_at BIGINT NOT NULL
);
CREATE TABLE docs_sizes (
	project TEXT PRIMARY KEY,
	pages   BIGINT NOT NULL
);
CREATE TABLE docs_exports (
	id          BIGINT PRIMARY KEY,
	project     TEXT NOT NULL,
	date_from   TEXT NOT NULL,
	date_to     TEXT NOT NULL,
	span        TEXT NOT NULL,
	kind        TEXT NOT NULL,
	complete    BOOLEAN NOT NULL DEFAULT FALSE,
	fetched_at  BIGINT NOT NULL,
	rows_kept   BIGINT NOT NULL DEFAULT 0,
	human       BIGINT NOT NULL DEFAULT 0,
	ai          BIGINT NOT NULL DEFAULT 0,
	total       BIGINT NOT NULL DEFAULT 0,
	truncated   BOOLEAN NOT NULL DEFAULT FALSE,
	texts       BOOLEAN NOT NULL DEFAULT FALSE,
	problem     TEXT NOT NULL DEFAULT '',
	next_offset BIGINT NOT NULL DEFAULT 0,
	cursor_at   TEXT NOT NULL DEFAULT '',
	holder      TEXT NOT NULL,
	held_until  BIGINT NOT NULL,
	UNIQUE (project, date_from, date_to, kind, complete)
);
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
	data     JSON NOT NULL,
	PRIMARY KEY (export, position)
);
CREATE VIEW docs_days AS SELECT project, date_from, date_to, human, ai, total, rows_kept AS pages, fetched_at FROM docs_exports WHERE kind = 'visitors' AND complete AND span = 'day';
CREATE VIEW docs_weeks AS SELECT project, date_from, date_to, human, ai, total, rows_kept AS pages, fetched_at FROM docs_exports WHERE kind = 'visitors' AND complete AND span = 'week';
CREATE VIEW docs_months AS SELECT project, date_from, date_to, human, ai, total, rows_kept AS pages, fetched_at FROM docs_exports WHERE kind = 'visitors' AND complete AND span = 'month';
CREATE VIEW docs_pages AS SELECT e.project, e.span, e.date_from, e.date_to, v.path, MAX(v.human) AS human, MAX(v.ai) AS ai, MAX(v.total) AS total
	FROM docs_exports e JOIN docs_visitors v ON v.export = e.id WHERE e.kind = 'visitors' AND e.complete
	GROUP BY e.project, e.span, e.date_from, e.date_to, v.path;
CREATE VIEW docs_lists AS SELECT e.project, e.span, e.date_from, e.date_to, e.kind, r.position, r.data
	FROM docs_exports e JOIN docs_rows r ON r.export = e.id WHERE e.complete;
ALTER TABLE docs_exports ADD COLUMN expired BOOLEAN NOT NULL DEFAULT FALSE;
CREATE TABLE docs_forgotten (
	project TEXT NOT NULL,
	kind    TEXT NOT NULL,
	id      TEXT NOT NULL,
	PRIMARY KEY (project, kind, id)
);
INSERT INTO docs_service (version, source, blocked_until) VALUES (2, 'a test', 0);
INSERT INTO docs_requests VALUES (1772409600000);
INSERT INTO docs_sizes VALUES ('docs', 1);
INSERT INTO docs_exports
	(id, project, date_from, date_to, span, kind, complete, fetched_at, rows_kept, human, ai, total, texts, holder, held_until)
	VALUES (1, 'docs', '2026-03-01', '2026-03-02', 'day', 'visitors', TRUE, 1772496000000, 1, 2, 1, 3, FALSE, 'host 1 a', 0);
INSERT INTO docs_exports
	(id, project, date_from, date_to, span, kind, complete, fetched_at, rows_kept, texts, holder, held_until)
	VALUES (2, 'docs', '2026-03-01', '2026-03-02', 'day', 'conversations', TRUE, 1772496000000, 1, TRUE, 'host 1 a', 0);
INSERT INTO docs_visitors VALUES (1, 0, '/a', 2, 1, 3);
INSERT INTO docs_rows VALUES (2, 0, '{"id":"c","timestamp":"2026-03-01T02:03:04Z","query":"q","queryCategory":"Billing"}');
INSERT INTO docs_forgotten VALUES ('', 'feedback', 'f')
