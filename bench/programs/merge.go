package programs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/mintlify-community/mintlify-go/bench/figures"
)

const merges = 11 // runs of docs-on-merge, each for a merge of its own

// docsOnMerge measures the time from the start of the process to the first request,
// which tells the agent what was merged.
func docsOnMerge(ctx context.Context, root, dir string) ([]Row, error) {
	program, err := build(ctx, dir, root, "./examples/docs-on-merge")
	if err != nil {
		return nil, err
	}
	repository := filepath.Join(dir, "repository")
	if err := commits(ctx, repository, merges+1); err != nil {
		return nil, err
	}
	var took []float64
	for i := range merges {
		w := watch()
		start := time.Now()
		err := w.run(ctx, repository, program, "-no-wait", "-state", filepath.Join(dir, "state"), "-head", fmt.Sprintf("HEAD~%d", i))
		w.Close()
		if err != nil {
			return nil, err
		}
		if len(w.Jobs()) != 1 {
			return nil, errors.New("docs-on-merge made no job")
		}
		took = append(took, w.firstRequest().Sub(start).Seconds())
	}
	median, _ := figures.Median(took)
	return []Row{{
		"docs-on-merge, from its start to its first request, git's share included",
		fmt.Sprintf("%.0f ms (%.0f to %.0f)", 1000*median, 1000*slices.Min(took), 1000*slices.Max(took)),
	}}, nil
}

// commits makes a repository with n commits.
func commits(ctx context.Context, repository string, n int) error {
	git := func(args ...string) error {
		args = append([]string{"-C", repository, "-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false"}, args...)
		err := run(exec.CommandContext(ctx, "git", args...))
		return err
	}
	err := os.MkdirAll(repository, 0o755)
	if err == nil {
		err = git("init", "-q")
	}
	for i := 0; i < n && err == nil; i++ {
		err = os.WriteFile(filepath.Join(repository, "cli.go"), fmt.Appendf(nil, "package cli // %d\n", i), 0o644)
		if err == nil {
			err = git("add", "cli.go")
		}
		if err == nil {
			err = git("commit", "-q", "-m", fmt.Sprint("Add flag ", i))
		}
	}
	return err
}
