package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/recording"
	"github.com/mintlify-community/mintlify-go/internal/test/operations"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// A service that is the fake but for one thing differs in that thing alone.
func TestTheJudgeNamesWhatDiffers(t *testing.T) {
	fake := recordFake(t)
	assert.Empty(t, judge(t, fake, fake))

	for sentence, service := range map[string]deviation{
		"get feedback: .feedback[].mood is not in the document": {path: "/feedback", alter: func(page map[string]any) {
			rowOf(page, "feedback")["mood"] = "x"
		}},
		"get feedback: .feedback[](contextual).contact is a number, the fake's never": {path: "/feedback",
			alter: func(page map[string]any) { rowOf(page, "feedback")["contact"] = 7 }},
		"get feedback: .feedback comes oldest first, the fake's newest first": {path: "/feedback",
			alter: func(page map[string]any) { slices.Reverse(page["feedback"].([]any)) }},
		"get conversations: .conversations[].query breaks the rule \"required\" of the document": {path: "/assistant",
			alter: func(page map[string]any) { delete(rowOf(page, "conversations"), "query") }},
		"get views: a page with fewer rows than its limit says that there are more": {path: "/views",
			alter: func(page map[string]any) { page["hasMore"] = true }},
		"get conversations: hasMore is true, and nextCursor says something else": {path: "/assistant",
			query: "limit=2", alter: func(page map[string]any) { page["nextCursor"] = nil }},
		"get conversations: a page by cursor has rows of the page before":         {path: "/assistant", drop: "cursor"},
		"get visitors: a page by offset is not what follows that many rows":       {path: "/visitors", drop: "offset"},
		"get visitors: a page past the end has rows, or says that there are more": {path: "/visitors", drop: "offset"},
		"get visitors: a page has more rows than its limit":                       {path: "/visitors", drop: "limit"},
		"get feedback: the rows of a bare day are of several days in UTC":         {path: "/feedback", drop: "dateTo"},
		"feedback counts: the status is 403, the fake's 200":                      {path: "/by-page", status: 403},
	} {
		service.fake = newRecordedFake()
		file := record(t, service, 0)
		file.Exchanges = slices.DeleteFunc(file.Exchanges, func(e recording.Exchange) bool {
			return !strings.HasSuffix(e.Path, service.path)
		})
		assert.Contains(t, judge(t, file, fake), sentence)
	}
}

func TestTheJudgeNamesWhatDoesNotArrive(t *testing.T) {
	sent := map[string]any{
		"rows": []any{map[string]any{"at": "2031-04-30 13:02:11+00:00", "n": json.Number("41.5"), "no": nil, "new": 1}},
	}
	documented := []string{".rows", ".rows[].at", ".rows[].n", ".rows[].no"}
	wrong := func(at string, n float64, rows int) []string {
		row := map[string]any{"at": at, "n": n}
		return missing(documented, operations.Operation{Name: "op"}, "", sent, map[string]any{"rows": []any{row}[:rows]})
	}
	assert.Empty(t, wrong("2031-04-30T13:02:11Z", 42, 1), "a count is rounded, and null is absent")
	assert.Empty(t, wrong("2031-04-30T13:02:11Z", 41.5, 1))
	assert.Equal(t, []string{"op: .rows[].at does not arrive"}, wrong("2031-04-30T13:02:12Z", 42, 1))
	assert.Equal(t, []string{"op: .rows[].n does not arrive"}, wrong("2031-04-30T13:02:11Z", 41, 1))
	assert.Equal(t, []string{"op: of .rows 0 rows arrive, not 1"}, wrong("", 0, 0))
}

// deviation is the fake, but for the responses to one path.
type deviation struct {
	fake   *mintlifytest.Service
	path   string
	query  string                    // of the requests that it is about
	drop   string                    // a parameter that the service does not heed
	status int                       // of the response
	alter  func(body map[string]any) // changes a body
}

// RoundTrip implements [http.RoundTripper].
func (d deviation) RoundTrip(r *http.Request) (*http.Response, error) {
	isMeant := strings.HasSuffix(r.URL.Path, d.path) && strings.Contains(r.URL.RawQuery, d.query)
	if isMeant && d.drop != "" {
		r = r.Clone(r.Context())
		query := r.URL.Query()
		query.Del(d.drop)
		r.URL.RawQuery = query.Encode()
	}

	resp, err := d.fake.RoundTrip(r)
	if err != nil || !isMeant {
		return resp, err
	}
	if d.status != 0 {
		resp.StatusCode = d.status
	}
	var body map[string]any
	if resp.StatusCode == 200 && d.alter != nil && json.NewDecoder(resp.Body).Decode(&body) == nil {
		d.alter(body)
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		resp.Body = io.NopCloser(bytes.NewReader(text))
		resp.ContentLength = int64(len(text))
	}
	return resp, nil
}

// rowOf returns the first row of a page.
func rowOf(page map[string]any, name string) map[string]any {
	rows, _ := page[name].([]any)
	if len(rows) == 0 {
		return map[string]any{}
	}
	row, _ := rows[0].(map[string]any)
	return row
}

func visitorsByPath(n int) []mintlify.Visitor {
	rows := visitors(n)
	for i := range rows {
		rows[i].Path = fmt.Sprint("/", i)
	}
	return rows
}

func TestTheListOfFieldsIsTheDocuments(t *testing.T) {
	var names []string
	for _, op := range operations.All() {
		for _, path := range documentedFields(t, op) {
			names = append(names, path[strings.LastIndex(path, ".")+1:])
		}
	}
	slices.Sort(names)
	require.NotEmpty(t, names)
	assert.Equal(t, slices.Compact(names), slices.Sorted(slices.Values(strings.Fields(recording.Fields))))
}
