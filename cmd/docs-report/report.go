package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/report"
)

// report writes the page, one for each project.
func (p program) report(ctx context.Context, args []string) error {
	r := p.newReader("report")
	output := r.String("o", "", "the page's `file`, - for stdout, or a folder for the pages of several projects")
	csv := r.String("csv", "", "a `file` for all pages as CSV, - for stdout")
	r.StringVar(&r.shown.Site, "site", "", "the `URL` of the documentation: paths become links")

	page := r.String("page", "", "the `path` of one page of the documentation, shown over all weeks")
	var since mintlify.Date
	r.dayVar(&since, time.DateOnly, "since",
		"the `day` on which that page was changed: compares the four weeks before and after")

	if err := r.parseReader(p, args); err != nil {
		return err
	}

	if *page != "" || !since.IsZero() {
		return p.reportOnePage(ctx, r, *page, *output, since)
	}

	inputs, err := r.read(ctx, p)
	if err != nil {
		return err
	}

	if *output == "" && *csv == "" {
		return usage.Errorf("give -o page.html, or -csv pages.csv")
	}

	results, err := resultsOf(*output, *csv, inputs)
	if err != nil {
		return err
	}
	if err := p.write(results, r.databaseFile(p)); err != nil {
		return err
	}
	return r.tooOld
}

func resultsOf(output, csv string, inputs []report.Input) ([]result, error) {
	results := []result{{"-csv", csv, func() ([]byte, error) { return report.CSV(inputs) }}}
	isSeveral := len(inputs) > 1
	couldBeFolder := filepath.Ext(output) == "" && output != stdout && output != ""

	switch {
	case isFolder(output) || isSeveral && couldBeFolder:
		return append(results, pages(output, inputs)...), os.MkdirAll(output, 0o777)
	case isSeveral && output != "":
		return nil, usage.Errorf("the database has %d projects: give a folder by -o, or one of them by -projects",
			len(inputs))
	}
	return append(results, result{"-o", output, func() ([]byte, error) { return report.Page(inputs[0]) }}), nil
}

func (p program) digest(ctx context.Context, args []string) error {
	r := p.newReader("digest")
	slack := r.Bool("slack", false, "print JSON for a webhook of Slack")
	if err := r.parseReader(p, args); err != nil {
		return err
	}

	inputs, err := r.read(ctx, p)
	if err != nil {
		return err
	}

	text := strings.Join(report.Digest(inputs), "\n")
	if *slack {
		text = report.Slack(text)
	}
	if err := p.print(text); err != nil {
		return err
	}
	return r.tooOld
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir() || strings.HasSuffix(path, "/")
}
