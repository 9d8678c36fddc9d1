package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// demo commits a change in a temporary repository and runs the program for it three times,
// on a fake of the service.
func (p *program) demo(ctx context.Context) int {
	p.step.Printf("Demo: a fake of the service inside this program. No prompt leaves it.")
	dir, err := os.MkdirTemp("", "docs-on-merge-demo-")
	if err != nil {
		return p.report(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the system tidies its folder, too
	err = os.WriteFile(filepath.Join(dir, "json.go"), []byte("package cli\n\n// JSON is the flag --json.\nvar JSON bool\n"), 0o600)
	g := git{dir, p.git.output, err}
	g.run(ctx, "init", "--quiet")
	g.run(ctx, "add", "json.go")
	if g.run(ctx, "commit", "--quiet", "--no-gpg-sign", "--message=Add the flag --json"); g.err != nil {
		return p.report(g.err)
	}
	service, step := mintlifytest.NewService(), *p.step
	step.Dir, step.Demo, step.Getenv = dir, false, func(string) string { return "" }
	step.Connect = func(opts ...mintlify.Option) (*mintlify.Client, error) {
		return service.Client(append(opts, mintlify.WithWaitDefaults(mintlify.WithPollInterval(time.Second, time.Second)))...), nil
	}
	for _, args := range [][]string{{"-dry-run"}, {}, {}} {
		fmt.Fprintf(p.step.Stderr, "\n== docs-on-merge %v\n", args)
		args = append(args, "-state", filepath.Join(dir, "state"), "-repository", "example/cli")
		if code := (&program{step: &step, git: g, sendTime: p.sendTime}).run(ctx, args); code != 0 {
			return code
		}
	}
	fmt.Fprintf(p.step.Stderr, "\n== Jobs made in all: %d\n", len(service.Jobs()))
	return 0
}
