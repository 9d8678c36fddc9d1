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

// demo commits a change in a temporary repository and runs the program for it three
// times, as steps of GitHub Actions, on fakes of GitHub and of the service.
func (p *program) demo(ctx context.Context) int {
	dir, err := os.MkdirTemp("", "docs-on-merge-demo-")
	if err != nil {
		return p.report(result{}, err)
	}
	defer os.RemoveAll(dir)
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
		os.Remove(environment["GITHUB_OUTPUT"]) // each step has its own
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
	err := os.WriteFile(filepath.Join(dir, "json.go"), []byte(code), 0o644)
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"add", "json.go"},
		{"-c", "user.name=Demo", "-c", "user.email=demo@example.com", "commit", "--quiet", "--message=Add the flag --json"},
	} {
		if err == nil {
			_, err = git{dir}.run(ctx, args...)
		}
	}
	return err
}
