// Package wire reads JSON from outside with tolerance: an odd field never costs the others.
package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
)

const (
	maxReason = 300 // bytes of what encoding/json says, which can quote a number of megabytes
	maxDepth  = 100 // of brackets that Salvage follows
)

// Invalid returns the reason why a response is not the JSON of what.
func Invalid(what string, err error) error {
	reason := err.Error()
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		field := mismatch.Field[strings.LastIndexByte(mismatch.Field, '.')+1:]
		switch {
		case field == "" && mismatch.Type.Kind() == reflect.Struct:
			reason = "expected a JSON object"
		case field == "":
			reason = "unexpected " + mismatch.Value
		case mismatch.Type.Kind() == reflect.Float64:
			reason = field + ": count is not a number"
		case mismatch.Type.Kind() == reflect.Slice:
			reason = field + ": expected a JSON array"
		default:
			reason = fmt.Sprintf("%s: unexpected %s", field, mismatch.Value)
		}
	}
	return errors.New("invalid JSON for " + what + ": " + reason[:min(len(reason), maxReason)])
}

// Missing returns the reason why a response lacks a required part.
func Missing(name string) error { return errors.New("missing " + name) }

// IsTypeMismatch reports whether err says that a field has another type than ours. The
// other fields are read all the same.
func IsTypeMismatch(err error) bool {
	var mismatch *json.UnmarshalTypeError
	return errors.As(err, &mismatch) && mismatch.Field != ""
}

// Counts rounds numbers that the service may write as 12, 12.0, 1.2e1 or 12.5.
type Counts struct {
	Err error // that one of them is out of range
}

// Round returns number as a whole one.
func (c *Counts) Round(number float64) int64 {
	if math.Abs(number) >= 1<<63 {
		c.Err = errors.New("count is not a number of 64 bits")
		return 0
	}
	return int64(math.Round(number))
}

// Time is a time that the service may write in any way: zero if it cannot be parsed.
type Time struct {
	time.Time
}

// UnmarshalJSON implements [json.Unmarshaler].
func (t *Time) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		t.Time = ParseTime(text)
	}
	return nil
}

// ParseTime returns the time in UTC, or the zero time if text cannot be parsed or JSON
// cannot hold its year, which has to be 0 to 9999.
func ParseTime(text string) time.Time {
	if text == "" {
		return time.Time{}
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			if t = t.UTC(); t.Year() < 0 || t.Year() > 9999 {
				return time.Time{}
			}
			return t
		}
	}
	return time.Time{}
}

// Optional is a field that is left at its zero value if the service sends another type.
type Optional[T any] struct {
	Value T
}

// UnmarshalJSON implements [json.Unmarshaler].
func (o *Optional[T]) UnmarshalJSON(data []byte) error {
	var value T
	if json.Unmarshal(data, &value) == nil {
		o.Value = value
	}
	return nil
}

// Salvage returns the JSON that data begins with, up to where it is truncated or broken:
// whole fields and items, and the brackets that close them.
func Salvage(data []byte) []byte {
	type bracket struct {
		closing byte
		name    bool // the next token is the name of a field
	}
	var open []bracket
	var whole, closing []byte
	decoder := json.NewDecoder(bytes.NewReader(data))
	for len(open) < maxDepth {
		token, err := decoder.Token()
		if err != nil {
			break
		}
		top := len(open) - 1
		switch delim, _ := token.(json.Delim); {
		case top < 0 && delim != '{' && delim != '[':
			return whole
		case delim == '}' || delim == ']':
			open = open[:top]
		case top >= 0 && open[top].name:
			open[top].name = false
			continue // a name is nothing without its value
		default:
			if top >= 0 {
				open[top].name = open[top].closing == '}'
			}
			if delim != 0 {
				open = append(open, bracket{byte(delim) + 2, delim == '{'}) // in ASCII 2 after the one that opens
			}
		}
		if whole, closing = data[:decoder.InputOffset()], closing[:0]; len(open) == 0 {
			break
		}
		for _, b := range slices.Backward(open) {
			closing = append(closing, b.closing)
		}
	}
	return append(slices.Clip(whole), closing...)
}

// Encode is json.Marshal that leaves <, > and & as they are.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
