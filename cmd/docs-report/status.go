package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/redact"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/exports"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// status prints how the last sync of each project ended, and its newest day.
func (p program) status(ctx context.Context, args []string) error {
	f := p.newFlags("status")
	f.Func("projects", "the `projects`, with commas between them (default: all in the database)", f.setProjects)
	maxAge := f.maxAgeVar()
	if err := f.parse(p, args); err != nil {
		return err
	}

	s, err := store.Read(ctx, cmp.Or(f.db, p.getenv("DATABASE_URL")))
	if err != nil {
		return err
	}

	defer s.Close()

	syncs, err := s.Syncs(ctx)
	if err != nil {
		return err
	}

	known, err := s.Projects(ctx)
	if err != nil {
		return err
	}
	for _, last := range syncs { // may have loaded nothing
		known = append(known, last.Project)
	}
	slices.Sort(known)

	projects, err := f.choose(slices.Compact(known))
	if err != nil {
		return err
	}

	var all []string
	for _, project := range projects {
		text, err := statusOf(ctx, s, syncs, project)
		if err != nil {
			return err
		}
		all = append(all, text)
	}

	if err := p.print(strings.Join(all, "\n")); err != nil {
		return err
	}
	return checkAge(ctx, s, projects, *maxAge)
}

func statusOf(ctx context.Context, s *store.Store, syncs []store.Sync, project string) (string, error) {
	last := "none has ended yet"
	for _, sync := range syncs {
		if sync.Project == project {
			last = syncText(sync)
		}
	}

	newest, hasDay, err := s.Newest(ctx, project, store.Day)
	if err != nil {
		return "", err
	}

	troubles, err := s.Troubles(ctx, project)
	if err != nil {
		return "", err
	}

	lines := []string{
		redact.OneLine(project, 100),
		"  last sync   " + last,
		"  newest day  " + dayText(newest, hasDay),
	}
	for _, t := range troubles {
		lines = append(lines, "  not loaded  "+troubleText(t))
	}
	return strings.Join(lines, "\n"), nil
}

func syncText(last store.Sync) string {
	text := last.At.Format("2006-01-02 15:04 UTC")
	switch last.Missing {
	case 0:
		text += ", nothing was missing then"
	case 1:
		text += ", about 1 request missing"
	default:
		text += fmt.Sprintf(", about %d requests missing", last.Missing)
	}

	if last.Problem != "" {
		text += ": " + redact.OneLine(last.Problem, 300)
	}
	return text
}

func dayText(newest store.Export, ok bool) string {
	if !ok {
		return "none"
	}

	text := newest.From.String()
	if exports.IsFinal(newest.At, newest.Window) {
		text += ", final"
	} else {
		text += ", may still change"
	}

	today := mintlify.DayOf(time.Now().UTC())
	switch since := (store.Window{From: newest.To, To: today}).Days(); {
	case since == 1:
		text += "; 1 day since is not loaded"
	case since > 1:
		text += fmt.Sprintf("; %d days since are not loaded", since)
	}
	return text
}

func troubleText(t store.Trouble) string {
	name := strings.ReplaceAll(string(t.Kind), string(store.Conversations), "questions")
	days := fmt.Sprintf("%v to %v", t.Newest.From, t.Newest.To.AddDays(-1))
	text := fmt.Sprintf("%s of %s: %s", name, days, redact.OneLine(t.Problem, 300))
	if t.Exports > 1 {
		text += fmt.Sprintf(" (and %d more)", t.Exports-1)
	}
	return text
}

// maxAgeVar declares -max-age. The value is in days; 0 is no limit.
func (f *flags) maxAgeVar() *int {
	days := 0
	f.countVar("max-age", "d", "8d", "exit 1 if a project's newest day is older than these `days`",
		func(n int) { days = n })
	return &days
}

// checkAge returns an error that names the projects whose newest day is older than maxAge days.
func checkAge(ctx context.Context, s *store.Store, projects []string, maxAge int) error {
	if maxAge == 0 {
		return nil
	}

	oldest := mintlify.DayOf(time.Now().UTC()).AddDays(-maxAge)
	var old []string
	for _, project := range projects {
		newest, ok, err := s.Newest(ctx, project, store.Day)
		if err != nil {
			return err
		}
		if ok && !newest.From.Time().Before(oldest.Time()) {
			continue
		}

		day := "none"
		if ok {
			day = newest.From.String()
		}
		old = append(old, fmt.Sprintf("%q (newest day: %s)", project, day))
	}

	if len(old) == 0 {
		return nil
	}
	return fmt.Errorf("older than -max-age %dd: %s. Look at docs-report status and at sync's log",
		maxAge, strings.Join(old, ", "))
}
