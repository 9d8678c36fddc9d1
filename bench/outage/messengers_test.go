package outage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/bench/retryable"
	"github.com/mintlify-community/mintlify-go/bench/service"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
	"github.com/mintlify-community/mintlify-go/once/oncetest"
)

// messenger sends all messages, in their order, and tells how each ended. It returns how many it
// leaves unknown.
type messenger func(ctx context.Context, way *gateway, c *chat, queue []message) (unknown int, err error)

// messagesThroughOnce adds the messages as follow-ups of the jobs' records.
func messagesThroughOnce(ctx context.Context, way *gateway, c *chat, queue []message) (int, error) {
	store := oncetest.NewStore()

	report := func(_ context.Context, r once.Record) error { return c.tell(r.Prompt) }
	runner, err := once.New(way.client(), store, once.WithReport(report))
	if err != nil {
		return 0, err
	}

	for _, m := range queue[:threads] {
		if err := store.Put(ctx, endedRecord(m.job)); err != nil {
			return 0, err
		}
	}
	for _, m := range queue {
		time.Sleep(time.Millisecond) // messages are sent in the order of their AddedAt
		task := once.Task{Key: strings.ReplaceAll(m.prompt, " ", "-"), After: m.job, Prompt: m.prompt}
		if _, _, err := runner.Add(ctx, task); err != nil {
			return 0, err
		}
	}

	if err := runner.Resume(ctx); err != nil {
		return 0, err
	}

	unknown, err := store.List(ctx, once.Unknown)
	return len(unknown), err
}

// endedRecord is the record of a job, whose end was told before.
func endedRecord(job string) once.Record {
	return once.Record{
		Task:     once.Task{Key: job, Prompt: "Document it."},
		Version:  1,
		State:    once.Done,
		JobID:    job,
		Reported: once.Done,
	}
}

// messageOnce calls Message for each prompt, and tells the end of each job once. A message whose
// outcome is unknown is set aside, and that is told too.
func messageOnce(ctx context.Context, way *gateway, c *chat, queue []message) (int, error) {
	client := way.client()

	unknown := 0
	var waits sync.WaitGroup
	for _, m := range queue {
		_, err := client.Jobs.Message(ctx, m.job, mintlify.MessageParams{Prompt: m.prompt})
		switch {
		case errors.Is(err, mintlify.ErrOutcomeUnknown):
			unknown++
			waits.Go(func() { _ = c.tell(m.prompt) })
		case err != nil:
			return 0, err
		default:
			waits.Go(func() {
				if _, err := client.Jobs.WaitUntilDone(ctx, m.job); err == nil {
					_ = c.tell(m.prompt)
				}
			})
		}
	}
	waits.Wait()
	return unknown, nil
}

// task is a message in a job queue.
type task struct {
	message
	sent  bool
	ended bool
}

var errActive = errors.New("the job is active")

// retryMessages has go-retryablehttp retry each message and each poll. What still fails, also a call
// of the chat, goes to the end of the queue.
func retryMessages(ctx context.Context, way *gateway, c *chat, queue []message) (int, error) {
	client := retryable.HTTPClient(way)
	var tasks []*task
	for _, m := range queue {
		tasks = append(tasks, &task{message: m})
	}

	for len(tasks) > 0 && ctx.Err() == nil {
		next := tasks[0]
		tasks = tasks[1:]
		if err := next.step(ctx, client, c); err != nil {
			tasks = append(tasks, next)
		}
	}
	return 0, ctx.Err()
}

// step does what is left of a task. It returns an error if the rest has to be done later.
func (t *task) step(ctx context.Context, client *http.Client, c *chat) error {
	path := "/v2/agent/" + mintlifytest.ProjectID + "/job/" + t.job
	if !t.sent {
		body := fmt.Sprintf(`{"prompt":%q}`, t.prompt)
		if _, err := request(ctx, client, http.MethodPost, path+"/message", body); err != nil {
			return err
		}
		t.sent = true
	}

	if !t.ended {
		status, err := request(ctx, client, http.MethodGet, path, "")
		if err != nil {
			return err
		}
		if status == string(mintlify.JobActive) {
			return errActive
		}
		t.ended = true
	}
	return c.tell(t.prompt)
}

// request returns the job's status.
func request(ctx context.Context, client *http.Client, method, path, body string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, method, service.Nowhere+path, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")

	response, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()

	if response.StatusCode != http.StatusOK {
		return "", errors.New(response.Status)
	}
	var job struct{ Status string }
	err = json.NewDecoder(response.Body).Decode(&job)
	return job.Status, err
}
