// Fleet sends prompts to the documentation agent from many machines, through crashes
// and deployments: each prompt at most once, none forgotten. See its README.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

const usage = `usage:
  fleet demo                                                no key, no database: see it work
  fleet work [-n 50]                                        work the queue off; on as many machines as you like
  fleet serve [-addr :8080] -project [owner/repo=]P         work, and enqueue merges that GitHub's webhooks tell of
  fleet enqueue -key repo@sha -project P -prompt TEXT       enqueue a prompt
  fleet enqueue -stdin                                      enqueue JSON Lines: {"key": …, "project": …, "prompt": …}
  fleet status [-json]                                      what needs a person, and counts
  fleet retry -key K [-job ID]                              send again what is unknown or failed, or adopt a job

The database is DATABASE_URL: postgres://…, or a file of SQLite (fleet.db unless set).
work and serve need MINTLIFY_API_KEY.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	p := program{getenv: os.Getenv, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, settings: production}
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	err := p.run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

// production is how the program is set up unless flags say otherwise.
var production = settings{N: 50, SendTime: time.Minute, MaxWait: 24 * time.Hour, Quota: 100, Window: time.Hour}

// program is what a command has around it.
type program struct {
	getenv         func(string) string
	stdin          io.Reader
	stdout, stderr io.Writer
	settings       settings
	options        []mintlify.Option // beside the usual
}

func (p *program) run(ctx context.Context, arguments []string) error {
	commands := map[string]func(context.Context, []string) error{
		"demo": p.demo, "demo-worker": p.demoWorker, "work": p.work, "serve": p.serve,
		"enqueue": p.enqueue, "status": p.status, "retry": p.retry,
	}
	if len(arguments) == 0 || commands[arguments[0]] == nil {
		fmt.Fprint(p.stderr, usage)
		return errors.New("which command?")
	}
	return commands[arguments[0]](ctx, arguments[1:])
}

// parse parses flags, and refuses other arguments.
func (p *program) parse(flags *flag.FlagSet, arguments []string) error {
	flags.SetOutput(p.stderr)
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%s takes no %q", flags.Name(), flags.Arg(0))
	}
	return nil
}

func (p *program) logger(level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: level}))
}

// withStore runs f on the database of the environment.
func (p *program) withStore(ctx context.Context, f func(store) error) error {
	db, err := openDatabase(ctx, cmp.Or(p.getenv("DATABASE_URL"), "fleet.db"), p.logger(slog.LevelWarn))
	if err != nil {
		return err
	}
	defer db.close()
	return f(store{db})
}

func (p *program) work(ctx context.Context, arguments []string) error {
	flags := flag.NewFlagSet("work", flag.ContinueOnError)
	p.workFlags(flags)
	if err := p.parse(flags, arguments); err != nil {
		return err
	}
	return p.withWorker(ctx, func(w *worker) error { return work(ctx, w, p.logger(slog.LevelWarn)) })
}

func (p *program) workFlags(flags *flag.FlagSet) {
	flags.IntVar(&p.settings.N, "n", p.settings.N, "steps under way at once, 1 to 10000")
	flags.DurationVar(&p.settings.SendTime, "send-time", p.settings.SendTime, "how long one POST may take, 1s to 10m; leave a process that and some more to stop")
	flags.BoolVar(&p.settings.PollOnly, "poll-only", p.settings.PollOnly, "do without LISTEN, behind a pgbouncer in transaction mode")
}

// withWorker runs f with a worker that is set up by flags and environment.
func (p *program) withWorker(ctx context.Context, f func(*worker) error) error {
	s := p.settings
	if s.N < 1 || s.N > 10_000 || s.SendTime < time.Second || s.SendTime > 10*time.Minute {
		return fmt.Errorf("-n is %d and -send-time %v, want 1 to 10000 and 1s to 10m", s.N, s.SendTime)
	}
	client, err := newMintlify(p.getenv, s, p.options)
	if err != nil {
		return err
	}
	results, err := newTeller(p.getenv)
	if err != nil {
		return err
	}
	return p.withStore(ctx, func(db store) error {
		return f(&worker{store: db, client: client, results: results, logger: p.logger(slog.LevelInfo), settings: s, paused: map[string]time.Time{}})
	})
}

func (p *program) serve(ctx context.Context, arguments []string) error {
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	p.workFlags(flags)
	addr := flags.String("addr", ":8080", "where to listen")
	projects := projects{byRepository: map[string]string{}}
	flags.Func("project", "owner/repo=project, repeatable; or a project for all other repositories", projects.set)
	if err := p.parse(flags, arguments); err != nil {
		return err
	}
	secret := p.getenv("FLEET_GITHUB_SECRET")
	if secret == "" {
		return errors.New("FLEET_GITHUB_SECRET is not set: without the webhook's secret anybody could enqueue")
	}
	if projects.rest == "" && len(projects.byRepository) == 0 {
		return errors.New("-project is missing: which project documents the repositories?")
	}
	return p.withWorker(ctx, func(w *worker) error {
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", *addr)
		if err != nil {
			return err
		}
		fmt.Fprintf(p.stderr, "listening on %s\n", listener.Addr())
		hooks := &webhooks{secret: []byte(secret), projects: projects, store: w.store, logger: w.logger}
		return serveAndWork(ctx, listener, hooks.handler(), func(ctx context.Context) error { return work(ctx, w, p.logger(slog.LevelWarn)) })
	})
}

func (p *program) enqueue(ctx context.Context, arguments []string) error {
	flags := flag.NewFlagSet("enqueue", flag.ContinueOnError)
	var one prompt
	flags.StringVar(&one.Key, "key", "", "owner/repo@sha for a merge: the same key again adds nothing")
	flags.StringVar(&one.Project, "project", "", "the project's id, from the dashboard")
	flags.StringVar(&one.Prompt, "prompt", "", "what the agent is to do")
	flags.StringVar(&one.Pull, "pull", "", "the merged pull request, owner/repo#7, for a comment with the result")
	stdin := flags.Bool("stdin", false, "read JSON Lines with these as fields instead")
	if err := p.parse(flags, arguments); err != nil {
		return err
	}
	if *stdin && one != (prompt{}) {
		return errors.New("-stdin takes no other flags: its lines say all")
	}
	return p.withStore(ctx, func(s store) error {
		added, known := 0, 0
		add := func(prompts []prompt) error {
			n, err := s.add(ctx, prompts...)
			if err == nil {
				added, known = added+n, known+len(prompts)-n
			}
			return err
		}
		var err error
		if *stdin {
			err = readLines(p.stdin, add)
		} else {
			err = add([]prompt{one})
		}
		fmt.Fprintf(p.stdout, "%d enqueued, %d known already\n", added, known)
		return err
	})
}

// readLines adds prompts by the hundred. After a bad line what stands before it is
// added: to run the same input again does no harm.
func readLines(r io.Reader, add func([]prompt) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 8*maxPrompt) // a prompt in JSON, each byte escaped
	var batch []prompt
	for n := 1; lines.Scan(); n++ {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var p prompt
		decoder := json.NewDecoder(strings.NewReader(lines.Text()))
		decoder.DisallowUnknownFields()
		err := decoder.Decode(&p)
		if err == nil {
			err = p.check()
		}
		if err != nil {
			return errors.Join(add(batch), fmt.Errorf("line %d: %w; the lines before it are enqueued", n, err))
		}
		if batch = append(batch, p); len(batch) == 100 {
			if err := add(batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	return errors.Join(add(batch), lines.Err())
}

func (p *program) status(ctx context.Context, arguments []string) error {
	flags := flag.NewFlagSet("status", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "as JSON")
	if err := p.parse(flags, arguments); err != nil {
		return err
	}
	return p.withStore(ctx, func(s store) error {
		status, err := s.status(ctx)
		if err == nil && *asJSON {
			return status.writeJSON(p.stdout)
		} else if err == nil {
			status.write(p.stdout)
		}
		return err
	})
}

func (p *program) retry(ctx context.Context, arguments []string) error {
	flags := flag.NewFlagSet("retry", flag.ContinueOnError)
	key := flags.String("key", "", "of the prompt")
	job := flags.String("job", "", "id of the job that the agent has made of it after all: wait for that one, send nothing")
	if err := p.parse(flags, arguments); err != nil {
		return err
	}
	return p.withStore(ctx, func(s store) error { return s.retry(ctx, *key, *job) })
}
