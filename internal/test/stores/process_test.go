//go:build unix

package stores

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/processes"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
)

const sendTime = 2 * time.Second

func TestMain(m *testing.M) {
	if address := os.Getenv("ONCE_TEST_STORE"); address != "" {
		if err := work(address, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	server.Close()
	os.Exit(code)
}

// work is a process: it does the keys that are its arguments, or resumes if there are none.
func work(address string, keys []string) error {
	ctx := context.Background()
	store, err := open(ctx, address)
	if err != nil {
		return err
	}
	if os.Getenv("ONCE_TEST_FULL") != "" {
		signal.Ignore(syscall.SIGXFSZ) // so that a write fails instead
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 10, Max: 10}); err != nil {
			return err
		}
	}
	client, err := mintlify.NewClient(mintlifytest.APIKey, mintlifytest.ProjectID, mintlify.WithBaseURL(os.Getenv("ONCE_TEST_SERVICE")),
		mintlify.WithWaitDefaults(mintlify.WithPollInterval(50*time.Millisecond, 200*time.Millisecond)))
	if err != nil {
		return err
	}
	runner, err := once.New(client, store, once.WithSendTime(sendTime))
	if err != nil {
		return err
	}
	for _, key := range keys {
		if _, err := runner.Do(ctx, once.Task{Key: key, Prompt: "x"}); err != nil {
			return err
		}
	}
	if len(keys) > 0 {
		return nil
	}
	return runner.Resume(ctx)
}

// service is the fake on a socket, whose responses take some time if delay is not 0.
func service(t *testing.T, delay time.Duration) (*mintlifytest.Service, string) {
	svc := mintlifytest.NewService()
	if delay > 0 {
		svc.FailNext(mintlify.OpCreateJob, 1000, mintlifytest.Fault{Delay: delay})
		svc.FailNext(mintlify.OpSendMessage, 1000, mintlifytest.Fault{Delay: delay})
	}

	s := httptest.NewServer(svc)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return svc, s.URL
}

// start starts this program as one that sends the prompts of keys, or all that are open.
func start(t *testing.T, address, url string, keys ...string) *processes.Run {
	t.Helper()
	return startWith(t, nil, address, url, keys...)
}

func startWith(t *testing.T, env []string, address, url string, keys ...string) *processes.Run {
	t.Helper()
	cmd := processes.Self(t, keys...)
	cmd.Env = append(os.Environ(), "ONCE_TEST_STORE="+address, "ONCE_TEST_SERVICE="+url)
	cmd.Env = append(cmd.Env, env...)
	return processes.Start(t, cmd)
}

// acted returns how often the service acted on each key's prompt. A follow-up's is its key.
func acted(svc *mintlifytest.Service) map[string]int {
	n := map[string]int{}
	for _, request := range svc.Requests() {
		if !request.Acted || request.Prompt == "" {
			continue
		}
		key, ok := once.FindMarker(request.Prompt)
		if !ok {
			key = request.Prompt
		}
		n[key]++
	}
	return n
}

func TestEightProcessesAtOnceAreOneJob(t *testing.T) {
	eachStore(t, func(t *testing.T, address string) {
		svc, url := service(t, 100*time.Millisecond)
		var runs []*processes.Run
		for range 8 {
			runs = append(runs, start(t, address, url, "acme/api@1", "acme/api@2"))
		}
		for _, run := range runs {
			assert.NoError(t, run.Wait(), run.Output)
		}
		assert.Equal(t, map[string]int{"acme/api@1": 1, "acme/api@2": 1}, acted(svc))
	})
}

// A disk without room for a record: nothing is sent.
func TestFullDisk(t *testing.T) {
	eachStore(t, func(t *testing.T, address string) {
		if strings.HasPrefix(address, "postgres://") {
			t.Skip("another process writes")
		}
		svc, url := service(t, 0)
		store := mustOpen(t, address)
		run := startWith(t, []string{"ONCE_TEST_FULL=1"}, address, url, "acme/api@1")
		require.Error(t, run.Wait())
		t.Log(run.Output)
		assert.Contains(t, run.Output.String(), "once: acme/api@1: ")
		assert.Empty(t, acted(svc))
		r, err := store.Get(t.Context(), "acme/api@1")
		require.NoError(t, err)
		assert.Zero(t, r)
		run = start(t, address, url, "acme/api@1")
		require.NoError(t, run.Wait(), run.Output)
		assert.Len(t, svc.Jobs(), 1)
	})
}

const rounds, maxKills = 8, 15

// TestKills kills processes that resume, at random moments, until nothing is open.
func TestKills(t *testing.T) {
	eachStore(t, func(t *testing.T, address string) {
		t.Parallel() // polls ignore the end of a job for 30 s after a message
		svc, url := service(t, 100*time.Millisecond)
		store := mustOpen(t, address)
		addTasks(t, svc, store)

		interrupted, kills := killProcesses(t, store, address, url)
		run := start(t, address, url)
		err := run.Wait()
		if err != nil { // follow-ups behind an unknown record
			require.Contains(t, run.Output.String(), "which is unknown")
		}

		all, err := store.List(t.Context())
		require.NoError(t, err)
		require.Len(t, all, 4*rounds, "none is lost")
		states := map[string]once.State{}
		for _, r := range all {
			states[r.Key] = r.State
		}
		sent, unknown, lost, messages := acted(svc), 0, 0, 0
		for _, r := range all {
			assert.NotContains(t, fmt.Sprintf("%+v", r), mintlifytest.APIKey)
			switch r.State {
			case once.Done:
				assert.LessOrEqual(t, sent[r.Key], 1, r.Key)
				if r.Sends > 0 {
					assert.Equal(t, 1, sent[r.Key], r.Key)
				}
			case once.Unknown:
				unknown++
				if r.After != "" {
					lost++
				}
				assert.LessOrEqual(t, sent[r.Key], 1, r.Key)
				assert.True(t, interrupted[r.Key], "%s is unknown, though none was killed while it was sent", r.Key)
			default:
				assert.Equal(t, once.Unknown, states[r.After], "%s is %s: %s", r.Key, r.State, r.Problem)
				assert.Zero(t, sent[r.Key])
			}
			if r.After != "" {
				messages += sent[r.Key]
			}
		}
		t.Logf("%d kills: %d unknown, %d of them follow-ups, %d messages", kills, unknown, lost, messages)
		assert.Positive(t, kills)
		assert.Positive(t, messages)
	})
}

// addTasks adds in turn a new job, a follow-up of it, and a follow-up of a job that is done.
func addTasks(t *testing.T, svc *mintlifytest.Service, store once.Store) {
	t.Helper()
	runner, err := once.New(nil, store)
	require.NoError(t, err)
	add := func(key, prompt, after string) {
		_, _, err := runner.Add(t.Context(), once.Task{Key: key, Prompt: prompt, After: after})
		require.NoError(t, err)
	}

	for i := range rounds {
		first := fmt.Sprint("acme/api@", i)
		add(first, "x", "")
		add(first+"#1", first+"#1", first)

		done := fmt.Sprint("acme/done@", i)
		jobID := fmt.Sprint("job_done_", i)
		svc.AddJob(jobID, mintlifytest.JobStep{Status: mintlify.JobCompleted})
		record := once.Record{Task: once.Task{Key: done, Prompt: "x"}, Version: 1, State: once.Done, JobID: jobID, UpdatedAt: time.Now().UTC()}
		require.NoError(t, store.Put(t.Context(), record))
		add(done+"#1", done+"#1", done)
	}
}

// killProcesses returns the keys that were being sent when a process was killed, and how many
// were.
func killProcesses(t *testing.T, store once.Store, address, url string) (interrupted map[string]bool, kills int) {
	t.Helper()
	interrupted = map[string]bool{}
	for kills < maxKills {
		run := start(t, address, url)
		if !run.KillAfter(50*time.Millisecond + rand.N(400*time.Millisecond)) {
			require.NoError(t, run.Wait(), run.Output)
			break
		}
		kills++

		sending, err := store.List(t.Context(), once.Sending)
		require.NoError(t, err)
		for _, r := range sending {
			interrupted[r.Key] = true
		}
	}
	return interrupted, kills
}
