package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
)

func (p program) forget(ctx context.Context, args []string) error {
	f := p.newFlags("forget")
	texts := f.Bool("texts", false,
		"delete all that readers wrote: questions, answers, comments, code and contacts; counts stay")
	ids := map[store.Kind]*string{
		store.Conversations: f.String("conversation", "", "delete the conversation of this `ID`, for good"),
		store.Feedback:      f.String("feedback", "", "delete the feedback of this `ID`, for good"),
		store.Searches:      f.String("search", "", "delete the search `TERM` in all its spellings, for good"),
	}
	project := f.String("project", store.AllProjects, "only in this `project`")
	if err := f.parse(p, args); err != nil {
		return err
	}

	maps.DeleteFunc(ids, func(_ store.Kind, id *string) bool { return *id == "" })
	if len(ids) > 1 || *texts == (len(ids) == 1) {
		return usage.Errorf("give one of -texts, -conversation ID, -feedback ID and -search TERM")
	}

	s, err := store.Open(ctx, cmp.Or(f.db, p.getenv("DATABASE_URL")), store.AnySource)
	if err != nil {
		return err
	}

	defer s.Close()

	known, err := s.Projects(ctx)
	if err != nil {
		return err
	}
	if *project != store.AllProjects && !slices.Contains(known, *project) {
		return errUnknown(*project, known)
	}

	for kind, id := range ids {
		if err := p.forgetByID(ctx, s, *project, kind, *id); err != nil {
			return err
		}
	}
	if !*texts {
		return nil
	}

	rows, err := s.ForgetTexts(ctx, *project)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.stderr, "Deleted what readers wrote in %d rows. "+
		"From now on, run sync without -texts: with -texts it loads them again.\n", rows)
	return nil
}

func (p program) forgetByID(ctx context.Context, s *store.Store, project string, kind store.Kind, id string) error {
	rows, err := s.Forget(ctx, project, kind, id)
	if err != nil {
		return err
	}

	what := "this search term" // the log of a job may be kept for longer than the database
	if kind != store.Searches {
		what = fmt.Sprintf("%s %q", strings.TrimSuffix(string(kind), "s"), id)
	}
	fmt.Fprintf(p.stderr, "Deleted %d rows of %s. A later sync leaves it out, too.\n", rows, what)
	return nil
}
