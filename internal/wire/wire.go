// Package wire reads JSON from outside tolerantly: if a field has an unexpected type, the other
// fields are still read.
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
		reason = reasonOf(mismatch)
	}

	reason = reason[:min(len(reason), maxReason)]
	return errors.New("invalid JSON for " + what + ": " + reason)
}

// reasonOf says in the words of JSON, not of Go, what is wrong with a field.
func reasonOf(mismatch *json.UnmarshalTypeError) string {
	field := mismatch.Field[strings.LastIndexByte(mismatch.Field, '.')+1:]

	switch {
	case field == "" && mismatch.Type.Kind() == reflect.Struct:
		return "expected a JSON object"
	case field == "":
		return "unexpected " + mismatch.Value
	case mismatch.Type.Kind() == reflect.Float64:
		return field + ": count is not a number"
	case mismatch.Type.Kind() == reflect.Slice:
		return field + ": expected a JSON array"
	}
	return fmt.Sprintf("%s: unexpected %s", field, mismatch.Value)
}

// Missing returns the reason why a response lacks a required part.
func Missing(name string) error { return errors.New("missing " + name) }

// IsTypeMismatch reports whether err says that a field has another type than ours. The
// other fields are read nevertheless.
func IsTypeMismatch(err error) bool {
	var mismatch *json.UnmarshalTypeError
	return errors.As(err, &mismatch) && mismatch.Field != ""
}

// Counts rounds numbers that the service may write as 12, 12.0, 1.2e1 or 12.5.
type Counts struct {
	// Err says that one of them is out of range.
	Err error
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

	for _, layout := range timeLayouts() {
		t, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		t = t.UTC()
		if t.Year() < 0 || t.Year() > 9999 {
			return time.Time{}
		}
		return t
	}
	return time.Time{}
}

// timeLayouts returns the forms that a time may have, the usual one first.
func timeLayouts() []string {
	return []string{
		time.RFC3339,
		"2006-01-02T15:04:05",
		"2006-01-02T15:04:05Z0700",
		"2006-01-02T15:04Z07:00",
		"2006-01-02T15:04",
		"2006-01-02 15:04:05Z07:00",
		"2006-01-02 15:04:05",
		time.DateOnly,
	}
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

// Salvage returns the JSON that data begins with, up to where it is truncated or broken: the
// fields and items that are whole, and the brackets that close them. From
//
//	{"id":"job_1","source":{"ref":"main","repository":"https://gi
//
// it makes
//
//	{"id":"job_1","source":{"ref":"main"}}
func Salvage(data []byte) []byte {
	var open brackets
	var end int64      // of the last token after which all brackets could be closed
	var closing []byte // what closes them there

	decoder := json.NewDecoder(bytes.NewReader(data))
	for len(open) < maxDepth {
		token, err := decoder.Token()
		if err != nil {
			break
		}

		delim, isBracket := token.(json.Delim)
		switch {
		case delim == '{' || delim == '[':
			open = open.opened(delim)
		case isBracket:
			open = open.closed()
		case len(open) == 0:
			return nil // neither an object nor a list
		case open.expectName():
			open.gotName()
			continue // a name without its value is left out
		default:
			open.gotValue()
		}

		end = decoder.InputOffset()
		closing = open.closing(closing[:0])
		if len(open) == 0 {
			break
		}
	}
	return append(slices.Clip(data[:end]), closing...)
}

// brackets are the objects and lists that are open, the outermost first.
type brackets []bracket

type bracket struct {
	isObject bool
	gotName  bool // of the object's next field: its value is to come
}

func (b brackets) opened(delim json.Delim) brackets {
	return append(b, bracket{isObject: delim == '{'})
}

// closed closes the innermost bracket, which is a value of the one around it.
func (b brackets) closed() brackets {
	b = b[:len(b)-1]
	b.gotValue()
	return b
}

// expectName reports whether text is the name of a field.
func (b brackets) expectName() bool {
	top := b[len(b)-1]
	return top.isObject && !top.gotName
}

func (b brackets) gotName() { b[len(b)-1].gotName = true }

func (b brackets) gotValue() {
	if len(b) > 0 {
		b[len(b)-1].gotName = false
	}
}

// closing appends to buf what closes all brackets.
func (b brackets) closing(buf []byte) []byte {
	for _, bracket := range slices.Backward(b) {
		if bracket.isObject {
			buf = append(buf, '}')
		} else {
			buf = append(buf, ']')
		}
	}
	return buf
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
