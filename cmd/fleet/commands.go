package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/github"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/cmd/internal/version"
	"github.com/mintlify-community/mintlify-go/once"
)

//go:embed usage.txt
var usageText string

// command is a line of the table of commands.
type command struct {
	name     string
	operands int // that it takes besides flags

	// flags names the common flags that it takes, and oneOf those of which it wants exactly one.
	flags, oneOf string

	// define defines flags of its own, and check refuses their values before the database is opened. Both may be nil.
	define func(f *flag.FlagSet)
	check  func() error

	// query runs it on a database that has its tables, unless it has a run.
	query query
	run   func(ctx context.Context) error
}

// query is what is done on a database.
type query func(ctx context.Context, s queue.Queue) error

// commands returns all commands, in the order in which the usage and the errors name them.
func (p *program) commands() []command {
	work := &workCommand{program: p}
	serve := &serveCommand{workCommand: workCommand{program: p}}
	enqueue := &enqueueCommand{program: p}
	const scope = "project repo all"

	return []command{
		{name: "demo", run: p.demo},
		{name: "init", run: p.makeTables},
		{name: "work", define: work.define, check: work.check, run: work.run},
		{name: "serve", define: serve.define, check: serve.check, run: serve.run},
		{name: "enqueue", define: enqueue.define, check: enqueue.check, query: enqueue.run},

		{name: "status", flags: "json check", query: p.status},
		{name: "list", flags: "state project repo since json", query: p.list},
		{name: "show", operands: 1, query: p.show},
		{name: "report", flags: "since repo json", query: p.report},

		{name: "cancel", flags: "key yes " + scope, oneOf: "key " + scope, query: p.cancel},
		{name: "pause", flags: scope, oneOf: scope, query: p.pause},
		{name: "resume", flags: scope, oneOf: scope, query: p.resume},
		{name: "retry", flags: "key state project repo again job yes", check: p.checkRetry, query: p.retry},
		{name: "close", flags: "key pr", oneOf: "key", query: p.close},
		{name: "forget", flags: "key author yes", oneOf: "key author", query: p.forget},
	}
}

// flagValues is what the operand and the common flags of a command say.
type flagValues struct {
	operand string

	key, project, repository, job, link, author string

	state once.State
	since time.Duration

	all, again, yes, asJSON, checks bool
}

func (v *flagValues) define(f *flag.FlagSet) {
	f.StringVar(&v.key, "key", "", "key of the prompt; its follow-ups are forgotten, too")
	f.StringVar(&v.project, "project", "", "id of the project, from the dashboard; of retry without -state the new one")
	f.Func("repo", "owner/repo of the key, else of the first pull request", v.setRepository)
	f.BoolVar(&v.all, "all", false, "all projects")

	f.Func("state", "those in this state; of retry failed, refused or canceled", v.setState)
	f.Func("since", "what changed within this time, such as 24h or 30d; of report what was added, 30d unless set",
		v.setSince)
	f.BoolVar(&v.asJSON, "json", false, "as JSON")
	f.BoolVar(&v.checks, "check", false, "exit 1 if a person is needed")

	f.BoolVar(&v.again, "again", false, "send it again: if there is a job after all, there will be two")
	f.StringVar(&v.job, "job", "", "id of its job, which a person has found: follow that one, send nothing")
	f.Func("pr", "URL of its pull request", v.setLink)
	f.StringVar(&v.author, "author", "", "login: forgets that person's comments, and merges with all that follow them")
	f.BoolVar(&v.yes, "yes", false, "do it: without it a bulk command only prints what it would do; with "+
		"retry -again, nobody need have looked for the pull request")
}

func (v *flagValues) setRepository(text string) error {
	if !database.RepositoryForm.MatchString(text) {
		return errors.New("want owner/repo")
	}
	v.repository = database.FoldCase(text)
	return nil
}

func (v *flagValues) setLink(text string) error {
	if !github.IsWebURL(text) {
		return errors.New("want a URL such as https://github.com/acme/docs/pull/7")
	}
	v.link = text
	return nil
}

func (v *flagValues) setState(text string) error {
	var err error
	v.state, err = database.StateOf(text)
	return err
}

// setSince takes a time that is more than 0: a number of days, or what package time parses.
func (v *flagValues) setSince(text string) error {
	var err error
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		n, daysErr := strconv.Atoi(days)
		v.since = time.Duration(n) * database.Day
		err = daysErr
	} else {
		v.since, err = time.ParseDuration(text)
	}

	if err != nil || v.since <= 0 || v.since > 100*365*database.Day {
		return errors.New("want a time such as 24h or 30d")
	}
	return nil
}

func (v *flagValues) choice() database.Choice {
	return database.Choice{State: v.state, Project: v.project, Repository: v.repository, Since: v.since}
}

// run runs the command that the arguments name. It fails if the output cannot be written to stdout.
func (p *program) run(ctx context.Context, arguments []string) error {
	err := p.runCommand(ctx, arguments)
	failed := p.stdout.Flush()
	if failed != nil && (err == nil || errors.Is(err, flag.ErrHelp)) {
		return fmt.Errorf("write to stdout: %w", failed)
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

	c, err := p.commandOf(arguments[0])
	if err != nil {
		return err
	}
	if err := p.parse(c, arguments[1:]); err != nil {
		return err
	}

	if c.run != nil {
		return c.run(ctx)
	}
	return p.onTables(ctx, c.query)
}

// commandOf returns the command of a name, or an error that names them all.
func (p *program) commandOf(name string) (command, error) {
	var names []string
	for _, c := range p.commands() {
		if c.name == name {
			return c, nil
		}
		names = append(names, c.name)
	}

	last := len(names) - 1
	return command{}, usage.Errorf("there is no command %q, want %s or %s; fleet -h says more",
		name, strings.Join(names[:last], ", "), names[last])
}

// flagsOf returns the flags that a command takes.
func (p *program) flagsOf(c command) *flag.FlagSet {
	flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
	if c.define != nil {
		c.define(flags)
	}

	common := flag.NewFlagSet("", flag.ContinueOnError)
	p.flagValues.define(common)
	for _, name := range strings.Fields(c.flags) {
		f := common.Lookup(name)
		flags.Var(f.Value, name, f.Usage)
	}
	return flags
}

// parse checks the arguments of a command before the database is opened.
func (p *program) parse(c command, arguments []string) error {
	p.command = c.name
	p.flagValues = flagValues{}
	flags := p.flagsOf(c)

	err := usage.Parse(flags, arguments)
	if errors.Is(err, flag.ErrHelp) {
		flags.SetOutput(p.stdout)
		flags.Usage()
		return err
	}
	if err != nil {
		return fmt.Errorf("%w; fleet %s -h lists its flags", err, c.name)
	}

	if flags.NArg() != c.operands {
		return usage.Errorf("%s takes %d arguments besides its flags, not %d", c.name, c.operands, flags.NArg())
	}
	p.operand = flags.Arg(0)

	oneOf := strings.Fields(c.oneOf)
	given := 0
	flags.Visit(func(f *flag.Flag) {
		if slices.Contains(oneOf, f.Name) && f.Value.String() != "false" {
			given++
		}
	})

	if len(oneOf) > 0 && given != 1 {
		return usage.Errorf("%s wants -%s", c.name, strings.Join(oneOf, " or -"))
	}

	if c.check != nil {
		return c.check()
	}
	return nil
}

// onTables runs a query on a database that has its tables. It ends if the database does not answer. What counts all
// prompts has more time for a statement.
func (p *program) onTables(ctx context.Context, q query) error {
	p.statementLimit = p.patience
	if p.command == "report" || p.since > 0 {
		p.statementLimit *= 6
	}

	err := p.withStore(ctx, false, slog.LevelError, q)
	return database.ExplainSilence(err, p.statementLimit)
}

// makeTables is the command init.
func (p *program) makeTables(ctx context.Context) error {
	return p.withStore(ctx, true, slog.LevelWarn, func(context.Context, queue.Queue) error {
		fmt.Fprintln(p.stdout, "the tables are there")
		return nil
	})
}
