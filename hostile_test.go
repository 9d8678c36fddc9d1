package mintlify_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// lists have a page of each export, its list left out, and how many rows were read.
var lists = map[string]struct {
	page string
	rows func(context.Context, *mintlify.Client) (int, error)
}{
	"visitors": {`{"totals":{},"hasMore":false,%s}`, func(ctx context.Context, c *mintlify.Client) (int, error) {
		page, err := c.Analytics.GetVisitors(ctx, mintlify.VisitorsParams{})
		if err != nil {
			return 0, err
		}
		return len(page.Visitors), nil
	}},
	"views": {`{"totals":{},"hasMore":false,%s}`, func(ctx context.Context, c *mintlify.Client) (int, error) {
		page, err := c.Analytics.GetViews(ctx, mintlify.ViewsParams{})
		if err != nil {
			return 0, err
		}
		return len(page.Views), nil
	}},
	"searches": {`{"totalSearches":1,%s}`, func(ctx context.Context, c *mintlify.Client) (int, error) {
		page, err := c.Analytics.GetSearches(ctx, mintlify.SearchesParams{})
		if err != nil {
			return 0, err
		}
		return len(page.Searches), nil
	}},
	"feedback": {`{"hasMore":false,%s}`, func(ctx context.Context, c *mintlify.Client) (int, error) {
		page, err := c.Analytics.GetFeedback(ctx, mintlify.FeedbackParams{})
		if err != nil {
			return 0, err
		}
		return len(page.Feedback), nil
	}},
	"conversations": {`{"hasMore":false,%s}`, func(ctx context.Context, c *mintlify.Client) (int, error) {
		page, err := c.Analytics.GetConversations(ctx, mintlify.ConversationsParams{})
		if err != nil {
			return 0, err
		}
		return len(page.Conversations), nil
	}},
	"messages": {`{%s}`, func(ctx context.Context, c *mintlify.Client) (int, error) {
		thread, err := c.Analytics.GetThread(ctx, "t")
		if err != nil {
			return 0, err
		}
		return len(thread.Messages), nil
	}},
}

func TestListIsTheLastOfItsName(t *testing.T) {
	for name, list := range lists {
		for values, want := range map[string]int{
			`[{},{}]|[{}]`: 1, `[{}]|[{},{}]`: 2, `null|[{}]`: 1, `[{}]|[]`: 0, `[{"path":"["}]|[{}]`: 1,
			`[{}]|null`: -1, `[{},{}]|[{}]|null`: -1, `null`: -1, `"x"`: -1, `{}`: -1, `7`: -1, `[7]`: -1,
		} {
			var fields []string
			for value := range strings.SplitSeq(values, "|") {
				fields = append(fields, fmt.Sprintf("%q:%s", name, value))
			}
			body := fmt.Sprintf(list.page, strings.Join(fields, ","))
			rows, err := list.rows(t.Context(), newClient(t, respondWith(200, body)))
			if want < 0 {
				assert.ErrorIs(t, err, mintlify.ErrMalformedResponse, body)
				continue
			}
			require.NoError(t, err, body)
			assert.Equal(t, want, rows, body)
		}
	}
}

// A row of a list that comes twice has nothing of the row that stood there first.
func TestRowHasNothingOfAnother(t *testing.T) {
	const body = `{"totals":{},"hasMore":false,"visitors":[{"path":"/a","human":5,"ai":6,"total":7}],"visitors":[{"path":"/b","total":1%s}]}`
	for _, number := range []string{"", ".0"} { // plain, and rounded
		page, err := newClient(t, respondWith(200, fmt.Sprintf(body, number))).Analytics.GetVisitors(t.Context(), mintlify.VisitorsParams{})
		require.NoError(t, err)
		assert.Equal(t, []mintlify.Visitor{{Path: "/b", Total: 1}}, page.Visitors)
	}
}

// A list is counted before it is in memory, text that looks like a list apart.
func TestListHasAtMost50000Items(t *testing.T) {
	for name, list := range lists {
		for _, row := range []string{"{}", `{"x":"\\\",[],{},]}"}`, `{"x":[1,2,[3,4],{"y":5,"z":6}],"y":7}`} {
			if row != "{}" && name != "messages" {
				continue
			}
			for _, n := range []int{50_000, 50_001} {
				body := fmt.Sprintf(list.page, fmt.Sprintf(`%q:[%s%s]`, name, row, strings.Repeat(","+row, n-1)))
				rows, err := list.rows(t.Context(), newClient(t, respondWith(200, body)))
				if n > 50_000 {
					assert.ErrorIs(t, err, mintlify.ErrMalformedResponse, "%s of %s", name, row)
					assert.ErrorContains(t, err, "more than 50000 items")
					continue
				}
				require.NoError(t, err, "%s of %s", name, row)
				assert.Equal(t, n, rows)
			}
		}
	}
}

// The lines of a log are no reason to lose the deployment.
func TestDeploymentIsKeptWithoutALogThatIsTooLong(t *testing.T) {
	body := `{"_id":"d","status":"success","logs":[""` + strings.Repeat(`,""`, 50_000) + `]}`
	deployment, err := newClient(t, respondWith(200, body)).Deployments.Get(t.Context(), "d")
	require.NoError(t, err)
	assert.Empty(t, deployment.Logs)
	assert.Equal(t, mintlify.DeploymentSucceeded, deployment.Status)
}

func TestCountHasAtMost1000Digits(t *testing.T) {
	for digits, want := range map[int]bool{998: true, 2000: false} {
		body := `{"totals":{"human":1.` + strings.Repeat("0", digits) + `},"hasMore":false,"visitors":[]}`
		page, err := newClient(t, respondWith(200, body)).Analytics.GetVisitors(t.Context(), mintlify.VisitorsParams{})
		assert.Equal(t, want, err == nil, "%v", err)
		if want {
			assert.EqualValues(t, 1, page.Totals.Human)
		}
	}
}

// What a broken response begins with is looked through for the new job's id, so far.
func TestIDIsFoundAtTheStartOfABrokenResponse(t *testing.T) {
	for padding, found := range map[int]bool{0: true, 50 << 10: true, 100 << 10: false} {
		body := `{"x":"` + strings.Repeat("x", padding) + `","id":"job_1","status":"active","y":`
		job, err := create(t.Context(), newClient(t, respondWith(201, body)))
		assert.ErrorIs(t, err, mintlify.ErrMalformedResponse)
		assert.ErrorIs(t, err, mintlify.ErrOutcomeUnknown)
		assert.Equal(t, found, job != nil, padding)
	}
}

// No more of a header is read than a service has use for.
func TestHeaderOfAResponseIsBounded(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = http.ReadRequest(bufio.NewReader(conn))
			_, _ = io.Copy(conn, io.MultiReader(strings.NewReader("HTTP/1.1 404 Not Found\r\n"), io.LimitReader(&endless{unit: strings.Repeat("X-Y: z\r\n", 500)}, 9<<20), strings.NewReader("\r\n")))
			conn.Close()
		}
	}()
	client, err := mintlify.NewClient(testKey, "proj", mintlify.WithBaseURL("http://"+listener.Addr().String()), mintlify.WithMaxRetries(0))
	require.NoError(t, err)
	_, err = get(t.Context(), client)
	assert.ErrorContains(t, err, "headers exceeded")
	_, err = create(t.Context(), client)
	assert.ErrorIs(t, err, mintlify.ErrOutcomeUnknown)
}

// endless reads as unit over and over.
type endless struct {
	unit string
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.unit[e.at:])
	e.at = (e.at + n) % len(e.unit)
	return n, nil
}
