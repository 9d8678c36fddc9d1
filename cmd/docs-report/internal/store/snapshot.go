package store

import (
	"context"
	"fmt"
	"net/url"
	"os"
)

// snapshot is a SQLite file that is read without locks, with its state when it was opened.
type snapshot struct {
	address
	info os.FileInfo
}

// Files returns the files of a SQLite database. For Postgres there are none.
func Files(where string) []string {
	a, err := parseAddress(where)
	if err != nil || !a.IsSQLite() {
		return nil
	}
	return []string{a.File, a.log(), a.File + "-shm"}
}

// log returns the file into which SQLite writes before it writes into the database's file.
func (a address) log() string { return a.File + "-wal" }

// readSnapshot reads a file whose folder this run may not write.
func (a address) readSnapshot(ctx context.Context) (*Store, error) {
	info, err := os.Stat(a.File)
	if err != nil {
		return nil, a.errorOf(err)
	}
	if err := a.requireNoLog(); err != nil {
		return nil, err
	}

	s, err := a.read(ctx, url.Values{"mode": {"ro"}, "immutable": {"1"}})
	if err != nil {
		return nil, err
	}

	s.snapshot = &snapshot{address: a, info: info}
	return s, nil
}

func (a address) hasLog() bool {
	log, err := os.Stat(a.log())
	return err == nil && log.Size() > 0
}

func (a address) requireNoLog() error {
	if !a.hasLog() {
		return nil
	}
	return fmt.Errorf("%s: %w: this user may not write into its folder, and %s is not in the file yet; "+
		"wait until sync ends, run the report as sync's user, or give a copy of the folder by -db",
		a.File, ErrSetup, a.log())
}

// Unchanged returns an error if somebody has changed a file while it was read without locks: the
// rows may be partly old and partly new.
func (s *Store) Unchanged() error {
	if s.snapshot == nil {
		return nil
	}

	if err := s.snapshot.requireNoLog(); err != nil {
		return err
	}

	info, err := os.Stat(s.snapshot.File)
	if err != nil {
		return s.snapshot.errorOf(err)
	}

	was := s.snapshot.info
	if !info.ModTime().Equal(was.ModTime()) || info.Size() != was.Size() {
		return fmt.Errorf("%s changed while it was read: run the same command again", s.snapshot.File)
	}
	return nil
}
