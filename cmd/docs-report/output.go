package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
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

// result is a file that a flag names, and what it will hold.
type result struct {
	flag, path string
	content    func() ([]byte, error)
}

// pages returns the files of a folder: a page for each project, and last the index, which links to them.
func pages(folder string, inputs []report.Input) []result {
	var all []result
	files := map[string]string{}
	for _, in := range inputs {
		name := pageName(in.Project)
		files[in.Project] = url.PathEscape(name)
		page := func() ([]byte, error) { return report.Page(in) }
		all = append(all, result{"-o", filepath.Join(folder, name), page})
	}
	index := func() ([]byte, error) { return report.Index(inputs, files) }
	return append(all, result{"-o", filepath.Join(folder, indexName), index})
}

// checkResults refuses to write one file twice, or over the database, which took hours to load.
func checkResults(results []result, database string) error {
	for i, r := range results {
		for _, other := range results[:i] {
			if isSameFile(r.path, other.path) {
				return usage.Errorf("%s and %s name the same file, %s", other.flag, r.flag, r.path)
			}
		}

		if database != "" && isSameFile(r.path, database) {
			return usage.Errorf("%s names the database's file, %s: nothing was written", r.flag, r.path)
		}
	}
	return nil
}

func (p program) write(results []result, database string) error {
	results = slices.DeleteFunc(results, func(r result) bool { return r.path == "" })
	if err := checkResults(results, database); err != nil {
		return err
	}

	for _, r := range results {
		data, err := r.content()
		if err != nil {
			return err
		}

		if err := writeFile(r.path, p.stdout, data); err != nil {
			return err
		}
		if r.path != stdout {
			p.log("Wrote %s.", r.path)
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

const indexName = "index.html"

// pageName is the file of a project's page in a folder.
func pageName(project string) string {
	name := url.PathEscape(project) + ".html"
	if strings.EqualFold(name, indexName) {
		return "index-project.html"
	}
	return name
}

// writeFile writes data to out if path is -. A file is written beside its place and renamed: on a full disk,
// last week's page stays whole. A link is followed, and an existing file keeps its mode.
func writeFile(path string, out io.Writer, data []byte) error {
	if path == stdout {
		_, err := out.Write(data)
		return err
	}

	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return usage.Errorf("%s cannot be written: %w", path, err)
	}
	if place, mode, isReplaceable := replaceable(path); isReplaceable {
		if err := replace(place, mode, data); !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return os.WriteFile(path, data, 0o666) // less umask
}

// replaceable returns a regular file without other hard links, and its mode, which is 0 for a file that is not
// there. A device or FIFO is written into, and so is what a link names that leads nowhere yet.
func replaceable(path string) (place string, mode fs.FileMode, isReplaceable bool) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return path, 0, true
	}

	place, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", 0, false
	}
	info, err := os.Stat(place)
	if err != nil || !info.Mode().IsRegular() || links(info) > 1 {
		return "", 0, false
	}
	return place, info.Mode().Perm(), true
}

// replace writes a file beside a place and renames it.
func replace(place string, mode fs.FileMode, data []byte) error {
	beside := filepath.Join(filepath.Dir(place), fmt.Sprintf(".docs-report-%x", rand.Uint64()))
	file, err := os.OpenFile(beside, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666) // less umask
	if err != nil {
		return err
	}
	defer os.Remove(beside) //nolint:errcheck // is not there after the rename

	_, err = file.Write(data)
	if mode != 0 {
		err = errors.Join(err, file.Chmod(mode))
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("%s is as it was: %w", place, err)
	}
	return os.Rename(beside, place)
}
