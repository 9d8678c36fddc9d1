package test

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/kit"
)

// What others recorded of the service is read whole, by each call and iterator, in pages of any size
// but one: recorded rows can be equal to the last character.
func TestRecordedListsAreReadWhole(t *testing.T) {
	for _, tc := range []struct {
		file, list string
		read       func(*mintlify.Client, int) map[string]iter.Seq2[any, error]
	}{
		{"conversations-page.json", "conversations", readConversations},
		{"conversations-undocumented-field.json", "conversations", readConversations},
		{"feedback-page.json", "feedback", readFeedback},
		{"searches-cursor-is-url.json", "searches", readSearches},
	} {
		for _, pageSize := range []int{0, 2, 5} {
			recorded := newRecordedList(t, tc.file, tc.list)
			for name, rows := range tc.read(kit.NewClient(t, recorded), pageSize) {
				read, err := mintlify.Collect(rows)
				require.NoError(t, err, "%s, %s", tc.file, name)
				require.Len(t, read, len(recorded.rows), "%s, %s in pages of %d", tc.file, name, pageSize)
				for i, row := range read {
					requireSame(t, recorded.rows[i], row)
				}
			}
		}
	}
}

func TestRecordedDeployments(t *testing.T) {
	preview := kit.NewClient(t, kit.RespondWith(202, recording(t, "preview-accepted.json")))
	queued, err := preview.Deployments.TriggerPreview(t.Context(), mintlify.TriggerPreviewParams{Branch: "docs-update"})
	require.NoError(t, err)
	assert.Equal(t, "68d0000000000000000000ac", queued.ID)
	assert.Equal(t, "https://acme-docs-update.mintlify.site", queued.PreviewURL)

	failure := recording(t, "deployment-failure-but-live.json")
	var want map[string]any
	require.NoError(t, json.Unmarshal([]byte(failure), &want))
	client := kit.NewClient(t, kit.RespondWith(200, failure))

	got, err := client.Deployments.Get(t.Context(), "68d0000000000000000000ab")
	require.NoError(t, err)
	requireSame(t, want, got)
	got, err = client.Deployments.WaitUntilDone(t.Context(), "68d0000000000000000000ab")
	require.ErrorIs(t, err, mintlify.ErrDeploymentFailed)
	requireSame(t, want, got)
}

func recording(t *testing.T, file string) string {
	t.Helper()
	return readFiles(t, "internal/test/testdata/"+file)
}

// requireSame requires that a value that was read has what was recorded, in each field that a document
// has.
func requireSame(t *testing.T, recorded map[string]any, read any) {
	t.Helper()
	encoded, err := json.Marshal(read)
	require.NoError(t, err)
	var got map[string]any
	require.NoError(t, json.Unmarshal(encoded, &got))
	require.Equal(t, withoutEmpty(recorded), withoutEmpty(got))
}

// withoutEmpty returns value without the fields that are null, "" or an empty list or object, which the
// SDK leaves out of some types, and without a field that no document has. Times are times.
func withoutEmpty(value any) any {
	switch value := value.(type) {
	case string:
		if at, err := time.Parse(time.RFC3339, value); err == nil {
			return at
		}
	case map[string]any:
		kept := map[string]any{}
		for name, field := range value {
			field = withoutEmpty(field)
			isUndocumented := name == "searches"
			if !isEmpty(field) && !isUndocumented {
				kept[name] = field
			}
		}
		return kept
	}
	return value
}

func isEmpty(value any) bool {
	switch value := value.(type) {
	case string:
		return value == ""
	case []any:
		return len(value) == 0
	case map[string]any:
		return len(value) == 0
	}
	return value == nil
}

// recordedList serves the rows of a recorded page, by limit and cursor. A cursor is the recorded one,
// with the number of rows before its page.
type recordedList struct {
	list   string
	page   map[string]any
	rows   []map[string]any
	cursor string
}

func newRecordedList(t *testing.T, file, list string) recordedList {
	t.Helper()
	r := recordedList{list: list}
	require.NoError(t, json.Unmarshal([]byte(recording(t, file)), &r.page))
	for _, row := range r.page[list].([]any) {
		r.rows = append(r.rows, row.(map[string]any))
	}
	r.cursor, _ = r.page["nextCursor"].(string)
	return r
}

func (r recordedList) RoundTrip(req *http.Request) (*http.Response, error) {
	query := req.URL.Query()
	limit, _ := strconv.Atoi(cmp.Or(query.Get("limit"), "50"))
	start, _ := strconv.Atoi(strings.TrimPrefix(query.Get("cursor"), r.cursor))
	end := min(start+limit, len(r.rows))
	hasMore := end < len(r.rows)

	page := maps.Clone(r.page)
	page[r.list] = r.rows[start:end]
	page["nextCursor"] = nil
	if hasMore {
		page["nextCursor"] = r.cursor + strconv.Itoa(end)
	}
	if page["hasMore"] != nil {
		page["hasMore"] = hasMore
	}

	body, err := json.Marshal(page)
	return kit.Response(http.StatusOK, string(body)), err
}

func readConversations(c *mintlify.Client, pageSize int) map[string]iter.Seq2[any, error] {
	params := mintlify.ConversationsParams{PageSize: pageSize}
	rowsOf := func(p *mintlify.ConversationPage) []mintlify.Conversation { return p.Conversations }
	get := func(cursor string) (*mintlify.ConversationPage, string, error) {
		params.Cursor = cursor
		page, err := c.Analytics.GetConversationPage(context.Background(), params)
		if err != nil {
			return nil, "", err
		}
		return page, page.NextCursor, nil
	}

	ctx := context.Background()
	return map[string]iter.Seq2[any, error]{
		"calls": inCalls(get, rowsOf),
		"pages": inPages(c.Analytics.ConversationPages(ctx, params), rowsOf),
		"rows":  asAny(c.Analytics.Conversations(ctx, params, mintlify.WithPrefetch(2))),
	}
}

func readFeedback(c *mintlify.Client, pageSize int) map[string]iter.Seq2[any, error] {
	params := mintlify.FeedbackParams{PageSize: pageSize}
	rowsOf := func(p *mintlify.FeedbackPage) []mintlify.Feedback { return p.Feedback }
	get := func(cursor string) (*mintlify.FeedbackPage, string, error) {
		params.Cursor = cursor
		page, err := c.Analytics.GetFeedbackPage(context.Background(), params)
		if err != nil {
			return nil, "", err
		}
		return page, page.NextCursor, nil
	}

	ctx := context.Background()
	return map[string]iter.Seq2[any, error]{
		"calls": inCalls(get, rowsOf),
		"pages": inPages(c.Analytics.FeedbackPages(ctx, params), rowsOf),
		"rows":  asAny(c.Analytics.Feedback(ctx, params, mintlify.WithPrefetch(2))),
	}
}

func readSearches(c *mintlify.Client, pageSize int) map[string]iter.Seq2[any, error] {
	params := mintlify.SearchesParams{PageSize: pageSize}
	rowsOf := func(p *mintlify.SearchPage) []mintlify.SearchTerm { return p.Searches }
	get := func(cursor string) (*mintlify.SearchPage, string, error) {
		params.Cursor = cursor
		page, err := c.Analytics.GetSearchPage(context.Background(), params)
		if err != nil {
			return nil, "", err
		}
		return page, page.NextCursor, nil
	}

	ctx := context.Background()
	return map[string]iter.Seq2[any, error]{
		"calls": inCalls(get, rowsOf),
		"pages": inPages(c.Analytics.SearchPages(ctx, params), rowsOf),
		"rows":  asAny(c.Analytics.Searches(ctx, params, mintlify.WithPrefetch(2))),
	}
}

// inCalls ranges over the rows of a loop that gets page after page.
func inCalls[P, R any](get func(cursor string) (P, string, error), rowsOf func(P) []R) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		cursor := ""
		for {
			page, next, err := get(cursor)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, row := range rowsOf(page) {
				if !yield(row, nil) {
					return
				}
			}
			if next == "" {
				return
			}
			cursor = next
		}
	}
}

func inPages[P, R any](pages iter.Seq2[P, error], rowsOf func(P) []R) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		for page, err := range pages {
			if err != nil {
				yield(nil, err)
				return
			}
			for _, row := range rowsOf(page) {
				if !yield(row, nil) {
					return
				}
			}
		}
	}
}

func asAny[R any](rows iter.Seq2[R, error]) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		for row, err := range rows {
			if !yield(row, err) {
				return
			}
		}
	}
}
