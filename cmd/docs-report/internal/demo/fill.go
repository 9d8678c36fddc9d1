package demo

import (
	"context"
	"net/http"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/exports"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

const (
	// Project is the project of the made-up data.
	Project = "demo"

	// Budget does not end: the made-up data cost nothing.
	Budget = 1_000_000
)

// Fill loads a year of a site of that many pages into a new database, with the lists of a report
// of that many weeks.
func Fill(ctx context.Context, where string, pages, weeks int) error {
	silent := func(string, ...any) {}
	s, err := store.Open(ctx, where, store.Demo, silent)
	if err != nil {
		return err
	}

	defer s.Close()

	loader := &exports.Loader{Store: s, Budget: Budget, Pages: 5, Texts: true, Log: silent}
	loader.Client, err = mintlify.NewClient(mintlifytest.APIKey, Project,
		mintlify.WithHTTPClient(&http.Client{Transport: NewService(pages, time.Now())}),
		mintlify.WithRateLimiter(loader.Reserve),
		mintlify.WithMaxRetries(0))
	if err != nil {
		return err
	}

	yearAgo := mintlify.DayOf(time.Now().UTC().AddDate(-1, 0, 0))
	return loader.Load(ctx, exports.Range{Projects: []string{Project}, From: yearAgo, Weeks: weeks, Months: 14})
}
