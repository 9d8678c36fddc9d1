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
	"strings"

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

// difference names the first setting of a checkpoint that the command line changes; "" if
// there is none.
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

// loadCheckpoint reads a checkpoint. It reports false if there is none.
func loadCheckpoint(path string) (checkpoint, bool, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return checkpoint{}, false, nil
	}
	if err != nil {
		return checkpoint{}, false, err
	}
	defer file.Close()

	c, err := readCheckpoint(file)
	if err != nil {
		return checkpoint{}, false, fmt.Errorf("%s is not a checkpoint: %w", path, err)
	}
	return c, true, nil
}

func readCheckpoint(file io.Reader) (checkpoint, error) {
	data, err := io.ReadAll(io.LimitReader(file, 64<<10))
	if err != nil {
		return checkpoint{}, err
	}

	var c checkpoint
	if err := json.Unmarshal(data, &c); err != nil {
		return checkpoint{}, err
	}
	if c.NextOffset < 0 || c.Bytes < 0 {
		return checkpoint{}, errors.New("it has a negative number")
	}
	return c, nil
}

// save replaces the checkpoint in one step: a crash leaves the old one or the new one.
func (c checkpoint) save(path string) error {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}

	temporary := path + ".tmp"
	if err := writeSynced(temporary, append(data, '\n')); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

// writeSynced writes a file, and returns once the disk has it.
func writeSynced(path string, data []byte) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close() // a second time after a success, which changes nothing

	if _, err := file.Write(data); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	return file.Close()
}

// output is the file that the rows are written to, or stdout. It creates and changes no file
// before the first page has come.
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
	if !found {
		if err := checkNew(path); err != nil {
			return nil, err
		}
		return o, nil
	}

	if err := saved.checkResume(path, s); err != nil {
		return nil, err
	}
	o.checkpoint = saved
	return o, nil
}

// checkNew refuses an output that exists, or that cannot be created.
func checkNew(path string) error {
	if _, err := os.Stat(path); err == nil {
		return fmt.Errorf("%s exists, and there is no checkpoint to resume from: "+
			"remove it, or write to another file", path)
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return fmt.Errorf("-o %s: %w", path, err)
	}
	return nil
}

// checkResume refuses to resume another export than the one of c, or without its rows.
func (c checkpoint) checkResume(path string, s settings) error {
	if difference := c.difference(s); difference != "" {
		return fmt.Errorf("%s is of another export: %s; use its settings, or remove it and %s to begin anew",
			checkpointPath(path), difference, path)
	}

	info, err := os.Stat(path)
	if c.Bytes > 0 && (err != nil || info.Size() < c.Bytes) {
		return fmt.Errorf("%s is missing or shorter than the %d bytes that its checkpoint says: "+
			"remove both to begin anew", path, c.Bytes)
	}
	return nil
}

// write appends a page and then saves the checkpoint. If the program crashes in between, the
// next begin truncates the page.
func (o *output) write(page *mintlify.VisitorPage) error {
	data, err := encode(page.Visitors, o.checkpoint.Format, o.checkpoint.Bytes == 0)
	if err != nil {
		return err
	}
	next := o.checkpoint
	next.NextOffset = page.NextOffset
	next.Bytes += int64(len(data))
	next.Done = !page.HasMore

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

// begin opens the file after the rows that the checkpoint counts. It saves the checkpoint of a
// new export before it creates the file.
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

// encode returns rows in format. start says that they are the first rows of the output.
func encode(rows []mintlify.Visitor, format string, start bool) ([]byte, error) {
	if format == formatJSONLines {
		return encodeJSONLines(rows)
	}
	return encodeCSV(rows, start)
}

func encodeJSONLines(rows []mintlify.Visitor) ([]byte, error) {
	var data bytes.Buffer
	lines := json.NewEncoder(&data)
	lines.SetEscapeHTML(false)
	for _, row := range rows {
		if err := lines.Encode(row); err != nil {
			return nil, err
		}
	}
	return data.Bytes(), nil
}

func encodeCSV(rows []mintlify.Visitor, header bool) ([]byte, error) {
	var cells [][]string
	if header {
		cells = append(cells, []string{"path", "human", "ai", "total"})
	}
	for _, row := range rows {
		cells = append(cells, []string{escape(row.Path), number(row.Human), number(row.AI), number(row.Total)})
	}

	var data bytes.Buffer
	if err := csv.NewWriter(&data).WriteAll(cells); err != nil {
		return nil, err
	}
	return data.Bytes(), nil
}

// escape keeps a spreadsheet from running a path as a formula: paths come from strangers.
func escape(path string) string {
	if path != "" && strings.ContainsRune("=+-@\t\r", rune(path[0])) {
		return "'" + path
	}
	return path
}

func number(n int64) string { return strconv.FormatInt(n, 10) }
