package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/report"
)

const stdout = "-"

// writeFolder writes the pages first: the index links to them.
func (p program) writeFolder(folder string, inputs []report.Input) error {
	err := os.MkdirAll(folder, 0o777)
	var files []string
	for _, in := range inputs {
		name := url.PathEscape(in.Project) + ".html"
		if strings.EqualFold(name, "index.html") {
			name = "index-project.html"
		}
		files = append(files, url.PathEscape(name))
		if err == nil {
			err = p.write(filepath.Join(folder, name))(report.Page(in))
		}
	}
	if err != nil {
		return err
	}
	return p.write(filepath.Join(folder, "index.html"))(report.Index(inputs, files))
}

// write returns what writes a file, once its text is made, and says so.
func (p program) write(path string) func(data []byte, err error) error {
	return func(data []byte, err error) error {
		if err == nil {
			err = writeFile(path, p.stdout, data)
		}
		if err == nil && path != stdout {
			fmt.Fprintf(p.stderr, "Wrote %s.\n", path)
		}
		return err
	}
}

// writeFile replaces the file at path in one step: nobody opens half a page, and a crash
// leaves the old one. A file keeps its mode. A link is followed; a device or FIFO is
// written into.
func writeFile(path string, out io.Writer, data []byte) error {
	if path == stdout {
		_, err := out.Write(data)
		return err
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	info, found := os.Stat(path)
	if found == nil && !info.Mode().IsRegular() {
		return os.WriteFile(path, data, 0) // of a folder, an error
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return wrongf("%s cannot be written: %w", path, err)
	}
	temporary := filepath.Join(filepath.Dir(path), fmt.Sprintf(".docs-report-%x", rand.Uint64()))
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666) // less umask
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temporary) }() // gone already when all is well
	_, err = file.Write(data)
	if found == nil {
		err = errors.Join(err, file.Chmod(info.Mode().Perm()))
	}
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(temporary, path)
	}
	return err
}
