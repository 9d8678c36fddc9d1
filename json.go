package mintlify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

const (
	maxItems  = 50_000   // of a list: far beyond what the service sends, and small in memory
	maxCommas = 500_000  // of a list, those of its items' fields and lists included
	maxNumber = 1_000    // bytes of a count
	maxFields = 64 << 10 // bytes of a broken object that are looked through for its fields
)

// list is a JSON list that is read with care: afresh where its name comes twice, so that
// no row gets fields of another's, and no further than maxItems. nil is null or absent.
type list[R any] []R

// UnmarshalJSON implements [json.Unmarshaler].
func (l *list[R]) UnmarshalJSON(data []byte) error {
	if *l = nil; bytes.Equal(data, []byte("null")) {
		return nil
	}
	if data[0] != '[' {
		return errors.New("no list where one should be")
	}
	shape := shapeOf(data, 0)
	if shape.isTooLong() {
		return fmt.Errorf("a list of more than %d items, or of too many fields", maxItems)
	}
	rows := make([]R, 0, shape.items)
	err := json.Unmarshal(data, &rows)
	*l = rows
	return err
}

// decodeRows reads data, a page, into fast, whose list is *rows, with room for all of them.
// It reports whether that is certain to be right: a page with more than one list, or a list
// that is too long, or without rows, is for [list].
func decodeRows[R any](data []byte, fast any, rows *[]R) bool {
	items := bytes.Count(data, []byte("{")) // at most
	if bytes.Count(data, []byte("[")) > 1 || bytes.Count(data, []byte(",")) >= maxItems {
		shape := shapeOf(data, 1)
		if shape.lists > 1 || shape.isTooLong() {
			return false
		}
		items = shape.items
	}
	*rows = make([]R, 0, min(items, maxItems))
	return json.Unmarshal(data, fast) == nil && len(*rows) > 0
}

// shape is how much there is in some JSON.
type shape struct {
	lists  int // that begin at a depth
	items  int // of them all, at most
	commas int // of all there is: no list is longer
}

func (s shape) isTooLong() bool { return s.items > maxItems || s.commas > maxCommas }

// shapeOf returns the shape of data at a depth: 0 is that of data itself.
func shapeOf(data []byte, depth int) shape {
	s := shape{items: 1}
	depth = -depth
	inText := false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			inText = !inText
		case inText:
			if c == '\\' {
				i++
			}
		case c == '[' || c == '{':
			if c == '[' && depth == 0 {
				s.lists++
			}
			depth++
		case c == ']' || c == '}':
			depth--
		case c == ',':
			if s.commas++; depth == 1 {
				s.items++
			}
		}
	}
	return s
}

// notJSON is the reason of a response that is not the JSON of what. err may hold a number
// of megabytes.
func notJSON(what string, err error) error {
	reason := err.Error()
	return errors.New("not the JSON of " + what + ": " + reason[:min(len(reason), maxWords)])
}

// missing is the reason of a response without a required part.
func missing(name string) error { return errors.New("missing " + name) }

// count is a whole number that the service may write as 12.0, 1.2e1 or 12.5, which is
// rounded. null is 0.
type count int64

// UnmarshalJSON implements [json.Unmarshaler].
func (c *count) UnmarshalJSON(data []byte) error {
	if bytes.Equal(data, []byte("null")) {
		return nil
	}
	if len(data) > maxNumber {
		return errors.New("a count of more digits than any number")
	}
	if whole, err := strconv.ParseInt(string(data), 10, 64); err == nil {
		*c = count(whole)
		return nil
	}
	number, err := strconv.ParseFloat(string(data), 64)
	if err != nil || math.Abs(number) >= 1<<63 {
		return errors.New("a count that is not a number")
	}
	*c = count(math.Round(number))
	return nil
}

// ratio is a number of any kind. null is 0.
type ratio float64

// UnmarshalJSON implements [json.Unmarshaler].
func (r *ratio) UnmarshalJSON(data []byte) error {
	if bytes.Equal(data, []byte("null")) {
		return nil
	}
	if len(data) > maxNumber {
		return errors.New("a number of more digits than any")
	}
	number, err := strconv.ParseFloat(string(data), 64)
	if err != nil {
		return errors.New("a ratio that is not a number")
	}
	*r = ratio(number)
	return nil
}

// int64 returns the count; 0 where the service does not give it.
func (c *count) int64() int64 {
	if c == nil {
		return 0
	}
	return int64(*c)
}

// timestamp is a time that the service may write in any way: zero where it cannot be parsed.
type timestamp struct {
	time.Time
}

// UnmarshalJSON implements [json.Unmarshaler].
func (t *timestamp) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		t.Time = parseTimestamp(text)
	}
	return nil
}

// cursorJSON is how a page of an export by cursor says what comes next.
type cursorJSON struct {
	HasMore    *bool  `json:"hasMore"`
	NextCursor string `json:"nextCursor"`
}

func (c cursorJSON) next() (hasMore bool, cursor string, err error) {
	switch {
	case c.HasMore == nil:
		return false, "", missing("hasMore")
	case *c.HasMore && c.NextCursor == "":
		return false, "", missing("nextCursor, though hasMore is true")
	}
	return *c.HasMore, c.NextCursor, nil
}

// isOfOneField reports whether err is that a field has another type than ours,
// which leaves the others read.
func isOfOneField(err error) bool {
	var wrongType *json.UnmarshalTypeError
	return errors.As(err, &wrongType) && wrongType.Field != ""
}

// parseTimestamp returns the zero time, rather than an error, for what is unparsable.
func parseTimestamp(text string) time.Time {
	if text == "" {
		return time.Time{}
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", time.DateOnly} {
		if read, err := time.Parse(layout, text); err == nil {
			return inUTC(read)
		}
	}
	return time.Time{}
}

// inUTC returns the zero time for what JSON could not hold in UTC: it has years 0 to 9999.
func inUTC(t time.Time) time.Time {
	if t = t.UTC(); t.Year() < 0 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}

// wholeFields returns those of the named fields that data, a JSON object, begins with, up to
// where it is truncated or broken, as an object of their own.
func wholeFields(data []byte, names ...string) []byte {
	fields := map[string]json.RawMessage{}
	decoder := json.NewDecoder(bytes.NewReader(data[:min(len(data), maxFields)]))
	if open, _ := decoder.Token(); open == json.Delim('{') {
		for decoder.More() {
			name, err := decoder.Token()
			var value json.RawMessage
			if err != nil || decoder.Decode(&value) != nil {
				break
			}
			if name, ok := name.(string); ok && slices.Contains(names, name) {
				fields[name] = value
			}
		}
	}
	whole, err := json.Marshal(fields)
	if err != nil {
		return nil
	}
	return whole
}

// optional is a field whose odd values are left out, whatever they are.
type optional[T any] struct {
	value T
}

// UnmarshalJSON implements [json.Unmarshaler].
func (o *optional[T]) UnmarshalJSON(data []byte) error {
	var value T
	if json.Unmarshal(data, &value) == nil {
		o.value = value
	}
	return nil
}

// encodeJSON is json.Marshal that leaves <, > and & as they are.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
