// Package byhand is the client that a good engineer writes by hand, on net/http and
// encoding/json. All others are compared with it.
package byhand

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/mintlify-community/mintlify-go/bench"
)

const timeout = time.Minute

type client struct {
	http    *http.Client
	baseURL string
}

// New is a [bench.New].
func New(baseURL string, transport http.RoundTripper) bench.Client {
	return On(&http.Client{Transport: transport}, baseURL)
}

// On returns the client on hc.
func On(hc *http.Client, baseURL string) bench.Client { return &client{hc, baseURL} }

type job struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Source struct {
		Repository string `json:"repository"`
		Ref        string `json:"ref"`
	} `json:"source"`
	Model      string     `json:"model"`
	PRLink     string     `json:"prLink"`
	CreatedAt  *time.Time `json:"createdAt"`
	ArchivedAt *time.Time `json:"archivedAt"`
}

type counts struct {
	Path  string `json:"path"`
	Human int64  `json:"human"`
	AI    int64  `json:"ai"`
	Total int64  `json:"total"`
}

type page struct {
	Totals   counts   `json:"totals"`
	Visitors []counts `json:"visitors"`
	HasMore  bool     `json:"hasMore"`
}

func (c *client) Get(ctx context.Context, id string) (bench.Job, error) {
	return c.job(ctx, http.MethodGet, "/job/"+url.PathEscape(id), nil)
}

func (c *client) Create(ctx context.Context, prompt string) (bench.Job, error) {
	body, err := json.Marshal(struct {
		Prompt string `json:"prompt"`
	}{prompt})
	if err != nil {
		return bench.Job{}, err
	}
	return c.job(ctx, http.MethodPost, "/job", bytes.NewReader(body))
}

func (c *client) job(ctx context.Context, method, path string, body io.Reader) (bench.Job, error) {
	var j job
	if err := c.do(ctx, method, "/v2/agent/"+bench.Project+path, body, &j); err != nil {
		return bench.Job{}, err
	}

	read := bench.Job{ID: j.ID, Status: j.Status, Repository: j.Source.Repository, PRLink: j.PRLink}
	if j.CreatedAt != nil {
		read.CreatedAt = *j.CreatedAt
	}
	return read, nil
}

func (c *client) Page(ctx context.Context, offset, limit int, visit func(bench.Row)) (bool, error) {
	query := url.Values{"offset": {strconv.Itoa(offset)}}
	if limit != 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	path := "/v1/analytics/" + bench.Project + "/visitors?" + query.Encode()

	var p page
	if err := c.do(ctx, http.MethodGet, path, nil, &p); err != nil {
		return false, err
	}
	for _, row := range p.Visitors {
		visit(bench.Row(row))
	}
	return p.HasMore, nil
}

// do limits a request by its context: with a transport in memory, http.Client.Timeout
// would start a goroutine for each request, which a real transport does not need.
func (c *client) do(ctx context.Context, method, path string, body io.Reader, result any) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	req, err := http.NewRequestWithContext(ctx, method, c.baseURL+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+bench.Key)
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}

	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()

	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
		return fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, text)
	}
	if err := json.NewDecoder(resp.Body).Decode(result); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body) // so that the connection can be reused
	return err
}
