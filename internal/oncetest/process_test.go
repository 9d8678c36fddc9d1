//go:build unix

package oncetest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/processtest"
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

// service is the fake on a socket, whose responses take some time.
func service(t *testing.T, delay time.Duration) (*mintlifytest.Service, string) {
	svc := mintlifytest.NewService()
	svc.FailNext(mintlify.OpCreateJob, 1000, mintlifytest.Fault{Delay: delay})
	s := httptest.NewServer(svc)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return svc, s.URL
}

func process(address, url string, keys ...string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.Command(os.Args[0], keys...)
	cmd.Env = append(os.Environ(), "ONCE_TEST_STORE="+address, "ONCE_TEST_SERVICE="+url)
	cmd.SysProcAttr = processtest.DyingWithParent()
	output := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = output, output
	return cmd, output
}

// acted returns how often the service acted on each key's prompt.
func acted(svc *mintlifytest.Service) map[string]int {
	n := map[string]int{}
	for _, request := range svc.Requests() {
		if key, ok := once.FindMarker(request.Prompt); ok && request.Acted {
			n[key]++
		}
	}
	return n
}

func TestEightProcessesAtOnceAreOneJob(t *testing.T) {
	eachStore(t, func(t *testing.T, address string) {
		svc, url := service(t, 100*time.Millisecond)
		var all sync.WaitGroup
		for range 8 {
			cmd, output := process(address, url, "acme/api@1", "acme/api@2")
			all.Go(func() { assert.NoError(t, cmd.Run(), output) })
		}
		all.Wait()
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
		cmd, output := process(address, url, "acme/api@1")
		cmd.Env = append(cmd.Env, "ONCE_TEST_FULL=1")
		require.Error(t, cmd.Run())
		t.Log(output)
		assert.Contains(t, output.String(), "once: acme/api@1: ")
		assert.Empty(t, svc.Requests())
		r, err := store.Get(t.Context(), "acme/api@1")
		require.NoError(t, err)
		assert.Zero(t, r)
		cmd, output = process(address, url, "acme/api@1")
		require.NoError(t, cmd.Run(), output)
		assert.Len(t, svc.Jobs(), 1)
	})
}

// TestKills kills processes that resume, at random moments, until nothing is open.
func TestKills(t *testing.T) {
	const keys, maxKills = 30, 15
	eachStore(t, func(t *testing.T, address string) {
		svc, url := service(t, 100*time.Millisecond)
		store := mustOpen(t, address)
		runner, err := once.New(nil, store)
		require.NoError(t, err)
		for i := range keys {
			_, _, err := runner.Add(t.Context(), once.Task{Key: fmt.Sprint("acme/api@", i), Prompt: "x"})
			require.NoError(t, err)
		}
		cut := map[string]bool{} // keys that were being sent when a process was killed
		kills := 0
		for kills < maxKills {
			cmd, output := process(address, url)
			require.NoError(t, cmd.Start())
			timer := time.AfterFunc(50*time.Millisecond+rand.N(300*time.Millisecond), func() { _ = cmd.Process.Kill() })
			err := cmd.Wait()
			timer.Stop()
			if err == nil {
				break
			}
			require.Contains(t, err.Error(), "killed", output.String())
			kills++
			sending, err := store.List(t.Context(), once.Sending)
			require.NoError(t, err)
			for _, r := range sending {
				cut[r.Key] = true
			}
		}
		cmd, output := process(address, url)
		require.NoError(t, cmd.Run(), output)

		all, err := store.List(t.Context())
		require.NoError(t, err)
		require.Len(t, all, keys, "none is lost")
		n, unknown := acted(svc), 0
		for _, r := range all {
			switch r.State {
			case once.Done:
				assert.Equal(t, 1, n[r.Key], r.Key)
			case once.Unknown:
				unknown++
				assert.LessOrEqual(t, n[r.Key], 1, r.Key)
				assert.True(t, cut[r.Key], "%s is unknown, though none was killed while it was sent", r.Key)
			default:
				t.Errorf("%s is %s: %s", r.Key, r.State, r.Problem)
			}
			assert.False(t, strings.Contains(fmt.Sprintf("%+v", r), mintlifytest.APIKey))
		}
		t.Logf("%d kills: %d done, %d unknown", kills, keys-unknown, unknown)
		assert.Positive(t, kills)
	})
}
