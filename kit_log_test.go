package mintlify_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"log/slog"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// leaks are all the ways in which a value may end in a log.
func leaks(v any) string {
	var b strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T"} {
		fmt.Fprintf(&b, verb+"\n", v)
	}

	encoded, _ := json.Marshal(v)
	b.Write(encoded)

	textLogger(&b).Error("leak", "value", v)
	slog.New(slog.NewJSONHandler(&b, nil)).Error("leak", "value", v)
	return b.String()
}

func textLogger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func discardLog() *log.Logger { return log.New(io.Discard, "", 0) }

type handlerFunc func(slog.Record)

func (handlerFunc) Enabled(context.Context, slog.Level) bool { return true }

func (f handlerFunc) Handle(_ context.Context, record slog.Record) error {
	f(record)
	return nil
}

func (f handlerFunc) WithAttrs([]slog.Attr) slog.Handler { return f }

func (f handlerFunc) WithGroup(string) slog.Handler { return f }

// logRecords keeps a client's records in records.
func logRecords(records *[]slog.Record) mintlify.Option {
	keep := handlerFunc(func(record slog.Record) { *records = append(*records, record) })
	return mintlify.WithLogger(slog.New(keep))
}

// logged returns the attributes of the records with that message, their level among them.
func logged(records []slog.Record, message string) []map[string]any {
	var all []map[string]any
	for _, record := range records {
		if !strings.Contains(record.Message, message) {
			continue
		}

		attrs := map[string]any{"level": record.Level}
		record.Attrs(func(a slog.Attr) bool {
			attrs[a.Key] = a.Value.Any()
			return true
		})
		all = append(all, attrs)
	}
	return all
}
