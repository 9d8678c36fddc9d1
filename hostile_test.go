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
	"searches": {`{"totalSearches":1,"nextCursor":null,%s}`, func(ctx context.Context, c *mintlify.Client) (int, error) {
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

func TestIDIsFoundAtTheStartOfABrokenResponse(t *testing.T) {
	for _, padding := range []int{0, 100 << 10, 9 << 20} {
		body := `{"x":"` + strings.Repeat("x", padding) + `","id":"job_1","status":"active","y":`
		job, err := create(t.Context(), newClient(t, respondWith(201, body)))
		assert.ErrorIs(t, err, mintlify.ErrMalformedResponse)
		assert.ErrorIs(t, err, mintlify.ErrOutcomeUnknown)
		assert.NotNil(t, job, padding)
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
