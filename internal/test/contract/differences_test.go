package contract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/recording"
	"github.com/mintlify-community/mintlify-go/internal/test/operations"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// documentedFields returns the paths of the fields that the document has of an operation, its errors included.
func documentedFields(t *testing.T, op operations.Operation) []string {
	t.Helper()
	paths := []string{".error", ".details", ".details[].message"}
	doc, err := closedDocument()
	require.NoError(t, err)
	for _, field := range successFields(doc.Paths.Find(op.Path).GetOperation(op.Method)) {
		paths = append(paths, "."+field)
	}
	return paths
}

// findings returns what a schema does not allow in a value.
func findings(op operations.Operation, schema *openapi3.Schema, value any) []string {
	text, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(text, &value) // the validator knows no json.Number
	}
	if err == nil {
		err = schema.VisitJSON(value, openapi3.MultiErrors(), openapi3.VisitAsResponse(), Formats())
	}
	return sentences(op, err)
}

func sentences(op operations.Operation, err error) []string {
	var all []string
	switch err := err.(type) {
	case nil:
	case openapi3.MultiError:
		for _, e := range err {
			all = append(all, sentences(op, e)...)
		}
	case *openapi3.SchemaError:
		at := pathOf(err.JSONPointer())
		if err.SchemaField != "properties" {
			return []string{fmt.Sprintf("%s: %s breaks the rule %q of the document", op, at, err.SchemaField)}
		}
		object, _ := err.Value.(map[string]any)
		for name := range object {
			if err.Schema.Properties[name] == nil {
				all = append(all, fmt.Sprintf("%s: %s.%s is not in the document", op, at, name))
			}
		}
	default:
		all = append(all, fmt.Sprintf("%s: %v", op, err))
	}
	return all
}

// pathOf returns the path of a JSON pointer, with [] for each index.
func pathOf(pointer []string) string {
	path := ""
	for _, name := range pointer {
		if name != "" && strings.Trim(name, "0123456789") == "" {
			path += "[]"
		} else {
			path += "." + name
		}
	}
	return path
}

// differences returns what the fake does otherwise than was recorded. Recordings are few, so the fake may
// send what they do not have; but it may not leave out what they always have, or the other way round.
func differences(documented []string, op operations.Operation, recorded, fake []any) []string {
	var all []string
	want := factsOf(recorded)
	got := factsOf(fake)

	for at, kinds := range want.kinds {
		if !slices.Contains(documented, group.ReplaceAllString(at, "")) {
			continue // againstDocument reports it
		}

		fakes := got.kinds[at]
		for kind := range kinds {
			if kind != absent && !fakes[kind] {
				all = append(all, fmt.Sprintf("%s: %s is %s, the fake's never", op, at, kind))
			}
		}
		isAlwaysThere := !kinds[absent] && want.objects[parent(at)] >= 3 // fewer are too few
		if isAlwaysThere && fakes[absent] {
			all = append(all, fmt.Sprintf("%s: %s is always there, the fake leaves it out", op, at))
		}
		isNeverThere := kinds[absent] && len(kinds) == 1
		if isNeverThere && len(fakes) > 0 && !fakes[absent] {
			all = append(all, fmt.Sprintf("%s: %s is left out, the fake always sends it", op, at))
		}
	}
	return append(all, orders(op, recorded, fake)...)
}

// group is what tells objects of one path apart.
var group = regexp.MustCompile(`\([^)]*\)`)

// parent returns the path of the object that has a field.
func parent(at string) string { return at[:max(0, strings.LastIndex(at, "."))] }

// orders returns the lists that are sorted by time, and the fake's are not.
func orders(op operations.Operation, recorded, fake []any) []string {
	var all []string
	for _, shape := range recorded {
		body, _ := shape.(map[string]any)
		for name := range body {
			want := directionOf(body[name])
			for _, other := range fake {
				object, _ := other.(map[string]any)
				got := directionOf(object[name])
				if want != "" && got != "" && want != "mixed" && got != want {
					all = append(all, fmt.Sprintf("%s: .%s comes %s, the fake's %s", op, name, want, got))
				}
			}
		}
	}
	return all
}

// directionOf says in which order the rows of a list are by their time; "" if that cannot be told.
func directionOf(shape any) string {
	list, _ := listOf(shape)
	var places []int
	for _, column := range []string{"createdAt", "timestamp"} {
		for _, numbered := range strings.Fields(list.Order[column]) {
			_, place, _ := strings.Cut(numbered, ".")
			places = append(places, number(place))
		}
	}

	backwards := slices.Clone(places)
	slices.Reverse(backwards)
	different := slices.Compact(slices.Sorted(slices.Values(places)))
	switch {
	case len(different) < 2:
		return ""
	case slices.IsSorted(places):
		return "oldest first"
	case slices.IsSorted(backwards):
		return "newest first"
	}
	return "mixed"
}

// againstSDK returns what of an invented response of the recorded shape does not arrive.
func againstSDK(t *testing.T, op operations.Operation, e recording.Exchange) []string {
	t.Helper()
	sent, body := bodyOf(t, e)
	header := http.Header{"Content-Type": {mediaType(e)}}
	client := clientOf(t, roundTripper(func(*http.Request) *http.Response {
		return &http.Response{StatusCode: e.Status, Header: header, Body: io.NopCloser(strings.NewReader(body))}
	}))
	result, err := op.Call(t.Context(), client)

	if e.Status >= 300 {
		var apiErr *mintlify.APIError
		switch {
		case !errors.As(err, &apiErr) || apiErr.StatusCode != e.Status:
			return []string{fmt.Sprintf("%s: after a response of %d the error is %v", op, e.Status, err)}
		case !strings.Contains(apiErr.Message, errorOf(sent, body)):
			return []string{fmt.Sprintf("%s: the error of a %d does not say what the response says", op, e.Status)}
		}
		return nil
	}

	if err != nil {
		return []string{fmt.Sprintf("%s: the SDK cannot read the response: %v", op, err)}
	}
	all := missing(documentedFields(t, op), op, "", sent, decoded(t, result))
	return append(all, againstExport(t, op, e)...)
}

// bodyOf invents the body of a response, and returns it as a value, too.
func bodyOf(t *testing.T, e recording.Exchange) (sent any, body string) {
	t.Helper()
	shape, isText := e.Body.(string)
	_, words, _ := strings.Cut(shape, ": ")
	switch mediaType(e) {
	case "text/html":
		return nil, "<!doctype html><title>" + words
	case "text/plain":
		return nil, words
	}
	if isText && shape == "no body" {
		return nil, ""
	}

	sent = invent(e.Body)
	text, err := json.Marshal(sent)
	require.NoError(t, err)
	return sent, string(text)
}

// errorOf returns the words of an error that a user must see.
func errorOf(sent any, body string) string {
	object, _ := sent.(map[string]any)
	switch text, isText := object["error"].(string); {
	case isText:
		return text[:min(len(text), 100)]
	case sent == nil && !strings.HasPrefix(body, "<"):
		return body
	}
	return ""
}

func decoded(t *testing.T, result any) any {
	t.Helper()
	text, err := json.Marshal(result)
	require.NoError(t, err)
	var value any
	require.NoError(t, json.Unmarshal(text, &value))
	return value
}

// missing returns the documented fields of sent that got does not have. Null, absent and the zero value are the same.
func missing(documented []string, op operations.Operation, at string, sent, got any) []string {
	var all []string
	switch sent := sent.(type) {
	case map[string]any:
		fields, _ := got.(map[string]any)
		for name, value := range sent {
			if path := at + "." + name; slices.Contains(documented, path) {
				all = append(all, missing(documented, op, path, value, fields[name])...)
			}
		}
	case []any:
		rows, _ := got.([]any)
		if len(rows) != len(sent) {
			return []string{fmt.Sprintf("%s: of %s %d rows arrive, not %d", op, at, len(rows), len(sent))}
		}
		for i, value := range sent {
			all = append(all, missing(documented, op, at+"[]", value, rows[i])...)
		}
	default:
		if !isSame(sent, got) {
			return []string{fmt.Sprintf("%s: %s does not arrive", op, at)}
		}
	}
	return all
}

// isSame reports whether got is the value that was sent. A count is rounded.
func isSame(sent, got any) bool {
	switch sent := sent.(type) {
	case nil:
		return got == nil || got == "" || got == false || got == 0.0
	case bool:
		return got == sent || !sent && got == nil
	case float64:
		return got == sent || sent == 0 && got == nil
	case json.Number:
		n, _ := sent.Float64()
		return got == n || got == math.Round(n)
	}

	text, _ := got.(string)
	inUTC := noZone.ReplaceAllString(strings.Replace(fmt.Sprint(sent), " ", "T", 1), "Z")
	instant, err := time.Parse(time.RFC3339, inUTC)
	read, readErr := time.Parse(time.RFC3339, text)
	return text == sent || err == nil && readErr == nil && instant.Equal(read)
}

// noZone matches the zones of invented times.
var noZone = regexp.MustCompile(`[+]00(:?00)?$`)

type roundTripper func(*http.Request) *http.Response

// RoundTrip implements [http.RoundTripper].
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	resp := f(r)
	resp.Request = r
	return resp, nil
}

func clientOf(t *testing.T, transport http.RoundTripper) *mintlify.Client {
	t.Helper()
	client, err := mintlify.NewClient(mintlifytest.APIKey, mintlifytest.ProjectID, mintlify.WithMaxRetries(0),
		mintlify.WithBaseURL("https://service.invalid"), mintlify.WithHTTPClient(&http.Client{Transport: transport}))
	require.NoError(t, err)
	return client
}

// againstExport returns what of a list does not arrive in an export, in pages of several sizes.
func againstExport(t *testing.T, op operations.Operation, e recording.Exchange) []string {
	t.Helper()
	if op.Rows == nil {
		return nil
	}

	var all []string
	body, _ := invent(e.Body).(map[string]any)
	name := ""
	for field, shape := range e.Body.(map[string]any) {
		if _, isList := listOf(shape); isList {
			name = field
		}
	}
	rows, _ := body[name].([]any)

	for _, size := range []int{2, 5, 0} {
		pages := pager{body: body, name: name, rows: rows}
		got, err := exportOf(t.Context(), clientOf(t, roundTripper(pages.respond)), op.Name, size)
		if err != nil {
			all = append(all, fmt.Sprintf("%s: an export in pages of %d ends with %v", op, size, err))
			continue
		}
		for _, wrong := range missing(documentedFields(t, op), op, "."+name, rows, decoded(t, got)) {
			all = append(all, fmt.Sprintf("%s, in an export in pages of %d", wrong, size))
		}
	}
	return all
}

// exportOf returns the rows of an export in pages of a size, with as many requested ahead.
func exportOf(ctx context.Context, client *mintlify.Client, op mintlify.Operation, size int) (any, error) {
	a := client.Analytics
	prefetch := mintlify.WithPrefetch(size)
	switch op {
	case mintlify.OpGetVisitors:
		return mintlify.Collect(a.Visitors(ctx, mintlify.VisitorsParams{PageSize: size}, prefetch))
	case mintlify.OpGetViews:
		return mintlify.Collect(a.Views(ctx, mintlify.ViewsParams{PageSize: size}, prefetch))
	case mintlify.OpGetSearches:
		return mintlify.Collect(a.Searches(ctx, mintlify.SearchesParams{PageSize: size}, prefetch))
	case mintlify.OpGetFeedback:
		return mintlify.Collect(a.Feedback(ctx, mintlify.FeedbackParams{PageSize: size}, prefetch))
	case mintlify.OpGetConversations:
		return mintlify.Collect(a.Conversations(ctx, mintlify.ConversationsParams{PageSize: size}, prefetch))
	}
	return nil, fmt.Errorf("%s is not an export that exportOf knows", op)
}

// pager serves rows in pages, whose other fields are those of body.
type pager struct {
	body map[string]any
	name string
	rows []any
}

func (p pager) respond(r *http.Request) *http.Response {
	query := r.URL.Query()
	limit := number(query.Get("limit"))
	first := number(query.Get("offset"))
	if cursor := query.Get("cursor"); cursor != "" {
		first = number(cursor[strings.LastIndex(cursor, "-")+1:])
	}
	first = min(first, len(p.rows)) // prefetch may ask for what is past the end
	next := min(first+limit, len(p.rows))

	page := maps.Clone(p.body)
	page[p.name] = p.rows[first:next]
	if _, isTold := p.body["hasMore"]; isTold {
		page["hasMore"] = next < len(p.rows)
	}
	if cursor, isByCursor := p.body["nextCursor"]; isByCursor {
		page["nextCursor"] = nil
		if next < len(p.rows) {
			text, _ := cursor.(string)
			page["nextCursor"] = fmt.Sprintf("%s-%d", text, next)
		}
	}

	w := httptest.NewRecorder()
	_ = json.NewEncoder(w).Encode(page)
	return w.Result()
}
