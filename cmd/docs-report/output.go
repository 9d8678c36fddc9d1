package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
)

const stdout = "-"

// writeFile replaces the file at path in one step: nobody opens half a page, and a crash
// leaves the old one. A file keeps its mode. A link is followed; a device or FIFO is
// written into.
func writeFile(path string, out io.Writer, write func(io.Writer) error) error {
	if path == stdout {
		return write(out)
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	info, found := os.Stat(path)
	if found == nil && !info.Mode().IsRegular() {
		file, err := os.OpenFile(path, os.O_WRONLY, 0) // of a folder, an error
		if err != nil {
			return err
		}
		return errors.Join(write(file), file.Close())
	}
	temporary := filepath.Join(filepath.Dir(path), fmt.Sprintf(".docs-report-%x", rand.Uint64()))
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666) // less umask
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temporary) }() // gone already when all is well
	err = write(file)
	if found == nil {
		err = errors.Join(err, file.Chmod(info.Mode().Perm()))
	}
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(temporary, path)
	}
	if folder, failed := os.Open(filepath.Dir(path)); failed == nil {
		_ = folder.Sync() // not every system can, and the file is whole anyway
		_ = folder.Close()
	}
	return err
}
