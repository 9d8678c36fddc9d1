package recording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/bits"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// shaper makes the shapes of one recording. It numbers the ids, paths and times of all lists.
type shaper struct {
	numbers map[string]int // by column and value
	times   []time.Time    // all times of the bodies, each once, the oldest first
	names   map[string]bool
}

func newShaper(bodies [][]byte) *shaper {
	s := &shaper{numbers: map[string]int{}, names: map[string]bool{}}
	for _, body := range bodies {
		for _, quoted := range quotedTime.FindAllSubmatch(body, -1) {
			if _, at, ok := parseTime(string(quoted[1])); ok {
				s.times = append(s.times, at)
			}
		}
	}

	slices.SortFunc(s.times, time.Time.Compare)
	s.times = slices.CompactFunc(s.times, time.Time.Equal)
	return s
}

// decode returns a body that is one JSON value.
func decode(body []byte) (value any, ok bool) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	err := decoder.Decode(&value)
	return value, err == nil && json.Valid(body)
}

// body returns the shape of a body. That of a body that is not JSON begins with what it is instead.
func (s *shaper) body(status int, body []byte) any {
	if value, ok := decode(body); ok {
		return s.value("", value, status >= http.StatusBadRequest)
	}

	kind := "plain text"
	trimmed := bytes.TrimSpace(body)
	switch {
	case len(trimmed) == 0:
		return "no body"
	case trimmed[0] == '{' || trimmed[0] == '[':
		return fmt.Sprintf("broken JSON %d", size(len(body)))
	case strings.HasPrefix(http.DetectContentType(trimmed), "text/html"):
		kind = "HTML"
	}
	return fmt.Sprintf("%s %d%s", kind, size(len(body)), sayings(string(body)))
}

// value returns the shape of a JSON value in the field name; "" if it is in none.
func (s *shaper) value(name string, value any, isError bool) any {
	switch value := value.(type) {
	case map[string]any:
		return s.object(value, isError)
	case []any:
		return s.list(name, value, isError)
	case json.Number:
		return numberShape(value)
	case string:
		isEnum := slices.Contains(enums, name) && enumValue.MatchString(value) && !isKey(value)
		switch {
		case isEnum:
			return value
		case isError:
			return textShape(value) + sayings(value)
		}
		return textShape(value)
	}
	return value // true, false or null
}

func (s *shaper) object(object map[string]any, isError bool) any {
	shape := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		shown := shownName(name, fieldName)
		s.names[shown] = true
		if _, isThere := shape[shown]; isThere {
			continue // another name that is not shown
		}
		shape[shown] = s.value(name, object[name], isError)
	}
	return shape
}

func (s *shaper) list(name string, rows []any, isError bool) any {
	list := List{Rows: len(rows)}
	seen := map[string]bool{}
	for _, row := range rows {
		shape := s.value(name, row, isError)

		isNew := false
		for _, part := range parts("", shape) {
			isNew = isNew || !seen[part]
			seen[part] = true
		}
		if isNew {
			list.Kinds = append(list.Kinds, shape)
		}
	}

	if columns := columns(rows); len(columns) > 0 {
		list.Order = map[string]string{wholeRow: s.order(wholeRow, rows)}
		for _, column := range columns {
			list.Order[column] = s.order(column, rows)
		}
	}
	return list
}

// parts returns a text for each field of a shape with its own shape, and one for the fields that it has.
func parts(at string, shape any) []string {
	switch shape := shape.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(shape))
		all := []string{fmt.Sprint(at, names)}
		for _, name := range names {
			all = append(all, parts(at+"."+name, shape[name])...)
		}
		return all

	case List:
		all := []string{fmt.Sprint(at, "[] ", size(shape.Rows))}
		for _, kind := range shape.Kinds {
			all = append(all, parts(at+"[]", kind)...)
		}
		return all
	}
	return []string{fmt.Sprint(at, " ", shape)}
}

// wholeRow is the column that numbers rows themselves: those that are equal have the same number.
const wholeRow = "="

// columns returns the fields of rows that tell rows apart, or say when they were made.
func columns(rows []any) []string {
	found := map[string]bool{}
	for _, row := range rows {
		object, _ := row.(map[string]any)
		for name, value := range object {
			text, _ := value.(string)
			_, _, isTime := parseTime(text)
			if shownName(name, fieldName) != unshown && (isTime || isIdentity(name)) {
				found[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func isIdentity(name string) bool {
	isID := strings.EqualFold(name, "id") || strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "_id")
	return isID || name == "path" || name == "searchQuery"
}

// order returns the numbers of a column.
func (s *shaper) order(column string, rows []any) string {
	var numbers []string
	for _, row := range rows {
		object, _ := row.(map[string]any)
		value := object[column]
		if column == wholeRow {
			value = row
		}
		text, _ := value.(string)
		_, at, isTime := parseTime(text)

		switch {
		case value == nil:
			numbers = append(numbers, "-")
		case isTime:
			numbers = append(numbers, s.numberOfTime(at))
		default:
			numbers = append(numbers, fmt.Sprint(s.number(column, value)))
		}
	}
	return strings.Join(numbers, " ")
}

// number returns the number of a value in a column, the same for the same value.
func (s *shaper) number(column string, value any) int {
	key := column + " " + fmt.Sprint(value)
	if s.numbers[key] == 0 {
		s.numbers[column]++
		s.numbers[key] = s.numbers[column]
	}
	return s.numbers[key]
}

// numberOfTime returns the day of a time, counted from the first in the recording, and its place.
func (s *shaper) numberOfTime(at time.Time) string {
	place, _ := slices.BinarySearchFunc(s.times, at, time.Time.Compare)
	const wholeDay = 24 * time.Hour
	first := s.times[0].UTC().Truncate(wholeDay)
	day := at.UTC().Truncate(wholeDay).Sub(first) / wholeDay
	return fmt.Sprintf("%d.%d", day+1, place+1)
}

func numberShape(number json.Number) any {
	if strings.ContainsAny(number.String(), ".eE") {
		return "fraction"
	}
	if strings.Trim(number.String(), "-0") == "" {
		return 0
	}
	return "integer"
}

type form struct {
	name    string
	pattern *regexp.Regexp
}

// forms are what a text looks like that is not a time.
var forms = []form{
	{"hex", regexp.MustCompile(`^([0-9a-f]{24}|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})$`)},
	{"uuid", regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)},
	{"ulid", regexp.MustCompile(`^[0-7][0-9A-HJKMNP-TV-Z]{25}$`)},
	{"url", regexp.MustCompile(`^https?://\S+$`)},
	{"path", regexp.MustCompile(`^/\S*$`)},
	{"word", regexp.MustCompile(`^\S+$`)},
	{"text", regexp.MustCompile(``)},
}

// textShape returns the shape of a text: what it looks like and, of most, how long it is.
func textShape(text string) string {
	if form, _, ok := parseTime(text); ok {
		return "time " + form
	}
	if _, err := time.Parse(time.DateOnly, text); err == nil {
		return "day"
	}
	if text == "" {
		return "empty"
	}

	looksLike := forms[slices.IndexFunc(forms, func(f form) bool { return f.pattern.MatchString(text) })].name
	length := size(utf8.RuneCountInString(text))
	switch looksLike {
	case "hex", "uuid", "ulid":
		return fmt.Sprint(looksLike, " ", len(text))
	case "word":
		return fmt.Sprintf("word of %s %d", classes(text), length)
	}
	return fmt.Sprint(looksLike, " ", length)
}

// classes returns a character for each class of characters in a word: 0 for digits, a and A for
// letters, some marks for themselves, and ? for all else.
func classes(text string) string {
	const shown = "0aA_-./:@=+~%?"
	class := func(r rune) rune {
		switch {
		case r >= '0' && r <= '9':
			return '0'
		case r >= 'a' && r <= 'z':
			return 'a'
		case r >= 'A' && r <= 'Z':
			return 'A'
		case strings.ContainsRune(shown, r):
			return r
		}
		return '?'
	}

	found := strings.Map(class, text)
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(found, r) {
			return r
		}
		return -1
	}, shown)
}

// size returns the least power of two that is not below n.
func size(n int) int {
	if n == 0 {
		return 0
	}
	return 1 << bits.Len(uint(n-1))
}

// quotedTime finds what may be a time in JSON.
var quotedTime = regexp.MustCompile(`"(\d{4}-\d\d-\d\d[T ][^"]+)"`)

var timeForm = regexp.MustCompile(`^\d{4}-\d\d-\d\d([T ])\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d(?::?\d\d)?|)$`)

// parseTime parses a time, and returns its form: the digits of its fraction and its zone as zeros, after a
// _ if there is a blank between day and time.
func parseTime(text string) (form string, at time.Time, ok bool) {
	found := timeForm.FindStringSubmatch(text)
	if found == nil {
		return "", time.Time{}, false
	}

	blank := strings.ReplaceAll(strings.Trim(found[1], "T"), " ", "_")
	form = blank + zeros.ReplaceAllString(strings.Replace(found[2]+found[3], "-", "+", 1), "0")
	if form == "" {
		form = "without a zone"
	}

	for _, zone := range []string{"Z07:00", "Z0700", "Z07", ""} {
		parsed, err := time.Parse("2006-01-02"+found[1]+"15:04:05"+zone, text)
		if err == nil {
			return form, parsed, true
		}
	}
	return "", time.Time{}, false
}

var zeros = regexp.MustCompile(`\d`)
