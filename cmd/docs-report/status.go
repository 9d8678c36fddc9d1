package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/safetext"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/exports"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// status prints how the last sync of each project ended, and its newest day.
func (p program) status(ctx context.Context, args []string) error {
	f := p.newFlags("status")
	f.Func("projects", "the `projects`, with commas between them (default: all in the database)", f.setProjects)
	f.addMaxAge()
	if err := f.parse(p, args); err != nil {
		return err
	}

	s, err := store.Read(ctx, cmp.Or(f.db, p.getenv("DATABASE_URL")))
	if err != nil {
		return err
	}

	defer s.Close()

	return p.printStatus(ctx, f, s)
}

func (p program) printStatus(ctx context.Context, f *flags, s *store.Store) error {
	syncs, err := s.Syncs(ctx)
	if err != nil {
		return err
	}
	known, err := s.Projects(ctx)
	if err != nil {
		return err
	}

	known = slices.AppendSeq(known, maps.Keys(syncs)) // may have loaded nothing
	slices.Sort(known)
	projects, err := f.choose(slices.Compact(known))
	if err != nil {
		return err
	}

	var lines []string
	for _, project := range projects {
		all, err := s.Exports(ctx, project)
		if err != nil {
			return err
		}
		lines = append(lines, safetext.OneLine(project, 100), "  last sync   "+syncText(syncs, project))
		lines = append(lines, "  newest day  "+dayText(newestDay(all)))
		lines = append(lines, troubles("  not loaded  ", all)...)
	}

	if err := p.print(strings.Join(lines, "\n")); err != nil {
		return err
	}
	return f.checkAge(ctx, s, projects)
}

func syncText(syncs map[string]store.Sync, project string) string {
	last, hasEnded := syncs[project]
	if !hasEnded {
		return "none has ended yet"
	}

	text := last.At.Format("2006-01-02 15:04 UTC") + ", missing: " + about(last.Missing)
	if last.Problem != "" {
		text += ": " + safetext.OneLine(last.Problem, 300)
	}
	return text
}

// newestDay returns the newest day of which the visitors are complete. It reports false if there is none.
func newestDay(all []store.Export) (store.Export, bool) {
	for _, e := range all { // the newest first
		if e.Kind == store.Visitors && e.Span() == store.Day && e.State != store.Begun {
			return e, true
		}
	}
	return store.Export{}, false
}

func dayText(newest store.Export, ok bool) string {
	if !ok {
		return "none"
	}

	text := newest.From.String() + ", may still change"
	if exports.IsFinal(newest.At, newest.Window) {
		text = newest.From.String() + ", final"
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

// troubles says what the last runs could not load, a line for each kind of export.
func troubles(prefix string, all []store.Export) []string {
	failed := map[store.Kind][]store.Export{}
	for _, e := range all { // the newest first
		if e.HasFailed() {
			failed[e.Kind] = append(failed[e.Kind], e)
		}
	}

	var texts []string
	for _, kind := range slices.Sorted(maps.Keys(failed)) {
		newest := failed[kind][0]
		days := fmt.Sprintf("%v to %v", newest.From, newest.To.AddDays(-1))
		text := fmt.Sprintf("%s%s of %s: %s", prefix, kind.Name(), days, safetext.OneLine(newest.Problem, 300))
		if others := len(failed[kind]) - 1; others > 0 {
			text += fmt.Sprintf(" (and %d more)", others)
		}
		texts = append(texts, text)
	}
	return texts
}

// addMaxAge declares -max-age.
func (f *flags) addMaxAge() {
	f.countVar("max-age", "d", "8d", "exit 1 if a project's newest day is older than these `days`",
		func(days int) { f.maxAge = days })
}

// checkAge returns an error that names the projects whose newest day is older than -max-age.
func (f *flags) checkAge(ctx context.Context, s *store.Store, projects []string) error {
	if f.maxAge == 0 {
		return nil
	}

	oldest := mintlify.DayOf(time.Now().UTC()).AddDays(-f.maxAge)
	var old []string
	for _, project := range projects {
		stored, err := s.Exports(ctx, project)
		if err != nil {
			return err
		}

		newest, ok := newestDay(stored)
		switch {
		case !ok:
			old = append(old, fmt.Sprintf("%q (newest day: none)", project))
		case newest.From.Time().Before(oldest.Time()):
			old = append(old, fmt.Sprintf("%q (newest day: %v)", project, newest.From))
		}
	}

	if len(old) == 0 {
		return nil
	}
	return fmt.Errorf("older than -max-age %dd: %s. Look at docs-report status and at sync's log",
		f.maxAge, strings.Join(old, ", "))
}
