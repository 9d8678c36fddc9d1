package main

import (
	"errors"
	"flag"
	"io"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/merges"
)

// flags are the values of the flags of all commands.
type flags struct {
	prompt            prompt
	state, job, link  string
	again, yes, all   bool
	asJSON, fromStdin bool
	addr, adminAddr   string
	logFormat         string
	projects          projects
	skip              authors
	operand           string
	repository        string
	since             time.Duration

	command string
	given   map[string]bool
}

// allFlags returns the flags of all commands. A flag means the same to each, but for serve's -project.
func (p *program) allFlags(command string) *flag.FlagSet {
	f := flag.NewFlagSet("fleet", flag.ContinueOnError)
	p.promptFlags(f, command)
	p.choiceFlags(f)
	p.workFlags(f)
	return f
}

// promptFlags defines the flags that describe a prompt.
func (p *program) promptFlags(f *flag.FlagSet, command string) {
	f.StringVar(&p.prompt.Key, "key", "", "key of the prompt, owner/repo@sha for a merge; again it adds nothing")
	f.StringVar(&p.prompt.Prompt, "prompt", "", "what the agent is to do")
	f.StringVar(&p.prompt.Pull, "pull", "", "the merged pull request, owner/repo#7, for a comment with the result")
	f.StringVar(&p.prompt.After, "after", "",
		"key of the prompt to whose job this one is a message, once that has ended")
	f.IntVar(&p.prompt.Priority, "priority", defaultPriority, "1 is the most urgent, 4 the least")
	f.BoolVar(&p.fromStdin, "stdin", false, "read JSON Lines with the other flags as fields")

	if command == "serve" {
		f.Func("project", "owner/repo=ID, or owner/repo= to leave it out, repeatable; "+
			"ID alone is for all other repositories", p.projects.set)
		f.Func("projects", "file with a line of -project each; # begins a comment", p.projects.read)
		return
	}
	f.StringVar(&p.prompt.Project, "project", "", "id of the project, from the dashboard")
}

// choiceFlags defines the flags that choose prompts, and that say what a person decides.
func (p *program) choiceFlags(f *flag.FlagSet) {
	f.BoolVar(&p.asJSON, "json", false, "as JSON")
	f.StringVar(&p.state, "state", "", "those in this state; retry: failed, refused or canceled")
	f.StringVar(&p.repository, "repo", "", "those of a repository, owner/repo")
	f.DurationVar(&p.since, "since", 0, "those that changed within this time, such as 24h")
	f.BoolVar(&p.all, "all", false, "all projects")
	f.BoolVar(&p.yes, "yes", false, "do it: without it a bulk command only prints what it would do")

	f.BoolVar(&p.again, "again", false, "send it again: if there is a job after all, there will be two")
	f.StringVar(&p.job, "job", "", "id of its job, which a person has found: follow that one, send nothing")
	f.StringVar(&p.link, "pr", "", "URL of its pull request")
}

// workFlags defines the flags that say how a worker works, and where serve listens.
func (p *program) workFlags(f *flag.FlagSet) {
	f.IntVar(&p.N, "n", p.N, "steps in progress at once, 1 to 10000")
	f.DurationVar(&p.SendTime, "send-time", p.SendTime,
		"how long one POST may take, 1s to 10m; give a process that and 30 s to stop")
	f.BoolVar(&p.PollOnly, "poll-only", p.PollOnly, "do without LISTEN, behind a pgbouncer in transaction mode")
	f.DurationVar(&p.PauseMin, "pause-min", p.PauseMin, "how long the breaker pauses a project at first, at least 1s")
	f.DurationVar(&p.PauseMax, "pause-max", p.PauseMax, "and at most, doubling, up to 24h")
	f.StringVar(&p.adminAddr, "admin-addr", "", "where to listen for /livez, /readyz and /metrics; nowhere unless set")
	f.StringVar(&p.logFormat, "log-format", "text", "text or json")

	f.StringVar(&p.addr, "addr", ":8080", "where to listen for GitHub's webhooks, at /github")
	f.Func("skip-author", "login whose merges are left out, repeatable, beside "+strings.Join(p.skip.Authors, ", "),
		p.skip.Add)
}

// parse parses the flags of a command, and checks them.
func (p *program) parse(c command, arguments []string) error {
	p.command = c.name
	p.projects = projects{}
	p.skip = authors{merges.DefaultAuthors()}

	all := p.allFlags(c.name)
	flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	for _, name := range c.flags {
		f := all.Lookup(name)
		flags.Var(f.Value, name, f.Usage)
	}

	err := flags.Parse(arguments)
	if errors.Is(err, flag.ErrHelp) {
		flags.SetOutput(p.stdout)
		flags.Usage()
		return err
	}
	if err != nil {
		return usageError("%w; fleet %s -h lists its flags", err, c.name)
	}

	if err := p.takeOperand(c, flags.Args()); err != nil {
		return err
	}
	if err := p.noteGiven(flags); err != nil {
		return err
	}
	p.operand = foldCase(p.operand)
	p.prompt.Key = foldCase(p.prompt.Key)
	p.prompt.After = foldCase(p.prompt.After)

	if c.check == nil {
		return nil
	}
	return c.check(p)
}

// takeOperand takes the argument after the flags.
func (p *program) takeOperand(c command, operands []string) error {
	want := 0
	if c.operand != "" {
		want = 1
	}
	if len(operands) != want {
		return usageError("%s takes %d arguments besides its flags, not %d", c.name, want, len(operands))
	}

	if want == 1 {
		p.operand = operands[0]
	}
	return nil
}

// noteGiven notes which flags were given. It refuses one that is given and empty.
func (p *program) noteGiven(flags *flag.FlagSet) error {
	p.given = map[string]bool{}
	var empty error
	flags.Visit(func(f *flag.Flag) {
		p.given[f.Name] = true
		if getter, ok := f.Value.(flag.Getter); ok && getter.Get() == "" {
			empty = usageError("-%s is empty: is a variable not set?", f.Name)
		}
	})
	return empty
}

// wantOne refuses anything but exactly one of the flags.
func (p *program) wantOne(names ...string) error {
	given := 0
	for _, name := range names {
		if p.given[name] {
			given++
		}
	}

	if given != 1 {
		return usageError("%s wants -%s", p.command, strings.Join(names, " or -"))
	}
	return nil
}
