// Package sdk is the SDK as one of the clients that are compared.
package sdk

import (
	"context"
	"net/http"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/bench"
)

type client struct{ *mintlify.Client }

// New is a [bench.New].
func New(baseURL string, transport http.RoundTripper) bench.Client {
	options := []mintlify.Option{mintlify.WithBaseURL(baseURL)}
	if transport != nil {
		options = append(options, mintlify.WithHTTPClient(&http.Client{Transport: transport}))
	}

	c, err := mintlify.NewClient(bench.Key, bench.Project, options...)
	if err != nil {
		panic(err) // only a bad URL fails
	}
	return client{c}
}

func (c client) Get(ctx context.Context, id string) (bench.Job, error) {
	return read(c.Jobs.Get(ctx, id))
}

func (c client) Create(ctx context.Context, prompt string) (bench.Job, error) {
	return read(c.Jobs.Create(ctx, mintlify.CreateJobParams{Prompt: prompt}))
}

func read(j *mintlify.Job, err error) (bench.Job, error) {
	if err != nil {
		return bench.Job{}, err
	}

	job := bench.Job{
		ID:         j.ID,
		Status:     string(j.Status),
		Repository: j.Source.Repository,
		PRLink:     j.PRLink,
		CreatedAt:  j.CreatedAt,
	}
	return job, nil
}

func (c client) Page(ctx context.Context, offset, limit int, visit func(bench.Row)) (bool, error) {
	page, err := c.Analytics.GetVisitorPage(ctx, mintlify.VisitorsParams{Offset: offset, PageSize: limit})
	if err != nil {
		return false, err
	}
	for _, row := range page.Visitors {
		visit(bench.Row(row))
	}
	return page.HasMore, nil
}

// Export implements [bench.Exporter].
func (c client) Export(ctx context.Context, limit, prefetch int, visit func(bench.Row)) error {
	params := mintlify.VisitorsParams{PageSize: limit}
	for row, err := range c.Analytics.Visitors(ctx, params, mintlify.WithPrefetch(prefetch)) {
		if err != nil {
			return err
		}
		visit(bench.Row(row))
	}
	return nil
}

// Wait implements [bench.Exporter].
func (c client) Wait(ctx context.Context, id string) error {
	_, err := c.Jobs.WaitUntilDone(ctx, id)
	return err
}
