package main

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
)

// flags are the flags that several commands have.
type flags struct {
	*flag.FlagSet
	db       string
	demo     bool
	projects []string
	weeks    int
	maxAge   int // days; 0 is no limit
}

func (p program) newFlags(name string) *flags {
	f := &flags{weeks: 4, FlagSet: flag.NewFlagSet("docs-report "+name, flag.ContinueOnError)}
	f.StringVar(&f.db, "db", "",
		"the `database`: sqlite:PATH, postgres://… or host=… dbname=… (default: DATABASE_URL)")
	return f
}

// addPeriod declares what sync, plan, report and digest have in common.
func (f *flags) addPeriod() {
	f.Func("projects", "the `projects`, with commas between them", f.setProjects)
	f.IntVar(&f.weeks, "weeks", f.weeks, "how many whole `weeks` a report shows: "+
		"sync loads these and as many before; give report the same number, or 1")
}

func (f *flags) setProjects(text string) error {
	f.projects = strings.Split(strings.ReplaceAll(text, " ", ""), ",")
	if slices.Contains(f.projects, "") {
		return errors.New("a project is empty")
	}
	return nil
}

// choose returns the projects that -projects names, or all that the database knows.
func (f *flags) choose(known []string) ([]string, error) {
	if len(known) == 0 {
		return nil, errors.New("the database has no numbers yet: docs-report sync loads them")
	}

	for _, project := range f.projects {
		if !slices.Contains(known, project) {
			return nil, errUnknown(project, known)
		}
	}
	if len(f.projects) > 0 {
		return f.projects, nil
	}
	return known, nil
}

func errUnknown(project string, known []string) error {
	return usage.Errorf("the database has no project %q, only: %s", project, strings.Join(known, ", "))
}

func (f *flags) parse(p program, args []string) error {
	err := usage.Parse(f.FlagSet, args)
	if errors.Is(err, flag.ErrHelp) {
		var help strings.Builder
		f.SetOutput(&help)
		f.Usage()
		if err := p.print(help.String()); err != nil {
			return err
		}
	}

	switch {
	case err != nil:
		return err
	case f.NArg() > 0:
		return usage.Errorf("unexpected argument %q", f.Arg(0))
	case f.weeks < 1 || f.weeks > 52:
		return usage.Errorf("-weeks is %d, want 1 to 52", f.weeks)
	}
	return nil
}

func (f *flags) isGiven(name string) bool {
	found := false
	f.Visit(func(given *flag.Flag) { found = found || given.Name == name })
	return found
}

// countVar declares a flag whose value is a number with a unit, such as 13m. It calls set with the number.
func (f *flags) countVar(name, unit, example, help string, set func(int)) {
	f.Func(name, help, func(text string) error {
		number, hasUnit := strings.CutSuffix(text, unit)
		n, err := strconv.Atoi(number)
		if err != nil || !hasUnit || n < 1 || n > 9999 {
			return errors.New("want it as " + example)
		}
		set(n)
		return nil
	})
}

func (f *flags) dayVar(into *mintlify.Date, layout, name, help string) {
	f.Func(name, help, func(text string) error {
		t, err := time.Parse(layout, text)
		if err != nil {
			return fmt.Errorf("want it as %s", layout)
		}
		*into = mintlify.DayOf(t)
		return nil
	})
}
