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
	if *csv != "" {
		if err := p.write(*csv)(report.CSV(inputs)); err != nil {
			return err
		}
	}
	info, err := os.Stat(*output)
	isFolder := err == nil && info.IsDir() || strings.HasSuffix(*output, "/")
	switch {
	case *output == "" && *csv == "":
		return wrongf("give -o page.html, or -csv pages.csv")
	case *output == "":
		return nil
	case isFolder || len(inputs) > 1 && filepath.Ext(*output) == "" && *output != stdout:
		return p.writeFolder(*output, inputs)
	case len(inputs) > 1:
		return wrongf("the database has %d projects: give a folder by -o, or one of them by -projects", len(inputs))
	}
	return p.write(*output)(report.Page(inputs[0]))
}
