package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// demo commits a change in a temporary repository and runs the program for it three
// times, as steps of GitHub Actions, on fakes of GitHub and of the service.
func (p *program) demo(ctx context.Context) int {
	dir, err := os.MkdirTemp("", "docs-on-merge-demo-")
	if err != nil {
		return p.report(result{}, err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := demoRepository(ctx, dir); err != nil {
		return p.report(result{}, err)
	}
	service := mintlifytest.NewService()
	environment := map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "example/cli", "GITHUB_TOKEN": "token-of-the-demo",
		"GITHUB_OUTPUT": filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary.md"),
	}
	step := &program{getenv: func(name string) string { return environment[name] }, dir: dir, stdout: p.stdout, stderr: p.stderr, pace: p.pace,
		forge: &forge{statuses: map[string][]status{}},
		connect: func() (*mintlify.Client, error) {
			return service.Client(mintlify.WithWaitDefaults(mintlify.WithPollInterval(time.Second, time.Second))), nil
		}}
	for _, args := range [][]string{{"-dry-run"}, {}, {}} {
		_ = os.Remove(environment["GITHUB_OUTPUT"]) // each step has its own
		fmt.Fprintf(p.stderr, "\n== docs-on-merge %v\n", args)
		if code := step.run(ctx, args); code != 0 {
			return code
		}
	}
	outputs, _ := os.ReadFile(environment["GITHUB_OUTPUT"])
	summaries, _ := os.ReadFile(environment["GITHUB_STEP_SUMMARY"])
	fmt.Fprintf(p.stderr, "\n== Outputs of the last step\n%s\n== Summary\n%s\n== Jobs made in all: %d\n", outputs, summaries, len(service.Jobs()))
	return 0
}

func demoRepository(ctx context.Context, dir string) error {
	const code = "package cli\n\n// JSON is the flag --json.\nvar JSON bool\n"
	if err := os.WriteFile(filepath.Join(dir, "json.go"), []byte(code), 0o644); err != nil {
		return err
	}
	g := &git{dir: dir}
	g.run(ctx, "init", "--quiet")
	g.run(ctx, "add", "json.go")
	g.run(ctx, "-c", "user.name=Demo", "-c", "user.email=demo@example.com", "commit", "--quiet", "--message=Add the flag --json")
	return g.err
}

// forge is a fake of GitHub's API, as far as this program uses it: the statuses and the
// pull requests of commits.
type forge struct {
	mu       sync.Mutex
	statuses map[string][]status // by commit, the newest first
	pulls    []pullRequest       // of every commit
}

// RoundTrip responds in memory.
func (f *forge) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Context().Err() != nil {
		return nil, r.Context().Err()
	}
	recorder := httptest.NewRecorder()
	f.ServeHTTP(recorder, r)
	return recorder.Result(), nil
}

// ServeHTTP responds as GitHub does.
func (f *forge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var code, body = http.StatusNotFound, any(map[string]string{"message": "Not Found"})
	parts := strings.Split(r.URL.Path, "/") // "", repos, owner, name, ...
	switch what := r.Method + " " + parts[len(parts)-1]; {
	case what == "GET statuses" && len(parts) == 7:
		size, _ := strconv.Atoi(r.URL.Query().Get("per_page"))
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		all := f.statuses[parts[5]]
		from := min(max(page-1, 0)*size, len(all))
		code, body = http.StatusOK, all[from:min(from+size, len(all))]
	case what == "GET pulls" && len(parts) == 7:
		code, body = http.StatusOK, f.pulls
	case r.Method == http.MethodPost && len(parts) == 6 && parts[4] == "statuses":
		s := status{CreatedAt: time.Now().UTC().Truncate(time.Second)}
		code, body = http.StatusUnprocessableEntity, map[string]string{"message": "Validation Failed"}
		if err := json.NewDecoder(r.Body).Decode(&s); err == nil && len(s.Description) <= maxDescription {
			s.ID = int64(len(f.statuses[parts[5]]) + 1)
			f.statuses[parts[5]] = slices.Insert(f.statuses[parts[5]], 0, s)
			code, body = http.StatusCreated, s
		}
	}
	w.Header().Set("Date", time.Now().UTC().Format(http.TimeFormat))
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}
