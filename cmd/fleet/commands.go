package main

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

// onRows parses flags, and runs f on a database whose tables exist, if check finds nothing.
func (p *program) onRows(ctx context.Context, flags *flag.FlagSet, arguments []string, operands int, check func() error, f func(store) error) error {
	err := p.parse(flags, arguments, operands)
	if err == nil && check != nil {
		err = check()
	}
	if err != nil {
		return err
	}
	return p.withStore(ctx, false, slog.LevelError, f)
}

func newFlags(name string) *flag.FlagSet { return flag.NewFlagSet(name, flag.ContinueOnError) }

func (p *program) enqueue(ctx context.Context, arguments []string) error {
	flags := newFlags("enqueue")
	var one prompt
	flags.StringVar(&one.Key, "key", "", "owner/repo@sha for a merge: the same key again adds nothing")
	flags.StringVar(&one.Project, "project", "", "the project's id, from the dashboard")
	flags.StringVar(&one.Prompt, "prompt", "", "what the agent is to do")
	flags.StringVar(&one.Pull, "pull", "", "the merged pull request, owner/repo#7, for a comment with the result")
	flags.IntVar(&one.Priority, "priority", 2, "1 is the most urgent, 4 the least")
	stdin := flags.Bool("stdin", false, "read JSON Lines with these as fields instead")
	check := func() error {
		if *stdin && flags.NFlag() > 1 {
			return usageError("-stdin takes no other flags: its lines say all")
		} else if err := one.check(); err != nil && !*stdin {
			return usageError("%w", err)
		}
		return nil
	}
	return p.onRows(ctx, flags, arguments, 0, check, func(s store) (err error) {
		added, known := 0, 0
		add := func(prompts []prompt) error {
			n, err := s.add(ctx, prompts...)
			if err == nil {
				added, known = added+n, known+len(prompts)-n
			}
			return err
		}
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
	n, first := 0, 1
	flush := func() error {
		err := add(batch)
		if err != nil {
			err = fmt.Errorf("lines %d to %d: %w", first, n, err)
		}
		batch, first = batch[:0], n+1
		return err
	}
	for lines.Scan() {
		n++
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		one, err := readLine(lines.Text())
		if err != nil {
			return errors.Join(flush(), usageError("line %d: %w; the lines before it are enqueued", n, err))
		}
		if batch = append(batch, one); len(batch) == 100 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := lines.Err(); err != nil {
		return errors.Join(flush(), usageError("line %d: %w; the lines before it are enqueued", n+1, err))
	}
	return flush()
}

func readLine(line string) (one prompt, err error) {
	decoder := json.NewDecoder(strings.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&one); err != nil {
		return one, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return one, errors.New("there is something behind the JSON value")
	}
	return one, one.check()
}

func (p *program) status(ctx context.Context, arguments []string) error {
	flags := newFlags("status")
	asJSON := flags.Bool("json", false, "as JSON")
	return p.onRows(ctx, flags, arguments, 0, nil, func(s store) error {
		status, err := s.status(ctx, p.settings)
		if err != nil {
			return err
		}
		return status.write(p.stdout, *asJSON)
	})
}

func (p *program) list(ctx context.Context, arguments []string) error {
	flags := newFlags("list")
	state := flags.String("state", "", "only those in this state")
	project := flags.String("project", "", "only those of this project")
	return p.onRows(ctx, flags, arguments, 0, nil, func(s store) error {
		rows, err := s.choose(ctx, *state, *project)
		for _, r := range rows {
			fmt.Fprintf(p.stdout, "%s\t%s\t%s\t%s\t%s\n", nameOf(r.State), r.Key, r.Project, r.Updated.Format(time.RFC3339), redact.OneLine(r.PRLink, 300))
		}
		return err
	})
}

// choose returns the rows in a state and of a project, or any if that is "".
func (s store) choose(ctx context.Context, name, project string) ([]row, error) {
	where, args := "($1 = '' OR p.project = $1)", []any{project}
	if name != "" {
		state, err := stateOf(name)
		if err != nil {
			return nil, err
		}
		where, args = where+" AND o.state = $2", append(args, string(state))
	}
	return s.rows(ctx, where+" ORDER BY p.project, p.priority, p.added, p.key", args...)
}

func (p *program) show(ctx context.Context, arguments []string) error {
	flags := newFlags("show")
	return p.onRows(ctx, flags, arguments, 1, nil, func(s store) error {
		r, err := s.row(ctx, flags.Arg(0))
		if err != nil {
			return err
		}
		for _, line := range [][2]string{{"key", r.Key}, {"state", nameOf(r.State)}, {"project", r.Project}, {"priority", fmt.Sprint(r.Priority)},
			{"pulls", r.Pulls}, {"added", r.Added.Format(time.RFC3339)}, {"job", r.JobID}, {"pr", r.PRLink}, {"problem", r.Problem}, {"advice", advise(r)}} {
			if line[1] != "" {
				fmt.Fprintf(p.stdout, "%-9s %s\n", line[0], redact.OneLine(line[1], 2000))
			}
		}
		fmt.Fprintln(p.stdout, "\nprompt")
		for line := range strings.Lines(r.Prompt) {
			fmt.Fprintf(p.stdout, "  %s\n", redact.OneLine(line, maxPrompt))
		}
		fmt.Fprintln(p.stdout, "\nhistory")
		return scan(ctx, s.DB, func(rows *sql.Rows) error {
			var at int64
			var state, job, problem string
			err := rows.Scan(&at, &state, &job, &problem)
			fmt.Fprintf(p.stdout, "  %s  %s\n", time.UnixMilli(at).UTC().Format(time.RFC3339), redact.OneLine(nameOf(once.State(state))+" "+job+" "+problem, 500))
			return err
		}, "SELECT at, state, job, problem FROM fleet_history WHERE key = $1 ORDER BY version", r.Key)
	})
}

// scope adds the flags of what a command applies to, and returns a check that exactly one is given.
func scope(flags *flag.FlagSet, what string, names ...string) (project *string, check func() error) {
	project = flags.String("project", "", what+" of this project")
	flags.Bool("all", false, what+" of all projects")
	return project, func() error {
		given := 0
		flags.Visit(func(f *flag.Flag) {
			if slices.Contains(append(names, "project", "all"), f.Name) {
				given++
			}
		})
		if given != 1 {
			return usageError("%s wants exactly one of its flags that say what", flags.Name())
		}
		return nil
	}
}

// each does f to rows, and counts those that it changed.
func (p *program) each(rows []row, what string, yes bool, f func(row) error) error {
	if !yes {
		for _, r := range rows[:min(len(rows), 20)] {
			fmt.Fprintf(p.stdout, "would %s %s of project %s\n", what, r.Key, r.Project)
		}
		return usageError("%d prompts to %s; nothing is changed without -yes", len(rows), what)
	}
	var failed []error
	for _, r := range rows {
		if err := f(r); err != nil {
			failed = append(failed, err)
		}
	}
	fmt.Fprintf(p.stdout, "%s: %d of %d\n", what, len(rows)-len(failed), len(rows))
	if len(rows) == 0 {
		return usageError("there is nothing to %s", what)
	}
	return errors.Join(failed...)
}

func (p *program) cancel(ctx context.Context, arguments []string) error {
	flags := newFlags("cancel")
	key := flags.String("key", "", "this prompt")
	project, check := scope(flags, "what is queued", "key")
	yes := flags.Bool("yes", false, "do it: a bulk cancel only prints what it would do")
	return p.onRows(ctx, flags, arguments, 0, check, func(s store) error {
		if *key != "" {
			return p.decide(ctx, s, *key, func(runner *once.Runner) (once.Record, error) { return runner.Cancel(ctx, *key) })
		}
		rows, err := s.choose(ctx, "queued", *project)
		if err != nil {
			return err
		}
		return p.each(rows, "cancel", *yes, func(r row) error {
			_, err := s.person(nil).Cancel(ctx, r.Key)
			return err
		})
	})
}

// inWordsOfFleet puts errors of package once into the words of these commands.
var inWordsOfFleet = strings.NewReplacer("once: ", "", "is pending", "is queued", "[pending", "[queued", "Adopt", "retry -job", "MarkDone", "close", "SendAgain", "retry -again", "Cancel", "cancel")

// decide does what a person has decided of a prompt.
func (p *program) decide(ctx context.Context, s store, key string, f func(*once.Runner) (once.Record, error)) error {
	r, err := s.row(ctx, key)
	if err != nil {
		return err
	}
	var client *mintlify.Client // to look a job up, if there is a key
	if p.getenv("MINTLIFY_API_KEY") != "" {
		if client, err = newMintlify(p.getenv, p.settings, p.transport, p.options); err != nil {
			return err
		}
	}
	record, err := f(s.person(client))
	if err != nil {
		return usageError("nothing is changed: %s", inWordsOfFleet.Replace(err.Error()))
	}
	s.insertJobs(ctx, []prompt{{Key: key, Priority: r.Priority}})
	fmt.Fprintf(p.stdout, "%s is %s\n", key, nameOf(record.State))
	return nil
}

func (p *program) pause(ctx context.Context, arguments []string) error {
	return p.pauses(ctx, "pause", arguments, func(s store, project string) (int64, error) {
		now := time.Now()
		return 1, pause(ctx, s.DB, pauseRow{project, "person", now, time.UnixMilli(forever), 0, "paused at " + now.UTC().Format(time.DateTime)})
	})
}

// resume lifts all pauses of a project. For all projects it leaves those that a person has paused.
func (p *program) resume(ctx context.Context, arguments []string) error {
	return p.pauses(ctx, "resume", arguments, func(s store, project string) (int64, error) {
		result, err := s.ExecContext(ctx, "DELETE FROM fleet_pauses WHERE project = $1 OR $1 = '' AND source <> 'person'", project)
		if err != nil {
			return 0, err
		}
		return result.RowsAffected()
	})
}

func (p *program) pauses(ctx context.Context, name string, arguments []string, f func(s store, project string) (int64, error)) error {
	flags := newFlags(name)
	project, check := scope(flags, "the sends")
	return p.onRows(ctx, flags, arguments, 0, check, func(s store) error {
		n, err := f(s, *project)
		if err == nil && n == 0 {
			return usageError("there is nothing to %s", name)
		}
		if err == nil {
			fmt.Fprintf(p.stdout, "%sd\n", name)
		}
		return err
	})
}

func (p *program) retry(ctx context.Context, arguments []string) error {
	flags := newFlags("retry")
	key := flags.String("key", "", "this prompt")
	job := flags.String("job", "", "id of its job, which a person has found: follow that one, send nothing")
	again := flags.Bool("again", false, "send it again: if there is a job after all, there will be two")
	state := flags.String("state", "", "all that are failed, or refused")
	project := flags.String("project", "", "only those of this project")
	yes := flags.Bool("yes", false, "do it: a bulk retry only prints what it would do")
	check := func() error {
		switch {
		case (*key == "") == (*state == "") || *key != "" && *project != "":
			return usageError("retry wants -key K, or -state failed|refused [-project P]")
		case *again == (*job != ""):
			return usageError("retry wants one of -again and -job ID")
		case *state != "" && (*state != "failed" && *state != "refused" || *job != ""):
			return usageError("-state is failed or refused, with -again: what is unknown is retried one key at a time, after a person has looked")
		}
		return nil
	}
	return p.onRows(ctx, flags, arguments, 0, check, func(s store) error {
		if *key != "" {
			return p.retryOne(ctx, s, *key, *job)
		}
		rows, err := s.choose(ctx, *state, *project)
		if err != nil {
			return err
		}
		return p.each(rows, "retry", *yes, func(r row) error {
			_, err := s.person(nil).SendAgain(ctx, r.Key)
			s.insertJobs(ctx, []prompt{{Key: r.Key, Priority: r.Priority}})
			return err
		})
	})
}

func (p *program) retryOne(ctx context.Context, s store, key, job string) error {
	return p.decide(ctx, s, key, func(runner *once.Runner) (once.Record, error) {
		if job == "" {
			return runner.SendAgain(ctx, key)
		}
		record, err := runner.Adopt(ctx, key, job)
		if err == nil { // its 24 hours begin anew
			_, err = s.ExecContext(ctx, "UPDATE fleet_prompts SET running_at = $2, running_job = $3, told_job = '' WHERE key = $1", key, time.Now().UnixMilli(), job)
		}
		return record, err
	})
}

func (p *program) closePrompt(ctx context.Context, arguments []string) error {
	flags := newFlags("close")
	key := flags.String("key", "", "the prompt that is done")
	link := flags.String("pr", "", "URL of its pull request")
	check := func() error {
		if *key == "" || *link != "" && !isWebURL(*link) {
			return usageError("close wants -key K [-pr URL]")
		}
		return nil
	}
	return p.onRows(ctx, flags, arguments, 0, check, func(s store) error {
		return p.decide(ctx, s, *key, func(runner *once.Runner) (once.Record, error) { return runner.MarkDone(ctx, *key, *link) })
	})
}
