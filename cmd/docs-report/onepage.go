package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/report"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// checkOnePage refuses flags that do not go with a report of one page.
func (r *reader) checkOnePage(path, output, csv string, since mintlify.Date) error {
	switch {
	case path != "" && len(r.marks) > 0:
		return usage.Errorf("-page shows the day of a change by -since: leave out -mark")
	case path != "" && len(r.sitemap) > 0:
		return usage.Errorf("-page shows one page: leave out -sitemap")
	case path == "" && !since.IsZero():
		return usage.Errorf("-since wants -page, the page that was changed then")
	case path == "":
		return nil

	case csv != "" || !r.month.IsZero():
		return usage.Errorf("-page shows one page over all weeks: leave out -csv and -month")
	case output == "" || isFolder(output):
		return usage.Errorf("-page wants a file: give -o one-page.html")
	case since.Time().After(time.Now()):
		return usage.Errorf("-since is %v, in the future", since)
	}
	return nil
}

func (p program) reportOnePage(ctx context.Context, r *reader, path, output string, since mintlify.Date) error {
	var in report.PageInput
	err := r.withStore(ctx, p, func() error {
		if len(r.projects) > 1 {
			return usage.Errorf("the database has %d projects: give one of them by -projects", len(r.projects))
		}

		var err error
		in, err = r.pageInput(ctx, r.projects[0], path)
		return err
	})
	if err != nil {
		return err
	}
	if err := checkTargets([]target{{"-o", output}}, r.databaseFile(p)); err != nil {
		return err
	}

	in.Since = since

	page, err := report.OnePage(in)
	if err != nil {
		return err
	}
	if err := p.write(output, page); err != nil {
		return err
	}
	return r.tooOld
}

// pageInput reads all that the database has about a page.
func (r *reader) pageInput(ctx context.Context, project, path string) (report.PageInput, error) {
	in := report.PageInput{
		Project:   project,
		Demo:      r.store.Source == store.Demo,
		Site:      r.site,
		Moved:     r.moved,
		Generated: time.Now().UTC(),
	}

	var err error
	if in.Path, err = r.findPage(ctx, project, path); err != nil {
		return in, err
	}

	if in.Weeks, err = r.pageSeries(ctx, project, store.Week, in.Path); err != nil {
		return in, err
	}
	if in.Days, err = r.pageSeries(ctx, project, store.Day, in.Path); err != nil {
		return in, err
	}
	if in.Months, err = r.pageSeries(ctx, project, store.Month, in.Path); err != nil {
		return in, err
	}

	if len(in.Weeks) == 0 {
		return in, fmt.Errorf("%q has no whole week in the database: docs-report sync loads them", project)
	}

	if in.Searches, err = readLists[mintlify.SearchTerm](ctx, r.store, project, store.Searches); err != nil {
		return in, err
	}
	if in.ByPage, err = readLists[mintlify.FeedbackCount](ctx, r.store, project, store.FeedbackByPage); err != nil {
		return in, err
	}

	in.Conversations, err = readLists[mintlify.Conversation](ctx, r.store, project, store.Conversations)
	if err != nil {
		return in, err
	}

	in.Comments, err = readLists[mintlify.Feedback](ctx, r.store, project, store.Feedback)
	return in, err
}

// pageSeries returns the visitors of a page by day or week, with those of its old names.
func (r *reader) pageSeries(ctx context.Context, project string, span store.Span, path string) ([]store.Point, error) {
	sum, err := r.store.PageSeries(ctx, project, span, path)
	if err != nil {
		return nil, err
	}

	for _, old := range r.moved.From(path) {
		weeks, err := r.store.PageSeries(ctx, project, span, old)
		if err != nil {
			return nil, err
		}
		for i := range sum { // each series has all days or weeks
			sum[i].Counts.Human += weeks[i].Counts.Human
			sum[i].Counts.AI += weeks[i].Counts.AI
			sum[i].Counts.Total += weeks[i].Counts.Total
		}
	}
	return sum, nil
}

// findPage returns the path as the database has it. A page that has moved has its new name, which
// the database may not know yet.
func (r *reader) findPage(ctx context.Context, project, path string) (string, error) {
	slashed := "/" + strings.Trim(path, "/")
	name := r.moved.Name(slashed)

	for _, spelling := range append([]string{path, slashed, name}, r.moved.From(name)...) {
		found, err := r.store.HasPage(ctx, project, spelling)
		if err != nil {
			return "", err
		}
		if found {
			return r.moved.Name(spelling), nil
		}
	}

	return "", usage.Errorf("the database has no page %q of %q: "+
		"give the path as the report shows it, such as /quickstart", path, project)
}

func readLists[T any](ctx context.Context, s *store.Store, project string, kind store.Kind) ([]report.List[T], error) {
	exports, err := s.Lists(ctx, project, kind)
	if err != nil {
		return nil, err
	}

	all := make([]report.List[T], len(exports))
	for i, e := range exports {
		if err := readList(ctx, s, e.Window, kind, &all[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}
