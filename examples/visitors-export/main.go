// Visitors-export writes the visitors of each page to a file, as JSON Lines. Stop it whenever you
// like: the same command resumes it, and writes each row once.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
)

func main() {
	var params mintlify.VisitorsParams
	path := flag.String("o", "visitors.jsonl", "the `file` to write to")
	flag.TextVar(&params.DateFrom, "from", mintlify.Date{}, "the first `date`, 2026-01-01 or 2026-01-01T12:00:00Z")
	flag.TextVar(&params.DateTo, "to", mintlify.Date{}, "the `date` to end before")
	flag.Parse()

	switch {
	case flag.NArg() > 0:
		refuse("unexpected argument %q", flag.Arg(0))
	case strings.TrimSpace(*path) == "":
		refuse("-o is given and empty: is its variable set?")
	case params.DateFrom.IsZero() || params.DateTo.IsZero():
		refuse("-from and -to are required")
	case !params.DateFrom.Time().Before(params.DateTo.Time()):
		refuse("-from must be before -to")
	}

	client, err := mintlify.NewClientFromEnv()
	if err != nil {
		refuse("%v\nThe key and the project id are on https://app.mintlify.com/settings/organization/api-keys", err)
	}

	err = export(context.Background(), client, params, *path)
	if wait, ok := mintlify.RetryAfter(err); ok {
		log.Fatalf("%v\nRun the same command again in %v to resume.", err, wait)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// refuse ends the program because of its flags or its environment.
func refuse(format string, args ...any) {
	log.Printf(format, args...)
	os.Exit(2)
}

// export begins or resumes the export of a range of dates to a file.
func export(ctx context.Context, client *mintlify.Client, params mintlify.VisitorsParams, path string) error {
	out, err := open(path, fmt.Sprintf("project %s, %v to %v", client.ProjectID(), params.DateFrom, params.DateTo))
	if err != nil {
		return err
	}

	if out.Done {
		log.Printf("%s has all %d rows already: to export them anew, remove it and %[1]s.checkpoint", path, out.Rows)
		return nil
	}

	params.Offset = out.Offset
	for page, err := range client.Analytics.VisitorPages(ctx, params) {
		if err != nil {
			return err
		}
		if err := out.append(page); err != nil {
			return err
		}
	}
	log.Printf("%s has all %d rows", path, out.Rows)
	return nil
}

// output is a file of rows. The exported fields are its checkpoint, in a file next to it: the first
// Bytes of the rows' file are all rows before Offset. An export by cursor stores the cursor instead.
type output struct {
	path   string
	Export string // names the project and the dates
	Offset int    // of the next page: more than Rows if the service leaves out rows of a page
	Rows   int    // in the file
	Bytes  int64
	Done   bool // the last page is in the file
}

func open(path, export string) (*output, error) {
	out := &output{path: path, Export: export}
	rows, rowsErr := os.Stat(path)
	checkpoint, err := os.ReadFile(path + ".checkpoint")
	if errors.Is(err, os.ErrNotExist) && errors.Is(rowsErr, os.ErrNotExist) {
		return out, out.saveCheckpoint() // no file of rows is ever without one
	}

	if err == nil {
		err = json.Unmarshal(checkpoint, out)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s has no checkpoint to resume at: choose another -o, or remove it: %w", path, err)
	case out.Export != export:
		return nil, fmt.Errorf("%s is of another export, of %s: choose another -o, or remove it and %[1]s.checkpoint",
			path, out.Export)
	case out.Bytes > 0 && (rowsErr != nil || rows.Size() < out.Bytes):
		return nil, fmt.Errorf("%s has lost rows: remove it and %[1]s.checkpoint to begin again", path)
	}
	return out, nil
}

// append writes the rows of a page, and then the checkpoint that counts them. If the program ends in
// between, the next run writes the page again, in the same place.
func (o *output) append(page *mintlify.VisitorPage) error {
	var lines bytes.Buffer
	encoder := json.NewEncoder(&lines)
	for _, row := range page.Visitors {
		if err := encoder.Encode(row); err != nil {
			return err
		}
	}

	if err := writeFrom(o.path, o.Bytes, lines.Bytes()); err != nil {
		return err
	}
	o.Bytes += int64(lines.Len())
	o.Rows += len(page.Visitors)
	o.Offset = page.NextOffset
	o.Done = !page.HasMore
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
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_SYNC, 0o600)
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
