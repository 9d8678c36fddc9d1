package once

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Dir is a [Store] in a directory of one machine, for all its processes. The file system
// must have hard links and keep what is synced, which a network share may not. A folder for
// each key has a file for each version, which is never changed or removed: delete a folder
// as a whole, and its thing is new again. Files have mode 0600.
type Dir struct{ path string }

// NewDir returns the Dir at path, and makes the directory if it is missing.
func NewDir(path string) (*Dir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("once: %w", err)
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return nil, fmt.Errorf("once: %w", err)
		}
		if err := syncFolder(filepath.Dir(path)); err != nil {
			return nil, fmt.Errorf("once: %w", err)
		}
	}
	return &Dir{path}, nil
}

// folder returns the folder of key: names that differ only in case would be the same on
// some file systems, and a key can be longer than a name.
func (d *Dir) folder(key string) string {
	return filepath.Join(d.path, fmt.Sprintf("%x", sha256.Sum256([]byte(key))))
}

func version(folder string, n int) string {
	return filepath.Join(folder, fmt.Sprintf("%09d.json", n))
}

// Get implements [Store].
func (d *Dir) Get(ctx context.Context, key string) (Record, error) {
	if ctx.Err() != nil {
		return Record{}, ctx.Err()
	}
	r, err := latest(d.folder(key))
	if err == nil && r.Version > 0 && r.Key != key {
		err = fmt.Errorf("%s is damaged: it has the key %q", d.folder(key), r.Key)
	}
	if err != nil {
		return Record{}, fmt.Errorf("once: %w", err)
	}
	return r, nil
}

// latest reads the newest version in folder: the zero Record if there is none.
func latest(folder string) (r Record, err error) {
	entries, err := os.ReadDir(folder) // sorted by name
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	name := ""
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), ".json") {
			name = filepath.Join(folder, entry.Name())
		}
	}
	if err != nil || name == "" { // a process died before it stored the first version
		return r, err
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return Record{}, fmt.Errorf("%s is damaged: %w", name, err)
	}
	if name != version(folder, r.Version) {
		return Record{}, fmt.Errorf("%s is damaged: it has the version %d", name, r.Version)
	}
	return r, nil
}

// Put implements [Store]. Of all processes that link the same version, one wins.
func (d *Dir) Put(ctx context.Context, r Record) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	folder := d.folder(r.Key)
	if r.Version == 1 {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return fmt.Errorf("once: %w", err)
		}
	} else if _, err := os.Lstat(version(folder, r.Version-1)); errors.Is(err, fs.ErrNotExist) {
		return ErrConflict
	}
	if err := d.link(folder, r); errors.Is(err, fs.ErrExist) {
		return ErrConflict
	} else if err != nil {
		return fmt.Errorf("once: %w", err)
	}
	return nil
}

func (d *Dir) link(folder string, r Record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(folder, "*.tmp") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) //nolint:errcheck // what is left over is never read
	_, err = file.Write(append(data, '\n'))
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Link(file.Name(), version(folder, r.Version)); err != nil {
		return err
	}
	if r.Version == 1 {
		if err := syncFolder(d.path); err != nil {
			return err
		}
	}
	return syncFolder(folder)
}

// List implements [Store]. It reads the newest version of every record.
func (d *Dir) List(ctx context.Context, states ...State) ([]Record, error) {
	entries, err := os.ReadDir(d.path)
	errs := []error{err}
	var records []Record
	for _, entry := range entries {
		if ctx.Err() != nil {
			break
		}
		if !entry.IsDir() {
			continue
		}
		r, err := latest(filepath.Join(d.path, entry.Name()))
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("once: %w", err))
		case r.Version > 0 && isIn(r, states):
			records = append(records, r)
		}
	}
	sortByUpdate(records)
	return records, errors.Join(append(errs, ctx.Err())...)
}

// syncFolder makes the names in folder outlive a loss of power.
func syncFolder(folder string) error {
	if runtime.GOOS == "windows" { // a folder cannot be synced there: NTFS keeps a journal of names
		return nil
	}
	file, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
