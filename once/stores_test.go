package once_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
	"github.com/mintlify-community/mintlify-go/once/oncetest"
)

func TestFilesOfADirectory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "state", "records[1]")
		dir, err := once.NewDir(path)
		require.NoError(t, err)
		w := newWorld(t, dir)
		w.do(task)
		folder := os.DirFS(filepath.Dir(path))
		files, err := fs.Glob(folder, "*/*/*")
		require.NoError(t, err)
		require.Len(t, files, 3, "a file for each version, and none left over")
		for _, file := range files {
			info, err := fs.Stat(folder, file)
			require.NoError(t, err)
			if runtime.GOOS != "windows" {
				assert.Equal(t, os.FileMode(0o600), info.Mode())
			}
			text, err := fs.ReadFile(folder, file)
			require.NoError(t, err)
			assert.NotContains(t, string(text), mintlifytest.APIKey)
			assert.Contains(t, string(text), `"prompt":"Document the flag --json"`)
		}
		require.NoError(t, os.WriteFile(filepath.Join(path, ".DS_Store"), nil, 0o600))
		all, err := dir.List(t.Context())
		require.NoError(t, err)
		assert.Len(t, all, 1)
	})
	_, err := once.NewDir("")
	require.EqualError(t, err, "once: mintlify: path is empty", "as of a variable that is not set")
}

func TestDamagedRecordIsNeverNone(t *testing.T) {
	for _, damage := range []string{"", "null", "{}", `{"key":"other","version":1,"state":"pending"}`, `{"key":"acme/api@5907854","version":7,"state":"pending"}`} {
		path := t.TempDir()
		dir, err := once.NewDir(path)
		require.NoError(t, err)
		w := newWorld(t, dir)
		w.add(task)
		files, err := fs.Glob(os.DirFS(path), "*/*.json")
		require.NoError(t, err)
		require.Len(t, files, 1)
		require.NoError(t, os.WriteFile(filepath.Join(path, files[0]), []byte(damage), 0o600))
		_, err = w.Do(t.Context(), task)
		require.ErrorContains(t, err, "damaged", damage)
		require.ErrorContains(t, w.Resume(t.Context()), "damaged")
		assert.Zero(t, w.posts())
	}
}

func TestStateOfANewerVersionIsLeftAlone(t *testing.T) {
	w := newWorld(t, oncetest.NewStore())
	require.NoError(t, w.store.Put(t.Context(), once.Record{Task: task, Version: 1, State: "reviewing"}))
	_, err := w.Do(t.Context(), task)
	require.ErrorContains(t, err, "reviewing")
	assert.Zero(t, w.posts())
}

// A public store leaves out the prompt: Do brings it along, Step cannot.
func TestPublicStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, publicStore())
		w.add(task)
		_, err := w.Step(t.Context(), key)
		require.ErrorIs(t, err, mintlify.ErrInvalidArgument)
		record := w.do(once.Task{Key: key, Prompt: "x", ProjectID: "project-2"})
		assert.Equal(t, once.Done, record.State)
		assert.Equal(t, 1, w.posts())
		for _, request := range w.svc.Requests() {
			assert.Equal(t, "project-2", request.ProjectID)
		}
	})
}

// Without a Problem on record, too, the error of an unknown record says to look first: SendAgain may
// make a second job.
func TestUnknownInAPublicStore(t *testing.T) {
	w := newWorld(t, publicStore())
	w.put(once.Record{Task: task, State: once.Unknown, Problem: "504"})

	_, err := w.Step(t.Context(), key)

	require.ErrorIs(t, err, mintlify.ErrOutcomeUnknown)
	cause, advice, _ := strings.Cut(err.Error(), "; ")
	assert.NotContains(t, cause, "SendAgain")
	assert.Regexp(t, "^look for .*"+once.Marker(key)+".*Adopt.*MarkDone.*SendAgain if there is none$", advice)

	w.put(once.Record{Task: task, State: once.Refused, Problem: "400"})
	_, err = w.Step(t.Context(), key)
	assert.ErrorContains(t, err, "SendAgain makes it pending", "no job can exist")
}

// What each step finds again is no change, although a public store shows no Problem.
func TestProblemInAPublicStoreIsStoredOnce(t *testing.T) {
	inBubble(t, "of a job", func(t *testing.T) {
		w := newWorld(t, publicStore())
		w.svc.AddJob("job_7", mintlifytest.JobStep{Status: "paused"})
		running := once.Record{Task: task, State: once.Running, JobID: "job_7", Deadline: time.Now()}
		w.put(running)
		w.runFor(w.Runner, 2*time.Hour)
		assert.Equal(t, 2, w.get(key).Version)
		assert.Equal(t, 1, strings.Count(w.log.String(), "level=WARN"))

		running.Sender = "another send"
		running.Deadline = time.Now()
		w.put(running)
		w.runFor(w.Runner, 2*time.Hour)
		assert.Equal(t, 4, w.get(key).Version)
		assert.Equal(t, 2, strings.Count(w.log.String(), "level=WARN"))
	})

	inBubble(t, "of a job whose link comes later", func(t *testing.T) {
		w := newWorld(t, publicStore())
		paused := mintlifytest.JobStep{Status: "paused"}
		linked := mintlifytest.JobStep{Status: "paused", PRLink: foundLink}
		w.svc.AddJob("job_7", stepsOf(paused, 100, linked)...)
		w.put(once.Record{Task: task, State: once.Running, JobID: "job_7", Deadline: time.Now()})
		c := &chat{}
		w.runFor(w.reporting(c), 2*time.Hour)
		assert.Empty(t, c.lines, "there is no Problem to tell")
		assert.Equal(t, foundLink, w.get(key).PRLink)
		assert.Equal(t, 3, w.get(key).Version, "the Problem, and the link")
	})

	inBubble(t, "of a follow-up that waits", func(t *testing.T) {
		w := newWorld(t, publicStore())
		w.add(task, comment)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()

		_, err := w.Do(ctx, comment)

		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "waits for "+key, "the caller gets it all the same")
		assert.Equal(t, 2, w.get(commentKey).Version)
	})
}

func TestBadCertificateIsPending(t *testing.T) {
	server := httptest.NewUnstartedServer(mintlifytest.NewService())
	server.Config.ErrorLog = nil
	server.StartTLS()
	defer server.Close()
	clients := map[bool]*http.Client{
		false: {Transport: mintlify.NewTransport()},
		true:  {Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}},
	}
	store := oncetest.NewStore()
	for _, trusted := range []bool{false, true} {
		client, err := mintlify.NewClient(mintlifytest.APIKey, mintlifytest.ProjectID, mintlify.WithBaseURL(server.URL),
			mintlify.WithHTTPClient(clients[trusted]), mintlify.WithWaitDefaults(mintlify.WithPollInterval(0, 0)))
		require.NoError(t, err)
		r, err := once.New(client, store)
		require.NoError(t, err)
		record, err := r.Do(t.Context(), task)
		if trusted {
			require.NoError(t, err)
			assert.Equal(t, 1, record.Sends, "before, asking failed")
			continue
		}
		require.Error(t, err)
		assert.Equal(t, once.Pending, record.State)

		step, err := r.Step(t.Context(), key)
		require.NoError(t, err)
		assert.InDelta(t, 5*time.Minute, step.Next, float64(time.Minute))
	}
}

// Others may have stored what was to be stored: a wait that several have ends in each.
func TestPollsBesideEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := oncetest.NewStore()
		store := &hooked{Store: memory}
		w := newWorld(t, store)
		store.put = func(ctx context.Context, r once.Record) error {
			if r.State == once.Done {
				store.put = nil
				require.NoError(t, memory.Put(ctx, r))
				return once.ErrConflict
			}
			return memory.Put(ctx, r)
		}
		record := w.do(task)
		assert.Equal(t, once.Done, record.State)
	})
}

func TestDecisionThatCameTooLateIsAConflict(t *testing.T) {
	w := newWorld(t, &hooked{Store: oncetest.NewStore()})
	w.add(task)
	w.store.(*hooked).put = func(context.Context, once.Record) error { return once.ErrConflict }
	_, err := w.Cancel(t.Context(), key)
	require.ErrorIs(t, err, once.ErrConflict)
	w.store.(*hooked).put = func(context.Context, once.Record) error { return errors.New("down") }
	record, added, err := w.Add(t.Context(), once.Task{Key: "b", Prompt: "x"})
	require.ErrorContains(t, err, "down")
	assert.False(t, added)
	assert.Empty(t, record.State)
}

// A store whose reads lag behind, such as a replica, loses no id either.
func TestReadsThatLagBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := oncetest.NewStore()
		store := &hooked{Store: memory}
		var stale once.Record
		var until time.Time
		store.get = func(ctx context.Context, key string) (once.Record, error) {
			if time.Now().Before(until) {
				return stale, nil
			}
			return memory.Get(ctx, key)
		}
		store.put = func(ctx context.Context, r once.Record) error {
			stale, _ = memory.Get(ctx, r.Key)
			until = time.Now().Add(10 * time.Second)
			return memory.Put(ctx, r)
		}
		w := newWorld(t, store)
		record := w.do(task)
		assert.Equal(t, "job_1", record.JobID)
		assert.Equal(t, 1, w.posts())
		assert.NotContains(t, w.log.String(), "level=ERROR")
	})
}

// A process without a key stores nothing that one with a key would refuse.
func TestWithoutAClientProjectsAndIDsAreChecked(t *testing.T) {
	runner, err := once.New(nil, oncetest.NewStore())
	require.NoError(t, err)
	_, added, err := runner.Add(t.Context(), once.Task{Key: "k", Prompt: "p", ProjectID: "mint_abcdefgh"})
	assert.ErrorIs(t, err, mintlify.ErrInvalidArgument)
	assert.False(t, added)
	_, _, err = runner.Add(t.Context(), once.Task{Key: "k", Prompt: "p", ProjectID: "acme"})
	require.NoError(t, err)
	for _, id := range []string{"", " ", ".", "..", "a/b", "a b"} {
		_, err = runner.Adopt(t.Context(), "k", id)
		assert.ErrorIs(t, err, mintlify.ErrInvalidArgument, "%q", id)
	}
}
