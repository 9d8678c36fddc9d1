package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// demo commits a change in a temporary repository and runs the program for it three
// times, on a fake of the service and with the record in a directory.
func (p *program) demo(ctx context.Context) int {
	p.step.Printf("Demo: a fake of the service inside this program. No prompt leaves it.")
	dir, err := os.MkdirTemp("", "docs-on-merge-demo-")
	if err == nil {
		defer func() { _ = os.RemoveAll(dir) }()
		err = demoRepository(ctx, dir)
	}
	if err != nil {
		return p.report(result{}, err)
	}
	service := mintlifytest.NewService()
	files := map[string]string{"GITHUB_OUTPUT": filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary.md")}
	step := &ci.Step{Name: p.step.Name, Dir: dir, Getenv: func(name string) string { return files[name] }, Stdout: p.step.Stdout, Stderr: p.step.Stderr,
		Connect: func(opts ...mintlify.Option) (*mintlify.Client, error) {
			pace := mintlify.WithWaitDefaults(mintlify.WithPollInterval(time.Second, time.Second))
			return service.Client(append(opts, pace)...), nil
		}}
	for _, args := range [][]string{{"-dry-run"}, {}, {}} {
		_ = os.Remove(files["GITHUB_OUTPUT"]) // each step has its own
		fmt.Fprintf(p.step.Stderr, "\n== docs-on-merge %v\n", args)
		again := &program{step: step, sendTime: p.sendTime}
		if code := again.run(ctx, append(args, "-state", filepath.Join(dir, "state"), "-repository", "example/cli")); code != 0 {
			return code
		}
	}
	outputs, _ := os.ReadFile(files["GITHUB_OUTPUT"])
	fmt.Fprintf(p.step.Stderr, "\n== Outputs of the last step\n%s\n== Jobs made in all: %d\n", outputs, len(service.Jobs()))
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
	g.run(ctx, "-c", "user.name=Demo", "-c", "user.email=demo@example.com", "-c", "commit.gpgSign=false", "commit", "--quiet", "--message=Add the flag --json")
	return g.err
}
