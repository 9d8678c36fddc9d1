package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"strings"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/cmd/internal/version"
	"github.com/mintlify-community/mintlify-go/internal/redact"
)

//go:embed usage.txt
var usageText string

// flagSet is the flags that a command takes. They are checked before the database is opened.
type flagSet interface {
	define(f *flag.FlagSet)
	check(line commandLine) error
}

// command is what a command line asks for.
type command interface {
	flagSet
	run(ctx context.Context) error
}

// tableCommand is a command that runs on a database that has its tables.
type tableCommand interface {
	flagSet
	run(ctx context.Context, s queue.Queue) error
}

// onTables runs a command on the database of the environment.
type onTables struct {
	p *program
	tableCommand
}

// run ends if the database does not answer. What counts all prompts has more time for a statement.
func (c onTables) run(ctx context.Context) error {
	list, isList := c.tableCommand.(*listCommand)
	_, isReport := c.tableCommand.(*reportCommand)
	c.p.statementLimit = c.p.patience
	if isReport || isList && list.since > 0 {
		c.p.statementLimit = 6 * c.p.patience
	}

	err := c.p.withStore(ctx, false, slog.LevelError, func(s queue.Queue) error { return c.tableCommand.run(ctx, s) })
	return database.ExplainSilence(err, c.p.statementLimit)
}

// entry is the line of a command in the table of commands.
type entry struct {
	name    string
	operand string // the argument that it takes besides flags; "" if none
	make    func(p *program) command
}

// commands returns all commands, in the order in which the usage and the errors name them.
func commands() []entry {
	return []entry{
		{name: "demo", make: func(p *program) command { return &demoCommand{program: p} }},
		{name: "init", make: func(p *program) command { return &initCommand{program: p} }},
		{name: "work", make: func(p *program) command { return &workCommand{program: p} }},
		{name: "serve", make: func(p *program) command { return newServeCommand(p) }},
		{name: "enqueue", make: func(p *program) command { return onTables{p, &enqueueCommand{program: p}} }},
		{name: "status", make: func(p *program) command { return onTables{p, &statusCommand{program: p}} }},
		{name: "list", make: func(p *program) command { return onTables{p, &listCommand{program: p}} }},
		{name: "show", operand: "KEY", make: func(p *program) command { return onTables{p, &showCommand{program: p}} }},
		{name: "report", make: func(p *program) command { return onTables{p, &reportCommand{program: p}} }},
		{name: "cancel", make: func(p *program) command { return onTables{p, &cancelCommand{program: p}} }},
		{name: "pause", make: func(p *program) command { return onTables{p, &pauseCommand{program: p}} }},
		{name: "resume", make: func(p *program) command { return onTables{p, &resumeCommand{program: p}} }},
		{name: "retry", make: func(p *program) command { return onTables{p, &retryCommand{program: p}} }},
		{name: "close", make: func(p *program) command { return onTables{p, &closeCommand{program: p}} }},
		{name: "forget", make: func(p *program) command { return onTables{p, &forgetCommand{program: p}} }},
	}
}

type commandLine struct {
	command string
	given   map[string]bool // flags by name; a flag that is given as false is not given
	operand string
}

// wantOne refuses anything but exactly one of the flags.
func (l commandLine) wantOne(names ...string) error {
	given := 0
	for _, name := range names {
		if l.given[name] {
			given++
		}
	}

	if given != 1 {
		return usage.Errorf("%s wants -%s", l.command, strings.Join(names, " or -"))
	}
	return nil
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
		fmt.Fprint(p.stderr, usageText)
		return usage.Errorf("which command?")
	}

	switch arguments[0] {
	case "version", "-version", "--version":
		fmt.Fprintln(p.stdout, version.String("fleet"))
		return nil
	case "help", "-h", "-help", "--help":
		fmt.Fprint(p.stdout, usageText)
		return nil
	}

	e, err := entryOf(arguments[0])
	if err != nil {
		return err
	}
	p.command = e.name

	c := e.make(p)
	line, err := p.parse(e, c, arguments[1:])
	if err != nil {
		return err
	}
	if err := c.check(line); err != nil {
		return err
	}
	return c.run(ctx)
}

func (p *program) parse(e entry, c command, arguments []string) (commandLine, error) {
	line := commandLine{command: e.name, given: map[string]bool{}}
	flags := flag.NewFlagSet(e.name, flag.ContinueOnError)
	c.define(flags)

	err := usage.Parse(flags, arguments)
	if errors.Is(err, flag.ErrHelp) {
		flags.SetOutput(p.stdout)
		flags.Usage()
		return line, err
	}
	if err != nil {
		return line, fmt.Errorf("%w; fleet %s -h lists its flags", err, e.name)
	}

	flags.Visit(func(f *flag.Flag) {
		getter, ok := f.Value.(flag.Getter)
		isFalse := ok && getter.Get() == false
		line.given[f.Name] = !isFalse
	})

	want := 0
	if e.operand != "" {
		want = 1
		line.operand = flags.Arg(0)
	}
	if flags.NArg() != want {
		return line, usage.Errorf("%s takes %d arguments besides its flags, not %d", e.name, want, flags.NArg())
	}
	return line, nil
}

// entryOf returns the command of a name, or an error that names them all.
func entryOf(name string) (entry, error) {
	var names []string
	for _, e := range commands() {
		if e.name == name {
			return e, nil
		}
		names = append(names, e.name)
	}

	last := len(names) - 1
	return entry{}, usage.Errorf("there is no command %q, want %s or %s; fleet -h says more",
		name, strings.Join(names[:last], ", "), names[last])
}

// noFlags is part of a command that takes none.
type noFlags struct{}

func (noFlags) define(*flag.FlagSet) {}

func (noFlags) check(commandLine) error { return nil }

// ofRepository says which prompts -repo means, in all commands.
const ofRepository = "owner/repo of the key, else of the first pull request"

// scope is what a command is about: a project, a repository, or all.
type scope struct {
	project, repository string
	all                 bool
}

func (s *scope) define(f *flag.FlagSet) {
	f.StringVar(&s.project, "project", "", "id of the project, from the dashboard")
	f.StringVar(&s.repository, "repo", "", ofRepository)
	f.BoolVar(&s.all, "all", false, "all projects")
}

// check wants one of the scope's flags, or of others.
func (s *scope) check(line commandLine, others ...string) error {
	if err := line.wantOne(append(others, "project", "repo", "all")...); err != nil {
		return err
	}
	return checkRepository(line, &s.repository)
}

func (s *scope) choice() database.Choice {
	return database.Choice{Project: s.project, Repository: s.repository}
}

// checkRepository refuses a -repo that is not a repository's name. It makes the name lower case.
func checkRepository(line commandLine, name *string) error {
	if line.given["repo"] && !database.RepositoryForm.MatchString(*name) {
		return usage.Errorf("-repo is %q, want owner/repo", redact.OneLine(*name, 150))
	}
	*name = database.FoldCase(*name)
	return nil
}

// initCommand makes the tables.
type initCommand struct {
	*program
	noFlags
}

func (c *initCommand) run(ctx context.Context) error {
	return c.withStore(ctx, true, slog.LevelWarn, func(queue.Queue) error {
		fmt.Fprintln(c.stdout, "the tables are there")
		return nil
	})
}
