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
	"slices"
)

// Dir is a [Store] in a directory of one machine, for all its processes. The file system must have
// hard links and keep what is synced, which a network share may not. A folder for each key has a
// file for each version, with mode 0600. No file is ever changed or removed.
type Dir struct{ path string }

// NewDir returns the Dir at path, and makes the directory if it is missing.
func NewDir(path string) (*Dir, error) {
	if path == "" {
		return nil, fmt.Errorf("once: %w", invalid("path", "is empty"))
	}

	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("once: %w", err)
	}

	if err := os.MkdirAll(absolute, 0o700); err != nil {
		return nil, fmt.Errorf("once: %w", err)
	}

	_ = syncFolder(filepath.Dir(absolute)) // which this process may not be allowed to read
	return &Dir{absolute}, nil
}

// folder returns the folder of a key. A key can be longer than a file name, and two keys can differ only in case.
func (d *Dir) folder(key string) string {
	return filepath.Join(d.path, fmt.Sprintf("%x", sha256.Sum256([]byte(key))))
}

// file returns the file of a version. In the order of names, the versions are in order.
func (d *Dir) file(key string, version int) string {
	return filepath.Join(d.folder(key), fmt.Sprintf("%09d.json", version))
}

// Get implements [Store].
func (d *Dir) Get(ctx context.Context, key string) (Record, error) {
	if ctx.Err() != nil {
		return Record{}, ctx.Err()
	}

	record, err := d.newest(d.folder(key))
	if err == nil && record.Version == 0 {
		err = d.check()
	}
	return record, err
}

// check returns an error if the directory does not exist, for example because its volume is
// not mounted: the records that were in it must not count as missing.
func (d *Dir) check() error {
	if d.path == "" {
		return errors.New("once: the store has no directory: call NewDir")
	}

	_, err := os.Stat(d.path)
	if err != nil {
		return fmt.Errorf("once: the directory of the records has vanished; is its volume mounted? %w", err)
	}
	return nil
}

// newest reads the newest version in a folder. There is none if a process died before it had stored the first.
func (d *Dir) newest(folder string) (Record, error) {
	files, err := os.ReadDir(folder) // sorted by name
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, nil
	}
	if err != nil {
		return Record{}, err
	}

	for _, file := range slices.Backward(files) {
		if filepath.Ext(file.Name()) == ".json" {
			return d.readVersion(filepath.Join(folder, file.Name()))
		}
	}
	return Record{}, nil
}

// readVersion reads the record in a file, and checks that it belongs there.
func (d *Dir) readVersion(name string) (Record, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return Record{}, err
	}

	return decode(data, name, func(r Record) bool { return name == d.file(r.Key, r.Version) })
}

// decode returns the record that is stored at a place, if it belongs there.
func decode(data []byte, place string, belongs func(Record) bool) (Record, error) {
	var r Record
	err := json.Unmarshal(data, &r)
	switch {
	case err != nil:
		return Record{}, fmt.Errorf("damaged record %s: %w", place, err)
	case !belongs(r):
		return Record{}, fmt.Errorf("damaged record %s: it belongs elsewhere", place)
	}
	return r, nil
}

// Put implements [Store]. Of all processes that link the same version, one wins.
func (d *Dir) Put(ctx context.Context, r Record) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}

	if err := d.check(); err != nil {
		return err
	}

	folder := d.folder(r.Key)
	err := os.Mkdir(folder, 0o700) // MkdirAll would hide that d.path has vanished meanwhile
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if r.Version > 1 {
		_, err = os.Lstat(d.file(r.Key, r.Version-1))
		if errors.Is(err, fs.ErrNotExist) {
			return ErrConflict
		}
	}

	temporary, err := writeTemporary(folder, r)
	if err != nil {
		return err
	}

	defer os.Remove(temporary) //nolint:errcheck // what is left over is never read
	err = os.Link(temporary, d.file(r.Key, r.Version))
	if errors.Is(err, fs.ErrExist) {
		return ErrConflict
	}
	if err != nil {
		return err
	}

	if err := syncFolder(folder); err != nil {
		return err
	}
	return syncFolder(d.path)
}

// writeTemporary writes and syncs r in a file that nobody reads, and returns its name.
func writeTemporary(folder string, r Record) (string, error) {
	file, err := os.CreateTemp(folder, "*.tmp") // with mode 0600
	if err != nil {
		return "", err
	}

	if err := errors.Join(json.NewEncoder(file).Encode(r), file.Sync(), file.Close()); err != nil {
		_ = os.Remove(file.Name())
		return "", err
	}
	return file.Name(), nil
}

// List implements [Store]. It reads every record.
func (d *Dir) List(ctx context.Context, states ...State) ([]Record, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	folders, err := os.ReadDir(d.path)
	if err != nil {
		return nil, err
	}

	var records []Record
	var errs []error
	for _, folder := range folders {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !folder.IsDir() {
			continue
		}

		r, err := d.newest(filepath.Join(d.path, folder.Name()))
		errs = append(errs, err)
		if r.Version > 0 {
			records = append(records, r)
		}
	}
	return Select(records, states), errors.Join(append(errs, ctx.Err())...)
}

// syncFolder makes the names in a folder survive a power failure.
func syncFolder(folder string) error {
	if runtime.GOOS == "windows" { // a folder cannot be synced there: NTFS has a journal of names
		return nil
	}

	file, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
