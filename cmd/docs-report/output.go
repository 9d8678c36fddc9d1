package main

import (
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/report"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
)

const stdout = "-"

// print writes a result to stdout.
func (p program) print(text string) error {
	if _, err := fmt.Fprintln(p.stdout, strings.TrimSuffix(text, "\n")); err != nil {
		return fmt.Errorf("the result could not be printed: %w", err)
	}
	return nil
}

// target is a file that a flag names.
type target struct{ flag, path string }

func folderTargets(folder string, inputs []report.Input) []target {
	all := []target{{"-o", filepath.Join(folder, indexName)}}
	for _, in := range inputs {
		all = append(all, target{"-o", filepath.Join(folder, pageName(in.Project))})
	}
	return all
}

// checkTargets refuses to write one file twice, or over the database, which took hours to load.
func checkTargets(targets []target, database string) error {
	targets = slices.DeleteFunc(slices.Clone(targets), func(t target) bool { return t.path == "" })
	for i, t := range targets {
		for _, other := range targets[:i] {
			if isSameFile(t.path, other.path) {
				return usage.Errorf("%s and %s name the same file, %s", other.flag, t.flag, t.path)
			}
		}

		if database != "" && isSameFile(t.path, database) {
			return usage.Errorf("%s names the database's file, %s: nothing was written", t.flag, t.path)
		}
	}
	return nil
}

func isSameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return os.SameFile(infoA, infoB)
	}

	absoluteA, errA := filepath.Abs(a)
	absoluteB, errB := filepath.Abs(b)
	return errA == nil && errB == nil && absoluteA == absoluteB
}

func (p program) writeCSV(path string, inputs []report.Input) error {
	if path == "" {
		return nil
	}
	text, err := report.CSV(inputs)
	if err != nil {
		return err
	}
	return p.write(path, text)
}

func (p program) writePage(path string, in report.Input) error {
	page, err := report.Page(in)
	if err != nil {
		return err
	}
	return p.write(path, page)
}

// writeFolder writes the pages first: the index links to them.
func (p program) writeFolder(folder string, inputs []report.Input) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}

	files := map[string]string{}
	for _, in := range inputs {
		name := pageName(in.Project)
		files[in.Project] = url.PathEscape(name)
		if err := p.writePage(filepath.Join(folder, name), in); err != nil {
			return err
		}
	}

	index, err := report.Index(inputs, files)
	if err != nil {
		return err
	}
	return p.write(filepath.Join(folder, indexName), index)
}

const indexName = "index.html"

// pageName is the file of a project's page in a folder.
func pageName(project string) string {
	name := url.PathEscape(project) + ".html"
	if strings.EqualFold(name, indexName) {
		return "index-project.html"
	}
	return name
}

func (p program) write(path string, data []byte) error {
	if err := writeFile(path, p.stdout, data); err != nil {
		return err
	}

	if path != stdout {
		fmt.Fprintf(p.stderr, "Wrote %s.\n", path)
	}
	return nil
}

// writeFile writes data to out if path is -. A link is followed, a device or FIFO is written into, and an
// existing file keeps its mode.
func writeFile(path string, out io.Writer, data []byte) error {
	if path == stdout {
		_, err := out.Write(data)
		return err
	}

	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return usage.Errorf("%s cannot be written: %w", path, err)
	}
	return os.WriteFile(path, data, 0o666) // less umask
}
