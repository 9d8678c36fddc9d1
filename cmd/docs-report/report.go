package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/report"
)

// report writes the page, one for each project.
func (p program) report(ctx context.Context, args []string) error {
	r := p.newReader("report")
	output := r.String("o", "", "the page's `file`, - for stdout, or a folder for the pages of several projects")
	csv := r.String("csv", "", "a `file` for all pages as CSV, - for stdout")
	r.StringVar(&r.site, "site", "", "the `URL` of the documentation: paths become links")

	inputs, err := r.read(ctx, p, args)
	if err != nil {
		return err
	}
	if *output == "" && *csv == "" {
		return wrongf("give -o page.html, or -csv pages.csv")
	}

	if *csv != "" {
		text, err := report.CSV(inputs)
		if err != nil {
			return err
		}
		if err := p.write(*csv, text); err != nil {
			return err
		}
	}
	if *output != "" {
		return p.writePages(*output, inputs)
	}
	return nil
}

// writePages writes a page, or a folder of pages.
func (p program) writePages(output string, inputs []report.Input) error {
	isSeveral := len(inputs) > 1
	couldBeFolder := filepath.Ext(output) == "" && output != stdout
	switch {
	case isFolder(output), isSeveral && couldBeFolder:
		return p.writeFolder(output, inputs)
	case isSeveral:
		return wrongf("the database has %d projects: give a folder by -o, or one of them by -projects", len(inputs))
	}
	return p.writePage(output, inputs[0])
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir() || strings.HasSuffix(path, "/")
}
