// Package programs measures what the programs of examples/ cost. Each is a process of
// its own, and talks to the fake service over a socket.
package programs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// Row is what a program takes for something.
type Row struct{ What, Takes string }

// Table is the rows in Markdown.
func Table(rows []Row) string {
	var b strings.Builder
	b.WriteString("| what | takes |\n|---|---|\n")
	for _, row := range rows {
		fmt.Fprintf(&b, "| %s | %s |\n", row.What, row.Takes)
	}
	return b.String()
}

// Measure builds the programs of the repository in root and measures them.
func Measure(ctx context.Context, root string) (rows []Row, err error) {
	dir, err := os.MkdirTemp("", "programs")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for _, measure := range []func(ctx context.Context, root, dir string) ([]Row, error){docsOnMerge, visitorsReport} {
		measured, err := measure(ctx, root, dir)
		if err != nil {
			return nil, err
		}
		rows = append(rows, measured...)
	}
	return rows, nil
}

// build builds the program in folder, of the module there, and returns its path.
func build(ctx context.Context, dir, module, folder string) (string, error) {
	program := filepath.Join(dir, filepath.Base(folder))
	return program, run(exec.CommandContext(ctx, "go", "build", "-C", module, "-o", program, folder))
}

func run(command *exec.Cmd) error {
	_, err := command.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%s: %w: %s", command, err, exit.Stderr)
	}
	return err
}

// watched is the fake service on a socket, which notes when its first request came.
type watched struct {
	*mintlifytest.Service
	*httptest.Server

	mu    sync.Mutex
	first time.Time
}

func watch() *watched {
	w := &watched{Service: mintlifytest.NewService()}
	w.Server = httptest.NewServer(w)
	return w
}

// ServeHTTP implements [http.Handler].
func (w *watched) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	if w.first.IsZero() {
		w.first = time.Now()
	}
	w.mu.Unlock()
	w.Service.ServeHTTP(rw, r)
}

func (w *watched) firstRequest() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.first
}

// run runs a program against the service, in dir, as its home too.
func (w *watched) run(ctx context.Context, dir, program string, args ...string) error {
	command := exec.CommandContext(ctx, program, args...)
	command.Dir = dir
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir,
		"MINTLIFY_API_KEY=" + mintlifytest.APIKey, "MINTLIFY_PROJECT_ID=" + mintlifytest.ProjectID, "MINTLIFY_BASE_URL=" + w.URL}
	err := run(command)
	return err
}
