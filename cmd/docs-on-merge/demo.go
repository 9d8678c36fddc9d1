package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

const demoFile = "package cli\n\n// JSON is the flag --json.\nvar JSON bool\n"

// demo commits a change in a temporary repository and runs the program for it three times,
// on a fake of the service.
func (p *program) demo(ctx context.Context) int {
	p.step.Printf("Demo: a fake of the service inside this program. No prompt leaves it.")
	dir, err := os.MkdirTemp("", "docs-on-merge-demo-")
	if err != nil {
		return p.report(change{}, result{err: err})
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the system tidies its folder, too

	g := git{dir: dir, env: isolatedEnv(dir), exec: p.git.exec}
	if err := g.commitDemo(ctx); err != nil {
		return p.report(change{}, result{err: err})
	}

	service := mintlifytest.NewService()
	pace := mintlify.WithWaitDefaults(mintlify.WithPollInterval(time.Second, time.Second))
	step := *p.step
	step.Dir = dir
	step.Demo = false
	step.Getenv = func(string) string { return "" }
	step.Connect = func(opts ...mintlify.Option) (*mintlify.Client, error) {
		return service.Client(append(opts, pace)...), nil
	}

	for _, args := range [][]string{{"-dry-run"}, {}, {}} {
		line := strings.Join(append([]string{"== docs-on-merge"}, args...), " ")
		fmt.Fprintf(p.step.Stderr, "\n%s\n", line)
		args = append(args, "-state", filepath.Join(dir, "state"), "-repository", "example/cli")
		run := &program{step: &step, git: g, sendTime: p.sendTime}
		if code := run.run(ctx, args); code != 0 {
			return code
		}
	}

	fmt.Fprintf(p.step.Stderr, "\n== Jobs made in all: %d\n", len(service.Jobs()))
	return 0
}

// commitDemo makes a repository of one commit.
func (g git) commitDemo(ctx context.Context) error {
	if err := os.WriteFile(filepath.Join(g.dir, "json.go"), []byte(demoFile), 0o600); err != nil {
		return err
	}

	g.run(ctx, "init", "--quiet", "--template=")
	g.run(ctx, "add", "json.go")
	g.run(ctx, "commit", "--quiet", "--no-gpg-sign", "--message=Add the flag --json")
	return g.err
}
