-- DATE_OF and TIME_OF become casts on Postgres. SQLite has no such types: there the text stays.
CREATE VIEW docs_days AS SELECT project, DATE_OF(date_from) AS date_from, DATE_OF(date_to) AS date_to, human, ai, total, rows_kept AS pages, fetched_at FROM docs_exports WHERE kind = 'visitors' AND complete AND span = 'day';
CREATE VIEW docs_weeks AS SELECT project, DATE_OF(date_from) AS date_from, DATE_OF(date_to) AS date_to, human, ai, total, rows_kept AS pages, fetched_at FROM docs_exports WHERE kind = 'visitors' AND complete AND span = 'week';
CREATE VIEW docs_months AS SELECT project, DATE_OF(date_from) AS date_from, DATE_OF(date_to) AS date_to, human, ai, total, rows_kept AS pages, fetched_at FROM docs_exports WHERE kind = 'visitors' AND complete AND span = 'month';
CREATE VIEW docs_pages AS SELECT e.project, e.span, DATE_OF(e.date_from) AS date_from, DATE_OF(e.date_to) AS date_to, v.path, MAX(v.human) AS human, MAX(v.ai) AS ai, MAX(v.total) AS total
	FROM docs_exports e JOIN docs_visitors v ON v.export = e.id WHERE e.kind = 'visitors' AND e.complete
	GROUP BY e.project, e.span, e.date_from, e.date_to, v.path;
CREATE VIEW docs_lists AS SELECT e.project, e.span, DATE_OF(e.date_from) AS date_from, DATE_OF(e.date_to) AS date_to, e.kind, r.position, r.data
	FROM docs_exports e JOIN docs_rows r ON r.export = e.id WHERE e.complete;
CREATE VIEW docs_searches AS SELECT e.project, e.span, DATE_OF(e.date_from) AS date_from, DATE_OF(e.date_to) AS date_to, r.position,
	r.data ->> 'searchQuery' AS term,
	CAST(r.data ->> 'hits' AS BIGINT) AS hits,
	CAST(r.data ->> 'ctr' AS DOUBLE PRECISION) AS ctr,
	r.data ->> 'topClickedPage' AS top_clicked_page,
	TIME_OF(r.data ->> 'lastSearchedAt') AS last_searched_at
	FROM docs_exports e JOIN docs_rows r ON r.export = e.id WHERE e.complete AND e.kind = 'searches';
CREATE VIEW docs_feedback AS SELECT e.project, e.span, DATE_OF(e.date_from) AS date_from, DATE_OF(e.date_to) AS date_to, r.position,
	r.data ->> 'id' AS id,
	r.data ->> 'path' AS path,
	CAST(r.data ->> 'helpful' AS BOOLEAN) AS helpful,
	r.data ->> 'source' AS source,
	r.data ->> 'status' AS status,
	TIME_OF(r.data ->> 'createdAt') AS created_at,
	r.data ->> 'comment' AS comment,
	r.data ->> 'contact' AS contact,
	r.data ->> 'code' AS code,
	r.data ->> 'filename' AS filename,
	r.data ->> 'lang' AS lang
	FROM docs_exports e JOIN docs_rows r ON r.export = e.id WHERE e.complete AND e.kind = 'feedback';
CREATE VIEW docs_questions AS SELECT e.project, e.span, DATE_OF(e.date_from) AS date_from, DATE_OF(e.date_to) AS date_to, r.position,
	r.data ->> 'id' AS id,
	TIME_OF(r.data ->> 'timestamp') AS asked_at,
	r.data ->> 'query' AS question,
	r.data ->> 'response' AS response,
	r.data ->> 'responseType' AS response_type,
	r.data ->> 'resolutionStatus' AS resolution,
	r.data ->> 'queryCategory' AS category,
	r.data ->> 'pageUrl' AS page_url,
	r.data -> 'sources' AS sources
	FROM docs_exports e JOIN docs_rows r ON r.export = e.id WHERE e.complete AND e.kind = 'conversations'
