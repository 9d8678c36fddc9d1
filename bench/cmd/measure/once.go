package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/bench"
	"github.com/mintlify-community/mintlify-go/bench/callcost"
	"github.com/mintlify-community/mintlify-go/bench/clients"
	"github.com/mintlify-community/mintlify-go/bench/service"
	"github.com/mintlify-community/mintlify-go/once"
)

const tasks = 1000

// doneJob is a service whose jobs are done at once. It has no job of the id that package once
// asks for first.
type doneJob struct{}

var noJob = service.Fixed{
	Status: http.StatusNotFound,
	Body:   []byte(`{"error":"Job not found"}`),
}

var completedJob = service.Fixed{
	Status: http.StatusCreated,
	Body:   []byte(strings.Replace(service.JobBody, `"active"`, `"completed"`, 1)),
}

// RoundTrip implements [http.RoundTripper].
func (doneJob) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/preflight") {
		return noJob.RoundTrip(r)
	}
	return completedJob.RoundTrip(r)
}

// throughOnce measures Do, from the prompt to the job's end, and Create alone.
func throughOnce(_ string, column clients.Column) error {
	if column.Name != "sdk" {
		return nil
	}
	client, err := mintlify.NewClient(bench.Key, bench.Project,
		mintlify.WithBaseURL(callcost.Nowhere),
		mintlify.WithHTTPClient(&http.Client{Transport: service.Standard(doneJob{})}))
	if err != nil {
		return err
	}

	if err := measureDo(client, column); err != nil {
		return err
	}
	return measureTasks("create alone", column, func() error {
		_, err := client.Jobs.Create(context.Background(), mintlify.CreateJobParams{Prompt: "Fix the typos"})
		return err
	})
}

// measureDo measures Do with a store in SQLite, each task with a key of its own.
func measureDo(client *mintlify.Client, column clients.Column) error {
	dir, err := os.MkdirTemp("", "once")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	const pragmas = "?_pragma=busy_timeout(30000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "once.db")+pragmas)
	if err != nil {
		return err
	}
	defer db.Close()

	ctx := context.Background()
	store := once.NewSQL(db)
	if err := store.CreateTable(ctx); err != nil {
		return err
	}
	runner, err := once.New(client, store)
	if err != nil {
		return err
	}

	keys := 0
	return measureTasks("once", column, func() error {
		keys++
		task := once.Task{Key: fmt.Sprint("acme/api@", keys), Prompt: "Fix the typos"}
		_, err := runner.Do(ctx, task)
		return err
	})
}

func measureTasks(name string, column clients.Column, do func() error) error {
	cost, err := callcost.Measure(tasks, do)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	report(name+" allocations", column, cost.Allocations)
	report(name+" time", column, float64(cost.Clock))
	return nil
}
