package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// directory is a store of one file a generation. A claim is an empty file.
type directory struct{ dir, name string }

func (d *directory) path(generation int) string {
	return filepath.Join(d.dir, fmt.Sprintf("%s.%d.json", d.name, generation))
}

func (d *directory) load(context.Context) (r record, err error) {
	for generation := 1; ; generation++ {
		info, err := os.Stat(d.path(generation))
		if errors.Is(err, fs.ErrNotExist) {
			return r, nil
		}
		if err != nil {
			return r, err
		}
		data, err := os.ReadFile(d.path(generation))
		r = record{State: claimed}
		if len(data) > 0 {
			err = json.Unmarshal(data, &r)
		}
		if err != nil {
			return r, fmt.Errorf("%s: %w", d.path(generation), err)
		}
		r.Generation, r.age = generation, time.Since(info.ModTime())
	}
}

func (d *directory) claim(_ context.Context, generation int) (bool, error) {
	err := write(d.path(generation), os.O_EXCL, "")
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, errors.Join(err, d.sync())
}

func (d *directory) save(_ context.Context, r record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	temporary := d.path(r.Generation) + "." + rand.Text()
	if err := write(temporary, os.O_EXCL, string(data)); err != nil {
		return err
	}
	if err := os.Rename(temporary, d.path(r.Generation)); err != nil {
		return err
	}
	return d.sync()
}

// sync makes the names of files durable, where the system can.
func (d *directory) sync() error {
	dir, err := os.Open(d.dir)
	if err != nil || runtime.GOOS == "windows" {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}
