// Package wire reads JSON from outside tolerantly.
package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	maxReason = 300 // bytes of what encoding/json says, which can quote a number of megabytes
	maxDepth  = 100 // of brackets that salvage follows
)

// Invalid returns the reason why a response is not the JSON of what.
func Invalid(what string, err error) error {
	reason := err.Error()
	if mismatch := mismatchOf(err); mismatch != nil {
		reason = reasonOf(mismatch)
	}

	reason = reason[:min(len(reason), maxReason)]
	return errors.New("invalid JSON for " + what + ": " + reason)
}

// mismatchOf returns the error of a value of another type than ours; nil if err is another error.
func mismatchOf(err error) *json.UnmarshalTypeError {
	var mismatch *json.UnmarshalTypeError
	errors.As(err, &mismatch)
	return mismatch
}

// reasonOf says in the words of JSON, not of Go, what is wrong with a field.
func reasonOf(mismatch *json.UnmarshalTypeError) string {
	field := lastName(mismatch.Field)

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

// lastName returns the last name of a path. Go 1.27 has the places in arrays in it, too.
func lastName(path string) string {
	for _, part := range slices.Backward(strings.Split(path, ".")) {
		if _, err := strconv.Atoi(part); err != nil {
			return part
		}
	}
	return ""
}

// Missing returns the reason why a response lacks a required part.
func Missing(name string) error { return errors.New("missing " + name) }

// Decode reads data, the JSON of what, into the struct that v points to. It is an error if a required
// field is absent or null, or if any field has another type than ours. But a time that cannot be parsed
// is zero, and a count is rounded.
func Decode(data []byte, what string, v any, required ...string) error {
	to := reflect.ValueOf(v).Elem()
	from, err := readLoose(data, to.Type(), required)
	if err != nil {
		return Invalid(what, err)
	}

	for i := range from.NumField() {
		name := nameOf(from.Type().Field(i))
		if slices.Contains(required, name) && from.Field(i).IsNil() {
			return Missing(name)
		}
	}

	var f filler
	f.fill(to, from)
	return f.err
}

// Unmarshal reads data into the struct that v points to, all fields of it. A field of another type than
// ours is left at its zero value: only data that is not an object is an error.
func Unmarshal(data []byte, v any) error {
	to := reflect.ValueOf(v).Elem()
	from, err := readLoose(data, to.Type(), nil)

	to.SetZero()
	new(filler).fill(to, from)

	if err == nil {
		return nil
	}
	mismatch := mismatchOf(err)
	if mismatch != nil && mismatch.Field != "" {
		return nil
	}
	return err
}

// Recover is [Unmarshal] that reads as much as it can of data that is truncated or broken. It then
// returns the error that data is not the JSON of what.
func Recover(data []byte, what string, v any) error {
	err := Unmarshal(data, v)
	if err == nil {
		return nil
	}
	_ = Unmarshal(salvage(data), v)
	return Invalid(what, err)
}

// IsTruncated reports whether data is JSON that ends too early.
func IsTruncated(data []byte) bool {
	var first json.RawMessage
	err := json.NewDecoder(bytes.NewReader(data)).Decode(&first)
	return errors.Is(err, io.ErrUnexpectedEOF)
}

// readLoose reads data into a struct of newLoose. If a field has another type than ours, it reads once
// more from a corrected copy: types that take both would cost allocations in each row of each page.
func readLoose(data []byte, t reflect.Type, required []string) (reflect.Value, error) {
	from := newLoose(t, required)
	err := json.Unmarshal(data, from.Addr().Interface())
	if err == nil || mismatchOf(err) == nil { // asking costs an allocation
		return from, err
	}

	from = newLoose(t, required)
	err = json.Unmarshal(corrected(data, t), from.Addr().Interface())
	return from, err
}

// corrected returns data, which is to be read into a t, with the values that have another type than
// ours converted where that is safe.
func corrected(data []byte, t reflect.Type) []byte {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber() // an id keeps all its digits
	if err := decoder.Decode(&value); err != nil {
		return data
	}

	copied, err := json.Marshal(correct(value, t))
	if err != nil {
		return data
	}
	return copied
}

// isInteger reports whether text is an integer in digits alone.
func isInteger(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

// correct returns value with digits in quotes as numbers, if t is a count's, and integers as text if
// they are ids.
func correct(value any, t reflect.Type) any {
	switch value := value.(type) {
	case string:
		if t.Kind() == reflect.Int64 || t.Kind() == reflect.Float64 {
			return numberIn(value)
		}
	case []any:
		if t.Kind() != reflect.Slice {
			return value
		}
		for i := range value {
			value[i] = correct(value[i], t.Elem())
		}
	case map[string]any:
		for name := range value {
			if field, ok := fieldOf(t, name); ok {
				value[name] = correctField(value[name], field)
			}
		}
	}
	return value
}

// numberIn returns the number of digits in quotes, else text itself.
func numberIn(text string) any {
	number, err := strconv.ParseFloat(text, 64)
	if err != nil || !isInteger(text) {
		return text
	}
	return number
}

// fieldOf returns the field of t that encoding/json would read name into.
func fieldOf(t reflect.Type, name string) (reflect.StructField, bool) {
	if t.Kind() != reflect.Struct {
		return reflect.StructField{}, false
	}

	for i := range t.NumField() {
		if field := t.Field(i); strings.EqualFold(nameOf(field), name) {
			return field, true
		}
	}
	return reflect.StructField{}, false
}

func correctField(value any, field reflect.StructField) any {
	number, isNumber := value.(json.Number)
	isID := field.Type.Kind() == reflect.String && strings.HasSuffix(field.Name, "ID")
	if isNumber && isID && isInteger(number.String()) {
		return number.String()
	}
	return correct(value, field.Type)
}

// looseTypes are the results of loosen, by type: each type is always read with the same required fields.
var looseTypes sync.Map

// newLoose returns a struct with the fields of t, of types that take what the service may send. The
// required fields are pointers, which show whether they were sent.
func newLoose(t reflect.Type, required []string) reflect.Value {
	loose, ok := looseTypes.Load(t)
	if !ok {
		loose = loosen(t, required)
		looseTypes.Store(t, loose)
	}
	return reflect.New(loose.(reflect.Type)).Elem()
}

func loosen(t reflect.Type, required []string) reflect.Type {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return reflect.TypeFor[looseTime]()
	case t.Kind() == reflect.Int64:
		return reflect.TypeFor[float64]()
	case t.Kind() == reflect.Slice:
		return reflect.SliceOf(loosen(t.Elem(), nil))
	case t.Kind() != reflect.Struct:
		return t
	}

	fields := reflect.VisibleFields(t)
	for i, field := range fields {
		fields[i].Type = loosen(field.Type, nil)
		if slices.Contains(required, nameOf(field)) {
			fields[i].Type = reflect.PointerTo(fields[i].Type)
		}
	}
	return reflect.StructOf(fields)
}

// nameOf returns the name of a field in JSON.
func nameOf(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

// filler copies what was read into loose types. err says that a count is out of range.
type filler struct {
	err error
}

func (f *filler) fill(to, from reflect.Value) {
	switch {
	case to.Type() == from.Type():
		to.Set(from)
	case from.Kind() == reflect.Pointer:
		f.fill(to, from.Elem())
	case from.Type() == reflect.TypeFor[looseTime]():
		to.Set(from.Field(0))
	case to.Kind() == reflect.Int64:
		to.SetInt(f.round(from.Float()))
	case to.Kind() == reflect.Struct:
		for i := range to.NumField() {
			f.fill(to.Field(i), from.Field(i))
		}
	case !from.IsNil():
		to.Set(reflect.MakeSlice(to.Type(), from.Len(), from.Len()))
		for i := range from.Len() {
			f.fill(to.Index(i), from.Index(i))
		}
	}
}

// round returns a number that the service may write as 12, 12.0, 1.2e1 or 12.5.
func (f *filler) round(number float64) int64 {
	if math.Abs(number) >= 1<<63 {
		f.err = errors.New("count is not a number of 64 bits")
		return 0
	}
	return int64(math.Round(number))
}

// looseTime is a time that the service may write in any way: zero if it cannot be parsed.
type looseTime struct {
	time.Time
}

// UnmarshalJSON implements [json.Unmarshaler].
func (t *looseTime) UnmarshalJSON(data []byte) error {
	if data[0] >= '0' && data[0] <= '9' {
		t.Time = sinceEpoch(string(data))
		return nil
	}

	text, _ := strconv.Unquote(string(data)) // a time needs no escape that Go does not know
	t.Time = parseTime(text)
	return nil
}

// sinceEpoch returns the time of a number of seconds or milliseconds since 1970. It returns the zero
// time for a number that nobody means as either.
func sinceEpoch(text string) time.Time {
	number, err := strconv.ParseFloat(text, 64)

	switch {
	case err != nil:
		return time.Time{}
	case number >= 1e9 && number <= 1e11:
		return time.UnixMilli(int64(math.Round(number * 1000))).UTC()
	case number >= 1e12 && number <= 1e14:
		return time.UnixMilli(int64(math.Round(number))).UTC()
	}
	return time.Time{}
}

// parseTime returns the time in UTC, or the zero time if text cannot be parsed or JSON
// cannot hold its year, which has to be 0 to 9999.
func parseTime(text string) time.Time {
	if text == "" {
		return time.Time{}
	}

	layouts := []string{
		time.RFC3339, // the usual one
		"2006-01-02T15:04:05",
		"2006-01-02T15:04:05Z0700",
		"2006-01-02T15:04:05Z07",
		"2006-01-02T15:04Z07:00",
		"2006-01-02T15:04Z07",
		"2006-01-02T15:04",
		time.DateOnly,
	}
	if date, clock, ok := strings.Cut(text, " "); ok {
		text = date + "T" + clock
	}

	for _, layout := range layouts {
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

	if isInteger(text) {
		return sinceEpoch(text)
	}
	return time.Time{}
}

// salvage returns the JSON that data begins with, up to where it is truncated or broken: the
// fields and items that are whole, and the brackets that close them. A number at the end may lack
// digits, so it is left out. From
//
//	{"id":"job_1","source":{"ref":"main","repository":"https://gi
//
// it makes
//
//	{"id":"job_1","source":{"ref":"main"}}
func salvage(data []byte) []byte {
	var open []byte    // what closes each open bracket, the outermost first; ':' if a field's value is to come
	var end int64      // of the last token after which all brackets could be closed
	var closing []byte // is open after that token

	decoder := json.NewDecoder(bytes.NewReader(data))
	for len(open) < maxDepth {
		token, err := decoder.Token()
		if err != nil {
			break
		}

		top := len(open) - 1
		_, isNumber := token.(float64)
		switch {
		case isNumber && decoder.InputOffset() == int64(len(data)):
			continue
		case token == json.Delim('{'):
			open = append(open, '}')
		case token == json.Delim('['):
			open = append(open, ']')
		case top < 0:
			return nil // neither an object nor a list
		case token == json.Delim('}') || token == json.Delim(']'):
			open = open[:top]
			gotValue(open)
		case open[top] == '}':
			open[top] = ':'
			continue // a name without its value is left out
		default:
			gotValue(open)
		}

		end = decoder.InputOffset()
		closing = append(closing[:0], open...)
		if len(open) == 0 {
			break
		}
	}

	slices.Reverse(closing)
	closing = bytes.ReplaceAll(closing, []byte(":"), []byte("}"))
	return append(slices.Clip(data[:end]), closing...)
}

// gotValue notes that the innermost bracket has got a whole value.
func gotValue(open []byte) {
	if top := len(open) - 1; top >= 0 && open[top] == ':' {
		open[top] = '}'
	}
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
