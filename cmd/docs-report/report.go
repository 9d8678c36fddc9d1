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
	r.StringVar(&r.site, "site", "", "the `URL` of the documentation: paths become links")

	page := r.String("page", "", "the `path` of one page of the documentation, shown over all weeks")
	var since mintlify.Date
	r.dayVar(&since, time.DateOnly, "since",
		"the `day` on which that page was changed: compares the four weeks before and after")

	if err := r.parseReader(p, args); err != nil {
		return err
	}

	if err := r.checkOnePage(*page, *output, *csv, since); err != nil {
		return err
	}
	if *page != "" {
		return p.reportOnePage(ctx, r, *page, *output, since)
	}

	inputs, err := r.read(ctx, p)
	if err != nil {
		return err
	}

	if *output == "" && *csv == "" {
		return usage.Errorf("give -o page.html, or -csv pages.csv")
	}

	isSeveral := len(inputs) > 1
	couldBeFolder := filepath.Ext(*output) == "" && *output != stdout && *output != ""
	inFolder := isFolder(*output) || isSeveral && couldBeFolder
	if isSeveral && *output != "" && !inFolder {
		return usage.Errorf("the database has %d projects: give a folder by -o, or one of them by -projects",
			len(inputs))
	}

	targets := []target{{"-csv", *csv}, {"-o", *output}}
	if inFolder {
		targets = append(targets[:1], folderTargets(*output, inputs)...)
	}
	if err := checkTargets(targets, r.databaseFile(p)); err != nil {
		return err
	}

	if err := p.writeCSV(*csv, inputs); err != nil {
		return err
	}

	if err := p.writePages(*output, inFolder, inputs); err != nil {
		return err
	}
	return r.tooOld
}

func (p program) writePages(output string, inFolder bool, inputs []report.Input) error {
	switch {
	case output == "":
		return nil
	case inFolder:
		return p.writeFolder(output, inputs)
	}
	return p.writePage(output, inputs[0])
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir() || strings.HasSuffix(path, "/")
}
