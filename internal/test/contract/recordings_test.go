package contract

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/recording"
	"github.com/mintlify-community/mintlify-go/internal/test/operations"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// The judge holds each recording of the service against the SDK, the document and the fake, and its
// pages against each other. What differs is a sentence. A sentence is mended, or it stands in
// testdata/known-differences.txt with the reason why it may stay.

const knownDifferences = "testdata/known-differences.txt"

func TestRecordings(t *testing.T) {
	known := readKnownDifferences(t)
	fake := recordFake(t)
	found := map[string]bool{}

	for _, path := range recordings(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			for _, sentence := range judge(t, readRecording(t, path), fake) {
				found[sentence] = true
				if known[sentence] == "" {
					t.Errorf("%s\nMend it, or add it to %s with the reason.", sentence, knownDifferences)
				}
			}
		})
	}
	for sentence := range known {
		assert.True(t, found[sentence], "%s: no recording has this any more: %s", knownDifferences, sentence)
	}
}

func recordings(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/recordings/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	return paths
}

func readRecording(t *testing.T, path string) *recording.File {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	file := new(recording.File)
	require.NoError(t, json.Unmarshal(text, file))
	require.NotEmpty(t, file.Exchanges)
	return file
}

// readKnownDifferences returns the reasons by sentence. Below a sentence its reason is indented.
func readKnownDifferences(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(knownDifferences)
	require.NoError(t, err)

	known := map[string]string{}
	sentence := ""
	for line := range strings.Lines(string(text)) {
		switch reason, isReason := strings.CutPrefix(line, "\t"); {
		case strings.TrimSpace(line) == "":
		case isReason:
			known[sentence] += reason
		default:
			sentence = strings.TrimSpace(line)
			known[sentence] = ""
		}
	}
	for sentence, reason := range known {
		assert.NotEmpty(t, reason, "%s: give the reason, indented by a tab, below: %s", knownDifferences, sentence)
	}
	return known
}

// judge returns what differs, each sentence once.
func judge(t *testing.T, file, fake *recording.File) []string {
	t.Helper()
	var all []string
	for _, e := range file.Exchanges {
		if e.Status == 0 {
			continue
		}
		op := operationAt(t, e)
		all = append(all, againstSDK(t, op, e)...)
		if e.Status < 500 { // else it may be of a gateway
			all = append(all, againstDocument(t, op, e)...)
			all = append(all, againstFake(t, op, e, fake)...)
		}
	}
	all = append(all, againstPages(t, file)...)

	slices.Sort(all)
	return slices.Compact(all)
}

// operationAt returns the operation that an exchange is of.
func operationAt(t *testing.T, e recording.Exchange) operations.Operation {
	t.Helper()
	for _, op := range operations.All() {
		if op.Method == e.Method && op.Path == e.Path {
			return op
		}
	}
	t.Fatalf("no operation is %s %s", e.Method, e.Path)
	return operations.Operation{}
}

// recordFake records the fake as mintlify-record does, and once more with few requests left.
func recordFake(t *testing.T) *recording.File {
	t.Helper()
	limited := newRecordedFake()
	limited.EnforceQuotas()

	all := record(t, newRecordedFake(), 0)
	all.Exchanges = append(all.Exchanges, record(t, limited, 99).Exchanges...)
	return all
}

// record records a service after some requests for views.
func record(t *testing.T, service http.RoundTripper, requests int) *recording.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "recording.json")
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(epoch)) // which the rows come before
		for range requests {
			require.NoError(t, operations.Get(mintlify.OpGetViews).Do(t.Context(), clientOf(t, service)))
		}

		result, err := recording.Record(t.Context(), recording.Settings{
			Key: mintlifytest.APIKey, ProjectID: mintlifytest.ProjectID, Transport: service, Terminal: io.Discard,
			Options: []mintlify.Option{mintlify.WithBaseURL("https://service.invalid")},
			JobID:   "mine", Job: true, Prompt: "Fix the typos", Message: true, Preview: "docs", Update: true, Timeout: time.Hour,
		})
		require.NoError(t, err)
		text, err := json.Marshal(result.File)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, text, 0o600))
	})
	return readRecording(t, path) // shapes are then those of a file
}

// epoch is when the fake is recorded.
var epoch = time.Date(2031, 4, 30, 10, 30, 0, 0, time.UTC)

// newRecordedFake returns a fake with all that its responses can have.
func newRecordedFake() *mintlifytest.Service {
	svc := operations.NewService()
	svc.AddJob("mine", mintlifytest.JobStep{Status: mintlify.JobCompleted, PRLink: "https://github.com/example/docs/pull/7"})
	svc.ScriptDeployment(
		mintlifytest.DeploymentStep{Logs: []string{"Building"}},
		mintlifytest.DeploymentStep{Status: mintlify.DeploymentFailed, Summary: "Broken", Logs: []string{"Building"}})

	var searches []mintlify.SearchTerm
	for i := range 120 { // more than a page
		searches = append(searches, mintlify.SearchTerm{
			Query: fmt.Sprint(i), Hits: int64(i), CTR: 41.5, LastSearchedAt: epoch,
		})
	}
	searches[0].TopClickedPage = "a"
	svc.SetSearches(searches)
	svc.SetVisitors(visitorsByPath(300))

	const pending = mintlify.FeedbackPending
	helpful := true
	var feedback []mintlify.Feedback
	var conversations []mintlify.Conversation
	for i := range 8 {
		at := epoch.AddDate(0, 0, -1-i)
		feedback = append(feedback,
			mintlify.Feedback{ID: fmt.Sprint("a", i), CreatedAt: at, Source: mintlify.FeedbackContextual, Status: pending, Comment: "c", Helpful: &helpful},
			mintlify.Feedback{ID: fmt.Sprint("b", i), CreatedAt: at, Source: mintlify.FeedbackFromCodeSnippet, Status: pending, Language: "go", Comment: "c"},
			mintlify.Feedback{ID: fmt.Sprint("c", i), CreatedAt: at, Source: mintlify.FeedbackFromCodeSnippet, Status: pending, Comment: "c"},
			mintlify.Feedback{ID: fmt.Sprint("d", i), CreatedAt: at, Source: mintlify.FeedbackFromCodeSnippet, Status: pending, Language: "go", Filename: "a.go"})
		conversations = append(conversations,
			mintlify.Conversation{ID: fmt.Sprint("a", i), Timestamp: at, ResolutionStatus: mintlify.ResolutionAnswered},
			mintlify.Conversation{
				ID: fmt.Sprint("a", i), Timestamp: at, ResolutionStatus: mintlify.ResolutionAnswered, QueryCategory: "auth",
				PageURL: "/a", ResponseType: mintlify.ResponseAnswer, Sources: []mintlify.ConversationSource{{Title: "A", URL: "a"}},
			})
	}
	svc.SetFeedback(feedback)
	svc.SetConversations(conversations)
	return svc
}

// closedDocument is LoadDocument, which takes long, once.
var closedDocument = sync.OnceValues(LoadDocument)

// againstDocument returns what the OpenAPI document does not allow in a response.
func againstDocument(t *testing.T, op operations.Operation, e recording.Exchange) []string {
	t.Helper()
	doc, err := closedDocument()
	require.NoError(t, err)
	documented := doc.Paths.Find(op.Path).GetOperation(op.Method).Responses
	response := documented.Status(e.Status)
	if response == nil && e.Status < 300 {
		return []string{fmt.Sprintf("%s: the status %d is not in the document", op, e.Status)}
	}
	if response == nil {
		response = documented.Default()
	}

	content := response.Value.Content[mediaType(e)]
	if content == nil {
		return []string{fmt.Sprintf("%s: a %d of %s is not in the document", op, e.Status, mediaType(e))}
	}
	if content.Schema == nil || mediaType(e) != "application/json" {
		return nil
	}
	return findings(op, content.Schema.Value, invent(e.Body))
}

// mediaType returns the Content-Type of a response; of one without, what its body is.
func mediaType(e recording.Exchange) string {
	body, isText := e.Body.(string)
	switch {
	case e.Headers["Content-Type"] != "":
		return e.Headers["Content-Type"]
	case isText && strings.HasPrefix(body, "HTML"):
		return "text/html"
	case isText && strings.HasPrefix(body, "plain text"):
		return "text/plain"
	}
	return "application/json"
}

// againstFake returns what the fake does otherwise.
func againstFake(t *testing.T, op operations.Operation, e recording.Exchange, fake *recording.File) []string {
	t.Helper()
	var all []string
	var bodies []any
	for _, other := range fake.Exchanges {
		isError := e.Status >= 400 && other.Status == e.Status
		isSuccess := e.Status < 300 && other.Status < 300 && other.Status != 0 && other.Path == e.Path && other.Method == e.Method
		if isError || isSuccess {
			bodies = append(bodies, other.Body)
		}

		passes := e.Status == http.StatusTooManyRequests || other.Status == http.StatusTooManyRequests
		switch {
		case other.Label == e.Label && other.Status != e.Status && other.Status != 0 && !passes:
			all = append(all, fmt.Sprintf("%s: the status is %d, the fake's %d", e.Label, e.Status, other.Status))
		case isError && mediaType(other) != mediaType(e):
			all = append(all, fmt.Sprintf("%d: the response is %s, the fake's %s", e.Status, mediaType(e), mediaType(other)))
		}
	}

	if len(bodies) == 0 {
		return append(all, fmt.Sprintf("%s: the fake has no response of %d", op, e.Status))
	}
	return append(all, differences(documentedFields(t, op), op, []any{e.Body}, bodies)...)
}

// againstPages returns what is wrong with the pages of a recording.
func againstPages(t *testing.T, file *recording.File) []string {
	t.Helper()
	var all []string
	first := map[string]recording.Exchange{} // the last page without a cursor, by path
	for _, e := range file.Exchanges {
		rows, isPage := rowsOf(e)
		if e.Status/100 != 2 || !isPage {
			continue
		}

		for _, wrong := range slices.Concat(wrongPage(e, rows), wrongNext(first[e.Path], e, rows)) {
			all = append(all, fmt.Sprintf("%s: %s", operationAt(t, e), wrong))
		}
		if e.Query["cursor"] == "" && (e.Query["offset"] == "" || e.Query["offset"] == "0") {
			first[e.Path] = e
		}
	}
	return all
}

// rowsOf returns the rows of a page. It reports false if the response is not a page.
func rowsOf(e recording.Exchange) (recording.List, bool) {
	body, _ := e.Body.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(body)) {
		list, isList := listOf(body[name])
		_, hasMore := body["hasMore"]
		_, hasCursor := body["nextCursor"]
		if isList && (hasMore || hasCursor) {
			return list, true
		}
	}
	return recording.List{}, false
}

// wrongPage returns what is wrong with a page by itself.
func wrongPage(e recording.Exchange, rows recording.List) []string {
	var wrong []string
	body := e.Body.(map[string]any)
	hasMore, isTold := body["hasMore"].(bool)
	cursor, isByCursor := body["nextCursor"]
	limit := number(e.Query["limit"])

	if limit > 0 && rows.Rows > limit {
		wrong = append(wrong, "a page has more rows than its limit")
	}
	if limit > 0 && rows.Rows < limit && hasMore {
		wrong = append(wrong, "a page with fewer rows than its limit says that there are more")
	}
	if isTold && isByCursor && hasMore != (cursor != nil && cursor != "empty") {
		wrong = append(wrong, fmt.Sprintf("hasMore is %t, and nextCursor says something else", hasMore))
	}
	if e.Query["offset"] == "10000000" && (rows.Rows > 0 || hasMore) {
		wrong = append(wrong, "a page past the end has rows, or says that there are more")
	}
	if strings.HasSuffix(e.Label, " of a day") && len(daysOf(rows)) > 1 {
		wrong = append(wrong, "the rows of a bare day are of several days in UTC")
	}
	return wrong
}

// daysOf returns the days of a list's times.
func daysOf(rows recording.List) []string {
	var days []string
	for _, column := range rows.Order {
		for _, place := range strings.Fields(column) {
			day, _, isTime := strings.Cut(place, ".")
			if isTime {
				days = append(days, day)
			}
		}
	}
	slices.Sort(days)
	return slices.Compact(days)
}

// wrongNext returns what is wrong with a page beside the first one. Counts are live: half of the rows by offset may
// have moved.
func wrongNext(first, next recording.Exchange, rows recording.List) []string {
	before, isPage := rowsOf(first)
	if !isPage {
		return nil
	}

	offset := number(next.Query["offset"])
	column := wholeRow
	if rows.Order["path"] != "" {
		column = "path"
	}
	known := strings.Fields(before.Order[column])
	came := strings.Fields(rows.Order[column])

	if next.Query["cursor"] != "" {
		if slices.ContainsFunc(came, func(row string) bool { return slices.Contains(known, row) }) {
			return []string{"a page by cursor has rows of the page before"}
		}
		return nil
	}
	if offset == 0 || offset >= len(known) {
		return nil
	}

	inPlace := 0
	for i, row := range came {
		if offset+i < len(known) && known[offset+i] == row {
			inPlace++
		}
	}
	if inPlace < min(len(came), len(known)-offset)/2 {
		return []string{"a page by offset is not what follows that many rows"}
	}
	return nil
}
