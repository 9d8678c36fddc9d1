package kit

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

// Leaks returns all the ways in which a value may end in a log.
func Leaks(v any) string {
	var b strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T"} {
		fmt.Fprintf(&b, verb+"\n", v)
	}

	encoded, _ := json.Marshal(v)
	b.Write(encoded)

	TextLogger(&b).Error("leak", "value", v)
	slog.New(slog.NewJSONHandler(&b, nil)).Error("leak", "value", v)
	return b.String()
}

// TextLogger returns a logger that writes every record to w.
func TextLogger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// DiscardLog returns a logger for a server whose errors are meant.
func DiscardLog() *log.Logger { return log.New(io.Discard, "", 0) }

// LogHandler is a slog.Handler made of a function.
type LogHandler func(slog.Record)

// Enabled returns true.
func (LogHandler) Enabled(context.Context, slog.Level) bool { return true }

// Handle calls f.
func (f LogHandler) Handle(_ context.Context, record slog.Record) error {
	f(record)
	return nil
}

// WithAttrs returns f.
func (f LogHandler) WithAttrs([]slog.Attr) slog.Handler { return f }

// WithGroup returns f.
func (f LogHandler) WithGroup(string) slog.Handler { return f }

// LogRecords keeps a client's records in records.
func LogRecords(records *[]slog.Record) mintlify.Option {
	keep := LogHandler(func(record slog.Record) { *records = append(*records, record) })
	return mintlify.WithLogger(slog.New(keep))
}

// Logged returns the attributes of the records with that message, their level among them.
func Logged(records []slog.Record, message string) []map[string]any {
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
