package once_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
	"github.com/mintlify-community/mintlify-go/once/oncetest"
)

// The webhook of a merge comes twice, and the merge makes one job.
func ExampleRunner_Do() {
	svc := mintlifytest.NewService() // a fake: your program has a client of NewClientFromEnv
	runner, err := once.New(svc.Client(), oncetest.NewStore())
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		record, err := runner.Do(context.Background(), once.Task{Key: "acme/api@5907854", Prompt: "Document the flag --json."})
		fmt.Println(record.State, record.PRLink, err)
	}
	fmt.Println(len(svc.Jobs()), "job")
	// Output:
	// done https://github.com/example/docs/pull/1 <nil>
	// done https://github.com/example/docs/pull/1 <nil>
	// 1 job
}

// The response was lost: a person finds the job, and the program goes on with it.
func ExampleRunner_Adopt() {
	svc, ctx := mintlifytest.NewService(), context.Background()
	svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Drop: true})
	runner, err := once.New(svc.Client(), oncetest.NewStore())
	if err != nil {
		fmt.Println(err)
		return
	}
	task := once.Task{Key: "acme/api@5907854", Prompt: "Document the flag --json."}
	record, err := runner.Do(ctx, task)
	fmt.Println(record.State, errors.Is(err, mintlify.ErrOutcomeUnknown))
	if _, err = runner.Adopt(ctx, task.Key, "job_1"); err != nil {
		fmt.Println(err)
	}
	record, err = runner.Do(ctx, task)
	fmt.Println(record.State, err, len(svc.Jobs()), "job")
	// Output:
	// unknown true
	// done <nil> 1 job
}

// A job queue delivers a key at least once. A worker does a step, and has the queue deliver
// it again later.
func ExampleRunner_Step() {
	svc, ctx := mintlifytest.NewService(), context.Background()
	runner, err := once.New(svc.Client(mintlify.WithMaxRetries(0)), oncetest.NewStore()) // the queue retries
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, _, err = runner.Add(ctx, once.Task{Key: "acme/api@5907854", Prompt: "Document the flag --json."}); err != nil {
		fmt.Println(err)
	}
	queue := []string{"acme/api@5907854", "acme/api@5907854"} // delivered twice
	for len(queue) > 0 {
		key := queue[0]
		queue = queue[1:]
		step, err := runner.Step(ctx, key)
		if step.Next > 0 { // snooze for it, also if err says why the step could not be done
			queue = append(queue, key)
			continue
		}
		fmt.Println(step.Record.State, step.Record.PRLink, err)
	}
	fmt.Println(len(svc.Jobs()), "job")
	// Output:
	// done https://github.com/example/docs/pull/1 <nil>
	// done https://github.com/example/docs/pull/1 <nil>
	// 1 job
}

// When it starts, a program continues what another process, or it itself, left open.
func ExampleRunner_Resume() {
	svc, store, ctx := mintlifytest.NewService(), oncetest.NewStore(), context.Background()
	webhook, err := once.New(nil, store) // a process without a key
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, commit := range []string{"5907854", "c0ffee1"} {
		if _, _, err := webhook.Add(ctx, once.Task{Key: "acme/api@" + commit, Prompt: "Document the merge."}); err != nil {
			fmt.Println(err)
		}
	}

	worker, err := once.New(svc.Client(), store, once.WithOnChange(func(r once.Record) {
		if r.State == once.Done {
			fmt.Println(r.Key, r.PRLink)
		}
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := worker.Resume(ctx); err != nil {
		fmt.Println(err)
	}
	// Unordered output:
	// acme/api@5907854 https://github.com/example/docs/pull/1
	// acme/api@c0ffee1 https://github.com/example/docs/pull/2
}

// A comment on the pull request becomes a message to the job that opened it.
func ExampleTask_followUp() {
	svc, ctx := mintlifytest.NewService(), context.Background()
	runner, err := once.New(svc.Client(), oncetest.NewStore())
	if err != nil {
		fmt.Println(err)
		return
	}
	merge, err := runner.Do(ctx, once.Task{Key: "acme/api@5907854", Prompt: "Document the flag --json."})
	fmt.Println(merge.State, err)

	comment := once.Task{Key: "acme/api@5907854#comment-1", After: merge.Key, Prompt: "Add an example."}
	if _, _, err = runner.Add(ctx, comment); err != nil {
		fmt.Println(err)
	}
	step, err := runner.Step(ctx, comment.Key) // or Do, which waits for its end, too
	fmt.Println(step.Record.State, step.Record.JobID == merge.JobID, err)
	fmt.Println(len(svc.Jobs()), "job")
	// Output:
	// done <nil>
	// running true <nil>
	// 1 job
}

// A service works off what its webhooks add, until it is told to stop.
func ExampleRunner_Run() {
	svc := mintlifytest.NewService()
	ctx, stop := context.WithCancel(context.Background()) // by signal.NotifyContext in your program
	runner, err := once.New(svc.Client(), oncetest.NewStore(), once.WithOnChange(func(r once.Record) {
		if !r.State.IsOpen() {
			fmt.Println(r.Key, r.State, r.PRLink)
			stop()
		}
	}))
	if err != nil {
		fmt.Println(err)
		return
	}

	go func() { // a webhook
		if _, _, err := runner.Add(ctx, once.Task{Key: "acme/api@5907854", Prompt: "Document the merge."}); err != nil {
			fmt.Println(err)
		}
	}()
	if err := runner.Run(ctx); ctx.Err() == nil {
		fmt.Println(err) // such as a store that cannot list
	}
	// Output:
	// acme/api@5907854 done https://github.com/example/docs/pull/1
}

// bucket is a fake of object storage with conditional writes: If-None-Match: * makes the
// first version, If-Match the others. Package oncetest tests a store.
type bucket struct {
	mu      sync.Mutex
	objects map[string]once.Record
}

func (b *bucket) Get(ctx context.Context, key string) (once.Record, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.objects[key], ctx.Err()
}

func (b *bucket) Put(_ context.Context, r once.Record) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.objects[r.Key].Version != r.Version-1 { // the condition of the write
		return once.ErrConflict
	}
	b.objects[r.Key] = r
	return nil
}

func (b *bucket) List(context.Context, ...once.State) ([]once.Record, error) {
	return nil, errors.ErrUnsupported // no Resume then, but Do and Step
}

// A store of your own takes three methods.
func ExampleStore() {
	svc := mintlifytest.NewService()
	runner, err := once.New(svc.Client(), &bucket{objects: map[string]once.Record{}}, once.WithSendTime(30*time.Second))
	if err != nil {
		fmt.Println(err)
		return
	}
	record, err := runner.Do(context.Background(), once.Task{Key: "acme/api@5907854", Prompt: "Document the flag --json."})
	fmt.Println(record.State, err)
	fmt.Println(runner.Resume(context.Background()))
	// Output:
	// done <nil>
	// once: the records cannot be listed: unsupported operation
}
