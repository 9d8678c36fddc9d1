package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
)

// position is where the next page begins. Done says that there is none: the Cursor is "" then, as at
// the beginning, so a checkpoint without Done would export everything again.
type position struct {
	Offset int
	Cursor string
	Done   bool
}

// output is a file of rows. The exported fields are its checkpoint, in a file next to it: the first
// Bytes of the rows' file are all rows before Next. Export names the project and the dates.
type output struct {
	path   string
	Export string
	Next   position
	Bytes  int64
}

// open returns an output to begin or to resume. It changes no file.
func (e *exporter) open(name string) (*output, error) {
	out := &output{path: filepath.Join(e.folder, name)}
	export := fmt.Sprintf("project %s, %v to %v", e.client.ProjectID(), e.from, e.to)
	rows, rowsErr := os.Stat(out.path)
	checkpoint, err := os.ReadFile(out.path + ".checkpoint")
	if errors.Is(err, os.ErrNotExist) && errors.Is(rowsErr, os.ErrNotExist) {
		out.Export = export
		return out, nil
	}

	if err == nil {
		err = json.Unmarshal(checkpoint, out)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s has no checkpoint to resume at: %w", out.path, err)
	case out.Export != export:
		return nil, fmt.Errorf("%s is of another export: of %s", out.path, out.Export)
	case out.Bytes > 0 && (rowsErr != nil || rows.Size() < out.Bytes):
		return nil, fmt.Errorf("%s has lost rows: its checkpoint says %d bytes", out.path, out.Bytes)
	}
	log.Printf("%s: resuming after %d bytes, complete: %v", out.path, out.Bytes, out.Next.Done)
	return out, nil
}

// appendPage writes the rows of a page, and then the checkpoint that counts them. If the program
// ends in between, the next run writes the page again, in the same place.
func appendPage[Row any](o *output, rows []Row, next position) error {
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for _, row := range rows {
		if err := encoder.Encode(row); err != nil {
			return err
		}
	}

	if o.Bytes == 0 { // no file of rows is ever without a checkpoint
		if err := o.saveCheckpoint(); err != nil {
			return err
		}
	}
	if err := writeFrom(o.path, o.Bytes, lines.Bytes()); err != nil {
		return err
	}
	o.Next = next
	o.Bytes += int64(lines.Len())
	log.Printf("%s: %d more rows", o.path, len(rows))
	return o.saveCheckpoint()
}

// saveCheckpoint replaces the checkpoint in one step: a crash leaves the old one or the new one.
func (o *output) saveCheckpoint() error {
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if err := writeFrom(o.path+".tmp", 0, data); err != nil {
		return err
	}
	return os.Rename(o.path+".tmp", o.path+".checkpoint")
}

// writeFrom puts data in place of all that a file has from start on, and returns once it is on disk.
func writeFrom(path string, start int64, data []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_SYNC, 0o600) // personal data
	if err != nil {
		return err
	}
	defer file.Close()

	if err := file.Truncate(start); err != nil {
		return err
	}
	_, err = file.WriteAt(data, start)
	return err
}
