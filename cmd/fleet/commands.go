package main

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

func (p *program) checkEnqueue() error {
	one := &p.prompt
	if p.fromStdin == (one.Key != "") || !p.fromStdin && (one.Project == "" || one.Prompt == "") {
		return usageError("enqueue wants -key, -project and -prompt, or -stdin without -key")
	} else if err := one.check(); err != nil && !p.fromStdin {
		return usageError("%w", err)
	}
	return nil
}

func (p *program) enqueue(ctx context.Context, s store) (failed error) {
	prompts := []prompt{p.prompt}
	if p.fromStdin {
		prompts, failed = readLines(p.stdin, p.prompt)
	}
	added, known := 0, 0
	for batch := range slices.Chunk(prompts, 100) {
		n, err := s.add(ctx, batch...)
		if err != nil {
			if failed = err; p.fromStdin {
				failed = fmt.Errorf("lines %d to %d: %w", batch[0].line, batch[len(batch)-1].line, err)
			}
			break
		}
		added, known = added+n, known+len(batch)-n
	}
	fmt.Fprintf(p.stdout, "%d enqueued, %d known already\n", added, known)
	return failed
}

// readLines returns the prompts before the first bad line. Fields that a line leaves out are
// those of the flags. To run the same input again does no harm.
func readLines(r io.Reader, flags prompt) (prompts []prompt, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 8*maxPrompt) // a prompt in JSON, each byte escaped
	n := 1
	for ; lines.Scan(); n++ {
		if line := strings.TrimSpace(lines.Text()); line != "" {
			one := flags
			one.line = n
			if err = one.parse(line); err != nil {
				break
			}
			prompts = append(prompts, one)
		}
	}
	if err = errors.Join(err, lines.Err()); err != nil {
		err = usageError("line %d: %w; the lines before it are enqueued", n, err)
	}
	return prompts, err
}

func (p *prompt) parse(line string) error {
	decoder := json.NewDecoder(strings.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(p); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is something behind the JSON value")
	}
	return p.check()
}

func (p *program) status(ctx context.Context, s store) error {
	status, err := s.status(ctx)
	if err != nil {
		return err
	}
	return status.write(p.stdout, p.asJSON)
}

func (p *program) list(ctx context.Context, s store) error {
	rows, err := s.choose(ctx, p.state, p.prompt.Project)
	for _, r := range rows {
		fmt.Fprintf(p.stdout, "%s\t%s\t%s\t%s\t%s\n", nameOf(r.State), r.Key, r.Project,
			r.Updated.Format(time.RFC3339), redact.OneLine(r.PRLink, 300))
	}
	return err
}

func (p *program) show(ctx context.Context, s store) error {
	r, err := s.row(ctx, p.operands[0])
	if err != nil {
		return err
	}
	for _, line := range [][2]string{{"key", r.Key}, {"state", nameOf(r.State)}, {"project", r.Project},
		{"priority", fmt.Sprint(r.Priority)}, {"pulls", r.Pulls}, {"added", r.Added.Format(time.RFC3339)},
		{"job", r.JobID}, {"pr", r.PRLink}, {"problem", r.Problem}, {"advice", advise(r)}} {
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
		fmt.Fprintf(p.stdout, "  %s  %s\n", time.UnixMilli(at).UTC().Format(time.RFC3339),
			redact.OneLine(nameOf(once.State(state))+" "+job+" "+problem, 500))
		return err
	}, "SELECT at, state, job, problem FROM fleet_history WHERE key = $1 ORDER BY version", r.Key)
}

// decision is what a person decides of a prompt, in the words of package once.
type decision func(runner *once.Runner, ctx context.Context, key string) (once.Record, error)

func (p *program) cancel(ctx context.Context, s store) error {
	return p.decide(ctx, s, "cancel", "queued", (*once.Runner).Cancel)
}

func (p *program) checkRetry() error {
	switch {
	case p.prompt.Key != "" && p.prompt.Project != "":
		return usageError("retry -key takes no -project")
	case p.state != "" && (p.state != "failed" && p.state != "refused" || !p.again):
		return usageError("-state is failed or refused, with -again: what is unknown is retried one key at a time, " +
			"after a person has looked")
	}
	return nil
}

func (p *program) retry(ctx context.Context, s store) error {
	decision := (*once.Runner).SendAgain
	if p.job != "" {
		decision = func(r *once.Runner, ctx context.Context, key string) (once.Record, error) {
			return r.Adopt(ctx, key, p.job)
		}
	}
	return p.decide(ctx, s, "retry", p.state, decision)
}

func (p *program) checkClose() error {
	if p.link != "" && !isWebURL(p.link) {
		return usageError("-pr is %q, want a URL such as https://github.com/acme/docs/pull/7",
			redact.OneLine(p.link, 100))
	}
	return nil
}

func (p *program) closePrompt(ctx context.Context, s store) error {
	return p.decide(ctx, s, "close", "", func(r *once.Runner, ctx context.Context, key string) (once.Record, error) {
		return r.MarkDone(ctx, key, p.link)
	})
}

// inWordsOfFleet puts errors of package once into the words of these commands.
var inWordsOfFleet = strings.NewReplacer("once: ", "", "is pending", "is queued", "[pending", "[queued",
	"Adopt", "retry -job", "MarkDone", "close", "SendAgain", "retry -again", "Cancel", "cancel")

// decide does what a person has decided: of the prompt of -key, or of all in a state and of
// -project, with -yes.
func (p *program) decide(ctx context.Context, s store, what, state string, decision decision) (err error) {
	rows := make([]row, 1)
	var client *mintlify.Client // to look a job up, if there is a key
	if p.prompt.Key == "" {
		rows, err = s.choose(ctx, state, p.prompt.Project)
	} else if rows[0], err = s.row(ctx, p.prompt.Key); err == nil && p.getenv("MINTLIFY_API_KEY") != "" {
		client, err = p.client()
	}
	switch {
	case err != nil:
		return err
	case len(rows) == 0:
		return usageError("there is nothing to %s", what)
	case p.prompt.Key == "" && !p.yes:
		for _, r := range rows[:min(len(rows), 20)] {
			fmt.Fprintf(p.stdout, "would %s %s of project %s\n", what, r.Key, r.Project)
		}
		return usageError("%d prompts to %s; nothing is changed without -yes", len(rows), what)
	}
	var failed []error
	for _, r := range rows {
		record, err := decision(s.runner(client, s.DB), ctx, r.Key)
		if err != nil {
			failed = append(failed, errors.New(inWordsOfFleet.Replace(err.Error())))
			continue
		}
		s.insertJobs(ctx, prompt{Key: r.Key, Priority: r.Priority})
		fmt.Fprintf(p.stdout, "%s is %s\n", r.Key, nameOf(record.State))
	}
	if len(failed) == len(rows) {
		return usageError("nothing is changed: %w", errors.Join(failed...))
	}
	return errors.Join(failed...)
}

func (p *program) pause(ctx context.Context, s store) error {
	project, now := p.prompt.Project, time.Now()
	known, err := number(ctx, s.DB, "SELECT count(*) FROM fleet_prompts WHERE project = $1 OR $1 = ''", project)
	if err == nil && known == 0 && project != "" {
		fmt.Fprintf(p.stderr, "fleet: no prompt of project %s is known; its next ones will wait\n",
			redact.OneLine(project, 100))
	}
	if err == nil {
		reason := "paused at " + now.UTC().Format(time.DateTime)
		err = pause(ctx, s.DB, pauseRow{project, "person", now, forever, 0, reason})
	}
	if err == nil {
		fmt.Fprintln(p.stdout, "paused")
	}
	return err
}

// resume lifts all pauses of a project. For all projects it leaves those that a person has paused.
func (p *program) resume(ctx context.Context, s store) error {
	result, err := s.ExecContext(ctx,
		"DELETE FROM fleet_pauses WHERE project = $1 OR $1 = '' AND source <> 'person'", p.prompt.Project)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); n == 0 {
		return errors.Join(err, usageError("there is nothing to resume"))
	}
	fmt.Fprintln(p.stdout, "resumed")
	return nil
}
