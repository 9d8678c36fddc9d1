// Package sdk is the SDK as a column.
package sdk

import (
	"context"
	"net/http"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/bench"
)

type client struct {
	*mintlify.Client
	export []mintlify.ExportOption
}

// New is a [bench.New].
func New(baseURL string, transport http.RoundTripper) bench.Client {
	return &client{Client: connect(baseURL, transport)}
}

// NewPrefetching returns a [bench.New] whose exports prefetch so many pages.
func NewPrefetching(pages int) bench.New {
	return func(baseURL string, transport http.RoundTripper) bench.Client {
		return &client{connect(baseURL, transport), []mintlify.ExportOption{mintlify.WithPrefetch(pages)}}
	}
}

func connect(baseURL string, transport http.RoundTripper) *mintlify.Client {
	options := []mintlify.Option{mintlify.WithBaseURL(baseURL)}
	if transport != nil {
		options = append(options, mintlify.WithHTTPClient(&http.Client{Transport: transport}))
	}
	c, err := mintlify.NewClient(bench.Key, bench.Project, options...)
	if err != nil {
		panic(err) // the arguments are the harness's own
	}
	return c
}

func (c *client) Get(ctx context.Context, id string) (bench.Job, error) {
	return read(c.Jobs.Get(ctx, id))
}

func (c *client) Create(ctx context.Context, prompt string) (bench.Job, error) {
	return read(c.Jobs.Create(ctx, mintlify.CreateJobParams{Prompt: prompt}))
}

func read(j *mintlify.Job, err error) (bench.Job, error) {
	if err != nil {
		return bench.Job{}, err
	}
	return bench.Job{ID: j.ID, Status: string(j.Status), Repository: j.Source.Repository, PRLink: j.PRLink, CreatedAt: j.CreatedAt}, nil
}

func (c *client) Page(ctx context.Context, offset, limit int, visit func(bench.Row)) (bool, error) {
	page, err := c.Analytics.GetVisitors(ctx, mintlify.VisitorsParams{Offset: offset, Limit: limit})
	if err != nil {
		return false, err
	}
	for _, row := range page.Visitors {
		visit(bench.Row(row))
	}
	return page.HasMore, nil
}

func (c *client) Export(ctx context.Context, limit int, visit func(bench.Row)) error {
	for row, err := range c.Analytics.Visitors(ctx, mintlify.VisitorsParams{Limit: limit}, c.export...) {
		if err != nil {
			return err
		}
		visit(bench.Row(row))
	}
	return nil
}

func (c *client) Searches(ctx context.Context, limit int, visit func(bench.Search)) error {
	page, err := c.Analytics.GetSearches(ctx, mintlify.SearchesParams{Limit: limit})
	if err != nil {
		return err
	}
	for _, row := range page.Searches {
		visit(bench.Search{Query: row.Query, TopClickedPage: row.TopClickedPage, Hits: row.Hits, CTR: row.CTR, LastSearchedAt: row.LastSearchedAt})
	}
	return nil
}

func (c *client) Conversations(ctx context.Context, limit int, visit func(bench.Conversation)) error {
	page, err := c.Analytics.GetConversations(ctx, mintlify.ConversationsParams{Limit: limit})
	if err != nil {
		return err
	}
	for _, row := range page.Conversations {
		visit(bench.Conversation{ID: row.ID, Query: row.Query, Response: row.Response, Timestamp: row.Timestamp, Sources: len(row.Sources)})
	}
	return nil
}

func (c *client) Wait(ctx context.Context, id string) error {
	_, err := c.Jobs.WaitUntilDone(ctx, id)
	return err
}
