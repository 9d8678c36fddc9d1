// Package oapi is a client that oapi-codegen generates from api/openapi.yaml.
package oapi

//go:generate go tool oapi-codegen -config config.yaml ../../api/openapi.yaml

import (
	"context"
	"fmt"
	"net/http"

	// For go mod tidy, which runs before the generated file exists.
	_ "github.com/oapi-codegen/runtime"

	"github.com/mintlify-community/mintlify-go/bench"
)

type column struct{ client *ClientWithResponses }

// New is a [bench.New].
func New(baseURL string, transport http.RoundTripper) bench.Client {
	authenticate := func(_ context.Context, req *http.Request) error {
		req.Header.Set("Authorization", "Bearer "+bench.Key)
		return nil
	}
	options := []ClientOption{WithRequestEditorFn(authenticate)}
	if transport != nil {
		options = append(options, WithHTTPClient(&http.Client{Transport: transport}))
	}

	client, err := NewClientWithResponses(baseURL, options...)
	if err != nil {
		panic(err) // only a bad URL fails
	}
	return column{client}
}

func (c column) Get(ctx context.Context, id string) (bench.Job, error) {
	response, err := c.client.GetJobWithResponse(ctx, bench.Project, id)
	if err != nil {
		return bench.Job{}, err
	}
	return read(response.JSON200, response.Status())
}

func (c column) Create(ctx context.Context, prompt string) (bench.Job, error) {
	response, err := c.client.CreateJobWithResponse(ctx, bench.Project, Prompt{Prompt: prompt})
	if err != nil {
		return bench.Job{}, err
	}
	return read(response.JSON201, response.Status())
}

func read(j *Job, status string) (bench.Job, error) {
	if j == nil {
		return bench.Job{}, fmt.Errorf("not a job: %s", status)
	}

	job := bench.Job{ID: j.Id, Status: string(j.Status)}
	if j.Source != nil && j.Source.Repository != nil {
		job.Repository = *j.Source.Repository
	}
	if j.PrLink != nil {
		job.PRLink = *j.PrLink
	}
	if j.CreatedAt != nil {
		job.CreatedAt = *j.CreatedAt
	}
	return job, nil
}

func (c column) Page(ctx context.Context, offset, limit int, visit func(bench.Row)) (bool, error) {
	params := GetVisitorsParams{Offset: &offset}
	if limit != 0 {
		params.Limit = &limit
	}

	response, err := c.client.GetVisitorsWithResponse(ctx, bench.Project, &params)
	if err != nil {
		return false, err
	}
	page := response.JSON200
	if page == nil {
		return false, fmt.Errorf("not a page: %s", response.Status())
	}

	for _, row := range page.Visitors {
		visit(bench.Row{Path: row.Path, Human: int64(row.Human), AI: int64(row.Ai), Total: int64(row.Total)})
	}
	return page.HasMore, nil
}
