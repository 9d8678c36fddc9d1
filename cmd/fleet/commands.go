package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"strings"

	"github.com/mintlify-community/mintlify-go/cmd/internal/version"
)

//go:embed usage.txt
var usage string

// command is one of the program's commands.
type command struct {
	name    string
	hidden  bool     // a process of the demo, which no user starts
	flags   []string // the names of the flags that it takes
	operand string   // the argument that it takes besides flags; "" if none

	// check refuses flags before the database is opened. Nil allows all.
	check func(*program) error

	// run does the work. If it is nil, onRows does, on a database that has its tables.
	run    func(*program, context.Context) error
	onRows func(*program, context.Context, store) error
}

// commands returns all commands, in the order in which the usage and the errors name them.
func commands() []command {
	work := []string{"n", "send-time", "poll-only", "pause-min", "pause-max", "admin-addr", "log-format"}
	serve := append([]string{"addr", "project", "projects", "skip-author", "priority"}, work...)
	enqueue := []string{"key", "project", "prompt", "pull", "priority", "after", "stdin"}
	retry := []string{"key", "state", "project", "again", "job", "yes"}

	return []command{
		{name: "demo", run: (*program).demo},
		{name: "demo-worker", hidden: true, run: (*program).demoWorker},
		{name: "init", run: (*program).init},
		{name: "work", flags: work, run: (*program).work},
		{name: "serve", flags: serve, run: (*program).serve},
		{name: "enqueue", flags: enqueue, check: (*program).checkEnqueue, onRows: (*program).enqueue},
		{name: "status", flags: []string{"json"}, onRows: (*program).status},
		{
			name:   "list",
			flags:  []string{"state", "project", "repo", "since", "json"},
			check:  (*program).checkList,
			onRows: (*program).list,
		},
		{name: "show", operand: "KEY", onRows: (*program).show},
		{
			name:   "cancel",
			flags:  []string{"key", "project", "all", "yes"},
			check:  func(p *program) error { return p.wantOne("key", "project", "all") },
			onRows: (*program).cancel,
		},
		{
			name:   "pause",
			flags:  []string{"project", "all"},
			check:  func(p *program) error { return p.wantOne("project", "all") },
			onRows: (*program).pause,
		},
		{
			name:   "resume",
			flags:  []string{"project", "all"},
			check:  func(p *program) error { return p.wantOne("project", "all") },
			onRows: (*program).resume,
		},
		{name: "retry", flags: retry, check: (*program).checkRetry, onRows: (*program).retry},
		{name: "close", flags: []string{"key", "pr"}, check: (*program).checkClose, onRows: (*program).closePrompt},
	}
}

// run runs the command that the arguments name. It fails if the output cannot be written to stdout.
func (p *program) run(ctx context.Context, arguments []string) error {
	out := &output{Writer: p.stdout}
	p.stdout = out
	err := p.runCommand(ctx, arguments)

	succeeded := err == nil || errors.Is(err, flag.ErrHelp)
	if succeeded && out.err != nil {
		return fmt.Errorf("write to stdout: %w", out.err)
	}
	return err
}

func (p *program) runCommand(ctx context.Context, arguments []string) error {
	if len(arguments) == 0 {
		fmt.Fprint(p.stderr, usage)
		return usageError("which command?")
	}

	switch arguments[0] {
	case "version", "-version", "--version":
		fmt.Fprintln(p.stdout, version.String("fleet"))
		return nil
	case "help", "-h", "-help", "--help":
		fmt.Fprint(p.stdout, usage)
		return nil
	}

	c, err := commandOf(arguments[0])
	if err != nil {
		return err
	}
	if err := p.parse(c, arguments[1:]); err != nil {
		return err
	}

	if c.run != nil {
		return c.run(p, ctx)
	}
	return p.withStore(ctx, false, slog.LevelError, func(s store) error { return c.onRows(p, ctx, s) })
}

// commandOf returns the command of a name, or an error that names them all.
func commandOf(name string) (command, error) {
	var names []string
	for _, c := range commands() {
		if c.name == name {
			return c, nil
		}
		if !c.hidden {
			names = append(names, c.name)
		}
	}

	last := len(names) - 1
	return command{}, usageError("there is no command %q, want %s or %s; fleet -h says more",
		name, strings.Join(names[:last], ", "), names[last])
}

// init makes the tables.
func (p *program) init(ctx context.Context) error {
	return p.withStore(ctx, true, slog.LevelWarn, func(store) error {
		fmt.Fprintln(p.stdout, "the tables are there")
		return nil
	})
}
