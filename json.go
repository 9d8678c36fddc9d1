package mintlify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
)

const (
	maxListRows  = 10_000 // of a page; the largest limit of the service is 1,000
	manyCommas   = 50_000 // beyond which a list is counted before it is in memory
	maxPlainRows = 1_000  // that room is made for
)

// list is a JSON list that is read with care: afresh where its name comes twice, so that
// no row gets fields of another's, and no further than maxListRows. nil is null or absent.
type list[R any] []R

// UnmarshalJSON implements [json.Unmarshaler].
func (l *list[R]) UnmarshalJSON(data []byte) error {
	if *l = nil; bytes.Equal(data, []byte("null")) {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	if open, err := decoder.Token(); err != nil || open != json.Delim('[') {
		return errors.New("no list where one should be")
	}
	*l = list[R]{}
	for decoder.More() {
		if len(*l) == maxListRows {
			return fmt.Errorf("more than %d rows", maxListRows)
		}
		var row R
		if err := decoder.Decode(&row); err != nil {
			return err
		}
		*l = append(*l, row)
	}
	return nil
}

// decodeRows reads data into fast, whose list is *room, a slice with room for its rows.
// It reports whether that is certain to be right: a list inside a list or far too long,
// or a page without rows, is for [list].
func decodeRows[R any](data []byte, fast any, room *[]R) bool {
	if bytes.Count(data, []byte("[")) > 1 || bytes.Count(data, []byte(",")) > manyCommas {
		return false
	}
	*room = make([]R, 0, min(bytes.Count(data, []byte("{")), maxPlainRows))
	return json.Unmarshal(data, fast) == nil && len(*room) > 0
}

// notJSON is the reason of a response that is not the JSON of what.
func notJSON(what string, err error) error { return fmt.Errorf("not the JSON of %s: %w", what, err) }

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
