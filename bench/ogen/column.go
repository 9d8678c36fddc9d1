// Package ogen is a client that ogen generates. It refuses a parameter that is a day
// or an instant ("complex anyOf is not implemented"), so dates.sed makes that a string.
package ogen

//go:generate sh -c "sed -f dates.sed ../../api/openapi.yaml >openapi.yaml"
//go:generate go tool ogen --clean --config ogen.yml --target . --package ogen openapi.yaml

import (
	"context"
	"fmt"
	"net/http"

	// For go mod tidy, which runs before the generated files exist.
	_ "github.com/go-faster/errors"
	_ "github.com/go-faster/jx"
	_ "github.com/ogen-go/ogen/otelogen"
	_ "go.opentelemetry.io/otel"
	_ "go.opentelemetry.io/otel/metric"
	_ "go.opentelemetry.io/otel/trace"

	"github.com/mintlify-community/mintlify-go/bench"
)

type column struct{ client *Client }

type key struct{}

// AdminKey implements [SecuritySource].
func (key) AdminKey(context.Context, OperationName) (AdminKey, error) {
	return AdminKey{Token: bench.Key}, nil
}

// New is a [bench.New].
func New(baseURL string, transport http.RoundTripper) bench.Client {
	var options []ClientOption
	if transport != nil {
		options = append(options, WithClient(&http.Client{Transport: transport}))
	}

	client, err := NewClient(baseURL, key{}, options...)
	if err != nil {
		panic(err) // only a bad URL fails
	}
	return column{client}
}

func (c column) Get(ctx context.Context, id string) (bench.Job, error) {
	response, err := c.client.GetJob(ctx, GetJobParams{ProjectId: bench.Project, ID: id})
	return read(response, err)
}

func (c column) Create(ctx context.Context, prompt string) (bench.Job, error) {
	response, err := c.client.CreateJob(ctx, &Prompt{Prompt: prompt}, CreateJobParams{ProjectId: bench.Project})
	return read(response, err)
}

func read(response any, err error) (bench.Job, error) {
	if err != nil {
		return bench.Job{}, err
	}
	j, ok := response.(*Job)
	if !ok {
		return bench.Job{}, fmt.Errorf("not a job: %v", response)
	}

	job := bench.Job{ID: j.ID, Status: string(j.Status), CreatedAt: j.CreatedAt.Value}
	if repository, ok := j.Source.Value.Repository.Get(); ok {
		job.Repository = repository.String()
	}
	if link, ok := j.PrLink.Get(); ok {
		job.PRLink = link.String()
	}
	return job, nil
}

func (c column) Page(ctx context.Context, offset, limit int, visit func(bench.Row)) (bool, error) {
	params := GetVisitorsParams{ProjectId: bench.Project, Offset: NewOptInt(offset)}
	if limit != 0 {
		params.Limit = NewOptInt(limit)
	}

	response, err := c.client.GetVisitors(ctx, params)
	if err != nil {
		return false, err
	}
	page, ok := response.(*VisitorPage)
	if !ok {
		return false, fmt.Errorf("not a page: %v", response)
	}

	for _, row := range page.Visitors {
		visit(bench.Row{Path: row.Path, Human: int64(row.Human), AI: int64(row.Ai), Total: int64(row.Total)})
	}
	return page.HasMore, nil
}
