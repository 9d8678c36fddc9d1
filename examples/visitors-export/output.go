package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	mintlify "github.com/mintlify-community/mintlify-go"
)

const (
	formatCSV       = "csv"
	formatJSONLines = "jsonl"
	stdoutPath      = "-"
)

// settings are what must be the same when an export is resumed.
type settings struct {
	DateFrom mintlify.Date `json:"dateFrom"`
	DateTo   mintlify.Date `json:"dateTo"`
	Limit    int           `json:"limit"`
	Project  string        `json:"project"`
	BaseURL  string        `json:"baseURL"`
	Format   string        `json:"format"`
}

// difference names what differs between the settings of a checkpoint and those of
// the command line; "" for nothing.
func (s settings) difference(here settings) string {
	for _, field := range []struct{ name, there, here string }{
		{"dateFrom", s.DateFrom.String(), here.DateFrom.String()},
		{"dateTo", s.DateTo.String(), here.DateTo.String()},
		{"limit", strconv.Itoa(s.Limit), strconv.Itoa(here.Limit)},
		{"project", s.Project, here.Project},
		{"baseURL", s.BaseURL, here.BaseURL},
		{"format", s.Format, here.Format},
	} {
		if field.there != field.here {
			return fmt.Sprintf("%s is %q there and %q here", field.name, field.there, field.here)
		}
	}
	return ""
}

// checkpoint is how far an export has got: everything before NextOffset is in the
// first Bytes bytes of the output.
type checkpoint struct {
	settings
	NextOffset int   `json:"nextOffset"`
	Bytes      int64 `json:"bytes"`
	Done       bool  `json:"done"`
}

func checkpointPath(output string) string { return output + ".checkpoint" }

func loadCheckpoint(path string) (c checkpoint, found bool, err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, false, nil
	}
	if err != nil {
		return c, false, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, 64<<10))
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err == nil && (c.NextOffset < 0 || c.Bytes < 0) {
		err = errors.New("it has a negative number")
	}
	if err != nil {
		return c, false, fmt.Errorf("%s is no checkpoint: %w", path, err)
	}
	return c, true, nil
}

// save replaces the checkpoint in one step: a crash leaves the old one or the new one.
func (c checkpoint) save(path string) error {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	temporary := path + ".tmp"
	file, err := os.Create(temporary)
	if err != nil {
		return err
	}
	_, err = file.Write(append(data, '\n'))
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

// output is where the rows go. It touches no file before the first page is there.
type output struct {
	path       string
	file       *os.File // nil before the first page
	checkpoint checkpoint
}

// openOutput returns the output at path, to begin or to resume.
func openOutput(path string, stdout *os.File, s settings) (*output, error) {
	o := &output{path: path, checkpoint: checkpoint{settings: s}}
	if path == stdoutPath {
		o.file = stdout
		return o, nil
	}
	saved, found, err := loadCheckpoint(checkpointPath(path))
	if err != nil {
		return nil, err
	}
	info, statErr := os.Stat(path)
	switch {
	case !found && statErr == nil:
		return nil, fmt.Errorf("%s exists, and there is no checkpoint to resume from: remove it, or write to another file", path)
	case !found:
		if _, err := os.Stat(filepath.Dir(path)); err != nil {
			return nil, fmt.Errorf("-o %s: %w", path, err)
		}
		return o, nil
	case saved.difference(s) != "":
		return nil, fmt.Errorf("%s is of another export: %s; use its settings, or remove it and %s to begin anew", checkpointPath(path), saved.difference(s), path)
	case saved.Bytes > 0 && (statErr != nil || info.Size() < saved.Bytes):
		return nil, fmt.Errorf("%s is missing or shorter than the %d bytes that its checkpoint says: remove both to begin anew", path, saved.Bytes)
	}
	o.checkpoint = saved
	return o, nil
}

// write appends a page and then saves the checkpoint. What a crash in between has
// appended is truncated by the next begin.
func (o *output) write(page *mintlify.VisitorPage) error {
	data, err := encode(page.Visitors, o.checkpoint.Format, o.checkpoint.Bytes == 0)
	if err != nil {
		return err
	}
	next := o.checkpoint
	next.NextOffset, next.Bytes, next.Done = page.NextOffset, next.Bytes+int64(len(data)), !page.HasMore
	if o.path == stdoutPath {
		o.checkpoint = next
		_, err := o.file.Write(data)
		return err
	}
	if o.file == nil {
		if err := o.begin(); err != nil {
			return err
		}
	}
	if _, err := o.file.Write(data); err != nil {
		return err
	}
	if err := o.file.Sync(); err != nil {
		return err
	}
	if err := next.save(checkpointPath(o.path)); err != nil {
		return err
	}
	o.checkpoint = next
	return nil
}

// begin opens the file at the end of what the checkpoint vouches for. A new
// export's checkpoint comes before its file.
func (o *output) begin() error {
	if o.checkpoint.Bytes == 0 {
		if err := o.checkpoint.save(checkpointPath(o.path)); err != nil {
			return err
		}
	}
	file, err := os.OpenFile(o.path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	o.file = file
	if err := file.Truncate(o.checkpoint.Bytes); err != nil {
		return err
	}
	_, err = file.Seek(0, io.SeekEnd)
	return err
}

func (o *output) close() {
	if o.file != nil && o.path != stdoutPath {
		o.file.Close()
	}
}

// encode returns rows in format, under a header if it is the start of a CSV file.
func encode(rows []mintlify.Visitor, format string, start bool) ([]byte, error) {
	var data bytes.Buffer
	if format == formatJSONLines {
		lines := json.NewEncoder(&data)
		lines.SetEscapeHTML(false)
		for _, row := range rows {
			if err := lines.Encode(row); err != nil {
				return nil, err
			}
		}
		return data.Bytes(), nil
	}
	table := csv.NewWriter(&data)
	if start {
		if err := table.Write([]string{"path", "human", "ai", "total"}); err != nil {
			return nil, err
		}
	}
	for _, row := range rows {
		if err := table.Write([]string{row.Path, strconv.FormatInt(row.Human, 10), strconv.FormatInt(row.AI, 10), strconv.FormatInt(row.Total, 10)}); err != nil {
			return nil, err
		}
	}
	table.Flush()
	return data.Bytes(), table.Error()
}
