package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/events"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/report"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

func (p program) reportOnePage(ctx context.Context, r *reader, path, output string, since mintlify.Date) error {
	for _, name := range []string{"csv", "month", "sitemap"} {
		if r.isGiven(name) {
			return usage.Errorf("-page shows one page over all weeks, and by -since a day: leave out -%s", name)
		}
	}

	switch {
	case path == "":
		return usage.Errorf("-since wants -page, the page that was changed then")
	case output == "" || isFolder(output):
		return usage.Errorf("-page wants a file: give -o one-page.html")
	case since.Time().After(time.Now()):
		return usage.Errorf("-since is %v, in the future", since)
	}

	in := report.PageInput{Since: since}
	err := r.withStore(ctx, p, func() error {
		if len(r.projects) > 1 {
			return usage.Errorf("the database has %d projects: give one of them by -projects", len(r.projects))
		}
		return r.readPage(ctx, path, &in)
	})
	if err != nil {
		return err
	}

	page := func() ([]byte, error) { return report.OnePage(in) }
	if err := p.write([]result{{"-o", output, page}}, r.databaseFile(p)); err != nil {
		return err
	}
	return r.tooOld
}

func (r *reader) readPage(ctx context.Context, path string, in *report.PageInput) error {
	project := r.projects[0]
	in.Input = r.newInput(project)

	db := &rows{Store: r.store}
	in.SiteDays = db.series(ctx, store.Day, store.Window{Project: project})
	in.SiteWeeks = db.series(ctx, store.Week, store.Window{Project: project})
	since := mintlify.DayOf(in.Generated).AddDays(-events.Kept)
	_, in.Moved = db.moved(ctx, project, in.SiteDays, since, in.Moved)
	if db.err != nil {
		return db.err
	}

	var err error
	if in.Path, err = r.findPage(ctx, project, in.Moved, path); err != nil {
		return err
	}

	names := withSlashes(append([]string{in.Path}, in.Moved.From(in.Path)...))
	in.Weeks = db.ofPage(ctx, project, store.Week, names)
	in.Days = db.ofPage(ctx, project, store.Day, names)
	in.Months = db.ofPage(ctx, project, store.Month, names)

	in.Searches = readLists[mintlify.SearchTerm](ctx, db, project, store.Searches)
	in.ByPage = readLists[mintlify.FeedbackCount](ctx, db, project, store.FeedbackByPage)
	in.Conversations = readLists[mintlify.Conversation](ctx, db, project, store.Conversations)
	in.Comments = readLists[mintlify.Feedback](ctx, db, project, store.Feedback)

	if db.err == nil && len(in.Weeks) == 0 {
		return fmt.Errorf("%q has no whole week in the database: docs-report sync loads them", project)
	}
	return db.err
}

// findPage returns the path as the database has it. A page that has moved has its new name, which
// the database may not know yet.
func (r *reader) findPage(ctx context.Context, project string, moved report.Moved, path string) (string, error) {
	slashed := "/" + strings.Trim(path, "/")
	name := moved.Name(slashed)

	spellings := append([]string{path, slashed, name}, moved.From(name)...)
	for _, spelling := range withSlashes(spellings) {
		found, err := r.store.HasPage(ctx, project, spelling)
		if err != nil {
			return "", err
		}
		if found {
			return moved.Name(spelling), nil
		}
	}

	return "", usage.Errorf("the database has no page %q of %q: "+
		"give the path as the report shows it, such as /quickstart", path, project)
}
