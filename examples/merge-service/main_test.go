package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
)

const merge = `{"repository": "acme/api", "commit": "5907854", "title": "Add --json", "description": "It prints JSON."}`

// start returns a service on store, and the texts that its chat got.
func start(t *testing.T, svc *mintlifytest.Service, store once.Store) (s *service, texts *[]string) {
	t.Helper()
	texts = new([]string)
	s = &service{token: "secret", chat: func(text string) error {
		*texts = append(*texts, text)
		return errors.New("the chat is down, which stops nothing")
	}}
	var err error
	s.runner, err = once.New(svc.Client(mintlifytest.WithRealSchedule()), store, once.WithOnChange(s.tell))
	require.NoError(t, err)
	return s, texts
}

func (s *service) post(token, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/merge", strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	s.merge(w, r)
	return w
}

func TestMergeDeliveredTwiceIsOneJobAndOneLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		store, err := once.NewDir(t.TempDir())
		require.NoError(t, err)
		s, texts := start(t, svc, store)
		ctx, cancel := context.WithCancel(t.Context())
		stopped := make(chan struct{})
		go func() { s.work(ctx); close(stopped) }()
		synctest.Wait()
		for range 2 {
			w := s.post("secret", merge)
			assert.Equal(t, http.StatusAccepted, w.Code)
			time.Sleep(time.Minute)
		}
		cancel()
		<-stopped
		assert.Len(t, svc.Jobs(), 1)
		assert.Equal(t, []string{"Docs for acme/api@5907854: done https://github.com/example/docs/pull/1"}, *texts)
		assert.Contains(t, svc.Requests()[1].Prompt, "It prints JSON.")
		assert.Equal(t, "done https://github.com/example/docs/pull/1\n", s.post("secret", merge).Body.String())
	})
}

func TestServiceThatIsStoppedGoesOnAtItsNextStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc, store := mintlifytest.NewService(), once.NewMemory()
		svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Delay: 20 * time.Second})
		s, texts := start(t, svc, store)
		require.Equal(t, http.StatusAccepted, s.post("secret", merge).Code)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // during the send
		defer cancel()
		s.work(ctx)
		assert.Empty(t, *texts)

		s, texts = start(t, svc, store)
		ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		s.work(ctx)
		assert.Len(t, *texts, 1)
		assert.Len(t, svc.Jobs(), 1)
	})
}

func TestPersonIsToldOfALostResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Drop: true})
		s, texts := start(t, svc, once.NewMemory())
		s.post("secret", merge)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		s.work(ctx)
		require.Len(t, *texts, 1)
		assert.Contains(t, (*texts)[0], "acme/api@5907854: unknown")
	})
}

func TestWhatIsRefused(t *testing.T) {
	svc, store := mintlifytest.NewService(), once.NewMemory()
	s, _ := start(t, svc, store)
	for name, test := range map[string]struct {
		token, body string
		status      int
	}{
		"wrong token":    {"guess", merge, 401},
		"not JSON":       {"secret", "repository=acme/api", 400},
		"no commit":      {"secret", `{"repository": "acme/api"}`, 400},
		"white space":    {"secret", `{"repository": "acme api", "commit": "1"}`, 400},
		"2 MiB":          {"secret", `{"title": "` + strings.Repeat("x", 2<<20) + `"}`, 400},
		"the agent's PR": {"secret", `{"repository": "acme/docs", "commit": "2", "description": "Adds it.\n\n` + once.Marker("acme/api@1") + `"}`, 200},
	} {
		assert.Equal(t, test.status, s.post(test.token, test.body).Code, name)
	}
	all, err := store.List(t.Context())
	require.NoError(t, err)
	assert.Empty(t, all)
}

func TestCommandLine(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "merge-service")
	build, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput()
	require.NoError(t, err, "%s", build)
	for args, want := range map[string]struct {
		code int
		says string
	}{
		"":     {2, "MINTLIFY_API_KEY"},
		"-h":   {0, "MERGE_TOKEN"},
		"-x":   {2, "-x"},
		"demo": {2, `unexpected argument "demo"`},
	} {
		command := exec.Command(binary, strings.Fields(args)...)
		command.Env = []string{}
		said, _ := command.CombinedOutput()
		assert.Equal(t, want.code, command.ProcessState.ExitCode(), args)
		assert.Contains(t, string(said), want.says)
	}
}

func TestPost(t *testing.T) {
	var got string
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = string(body)
		w.WriteHeader(status)
	}))
	defer server.Close()
	require.NoError(t, post(server.URL, "hello"))
	assert.JSONEq(t, `{"text":"hello"}`, got)
	status = http.StatusForbidden
	require.ErrorContains(t, post(server.URL, "hello"), "403")
	server.Close()
	require.Error(t, post(server.URL, "hello"))
}
