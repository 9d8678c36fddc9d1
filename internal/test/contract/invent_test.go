package contract

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/internal/recording"
)

// wholeRow is the column of a list's order that numbers rows themselves.
const wholeRow = "="

// listOf returns a shape as a list. It reports false if the shape is of something else.
func listOf(shape any) (recording.List, bool) {
	object, _ := shape.(map[string]any)
	if _, isList := object["[]"]; !isList {
		return recording.List{}, false
	}

	var list recording.List
	text, err := json.Marshal(shape)
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	return list, err == nil
}

// number returns the number in a text; 0 if there is none.
func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// invent returns a JSON value of a shape.
func invent(shape any) any { return inventor{}.value("", shape) }

// inventor invents a value: the same for the same seed.
type inventor struct{ seed int }

func (in inventor) value(name string, shape any) any {
	if list, isList := listOf(shape); isList {
		return in.list(list)
	}

	switch shape := shape.(type) {
	case map[string]any:
		object := map[string]any{}
		for field, of := range shape {
			object[field] = in.value(field, of)
		}
		return object
	case string:
		return in.scalar(name, shape)
	}
	return shape // a boolean, 0 or null
}

// list invents rows that have the order of the recorded ones.
func (in inventor) list(list recording.List) any {
	rows := []any{}
	for i := range list.Rows {
		row := inventor{seed: i + 1}
		if numbers := strings.Fields(list.Order[wholeRow]); i < len(numbers) {
			row.seed = number(numbers[i])
		}
		value := row.value("", kindOf(list, i, row.seed))

		if object, isObject := value.(map[string]any); isObject {
			for column, numbers := range list.Order {
				object[column] = inPlace(object[column], strings.Fields(numbers)[i])
			}
			delete(object, wholeRow)
		}
		rows = append(rows, value)
	}
	return rows
}

// kindOf chooses the shape of a row, the same for equal rows: one that has the columns which the row has.
func kindOf(list recording.List, row, seed int) any {
	var fitting []any
	for _, kind := range list.Kinds {
		object, _ := kind.(map[string]any)
		fits := true
		for column, numbers := range list.Order {
			isThere := strings.Fields(numbers)[row] != "-"
			fits = fits && (column == wholeRow || isThere == (object[column] != nil))
		}
		if fits {
			fitting = append(fitting, kind)
		}
	}

	if len(fitting) == 0 {
		fitting = list.Kinds
	}
	return fitting[seed%len(fitting)]
}

// inPlace changes an id, a path or a time to the one with a number.
func inPlace(value any, numbered string) any {
	text, isText := value.(string)
	day, place, isTime := strings.Cut(numbered, ".")
	switch {
	case !isText:
		return value
	case isTime:
		at := time.Date(2031, 4, 29+number(day), 0, 0, number(place), 0, time.UTC)
		const end = len("2031-04-30T13:02:11")
		return at.Format("2006-01-02"+text[len("2031-04-30"):][:1]+"15:04:05") + text[end:]
	}
	return text[:max(0, len(text)-len(numbered))] + numbered
}

var shapeOfText = regexp.MustCompile(`^(hex|uuid|ulid|url|path|word of \S+|text) (\d+)(?:: (.*))?$`)

// scalar invents a text or a number. At a few fields a shape is the word itself.
func (in inventor) scalar(name, shape string) any {
	form, isTime := strings.CutPrefix(shape, "time ")
	found := shapeOfText.FindStringSubmatch(shape)
	switch {
	case isTime:
		form = strings.Replace(form, "without a zone", "", 1)
		if zone, isBlank := strings.CutPrefix(form, "_"); isBlank {
			return "2031-04-30 13:02:11" + zone
		}
		return "2031-04-30T13:02:11" + form
	case found != nil:
		return in.text(found[1], number(found[2]), found[3])
	case shape == "empty":
		return ""
	case shape == "day":
		return "2031-04-30"
	case shape == "integer":
		return json.Number(fmt.Sprint(1000 + in.seed))
	case shape == "fraction":
		return json.Number(fmt.Sprint(41+in.seed) + ".5")
	}
	return shape
}

// text invents a text of a form and a length. It ends with the seed if there is room.
func (in inventor) text(form string, length int, words string) string {
	filler := "x"
	begins := ""
	switch {
	case form == "url":
		begins = "https://invented.example/"
	case form == "path":
		begins = "/"
	case form == "uuid":
		return fmt.Sprintf("a5853512-6142-4185-8948-%012d", in.seed)
	case form == "hex", form == "ulid":
		filler = "0"
	case form == "text":
		begins = words + " invented "
	case !strings.ContainsAny(form, "aA"):
		filler = "7"
	}

	ends := fmt.Sprint(in.seed)
	middle := max(0, length-len(begins)-len(ends))
	text := begins + strings.Repeat(filler, middle) + ends
	return text[max(0, len(text)-max(length, 1)):]
}

// facts are what shapes have in common, by path. Rows of several sources have paths of their own, and so have
// jobs and deployments of several statuses.
type facts struct {
	kinds   map[string]map[string]bool // of values that a field has: null, a text, a time of some form, absent
	objects map[string]int
}

const absent = "absent"

func (f facts) add(at, kind string) {
	if f.kinds[at] == nil {
		f.kinds[at] = map[string]bool{}
	}
	f.kinds[at][kind] = true
}

func factsOf(shapes []any) facts {
	all := facts{kinds: map[string]map[string]bool{}, objects: map[string]int{}}
	objects := map[string][]map[string]any{} // by path
	for _, shape := range shapes {
		collect("", shape, false, all, objects)
	}

	for at, same := range objects {
		all.objects[at] = len(same)
		for _, object := range same {
			for _, other := range same {
				for name := range other {
					if _, isThere := object[name]; !isThere {
						all.add(at+"."+name, absent)
					}
				}
			}
		}
	}
	return all
}

func collect(at string, shape any, isRow bool, all facts, objects map[string][]map[string]any) {
	if list, isList := listOf(shape); isList {
		all.add(at, "a list")
		for _, kind := range list.Kinds {
			collect(at+"[]", kind, true, all, objects)
		}
		return
	}

	switch shape := shape.(type) {
	case map[string]any:
		all.add(at, "an object")
		group, isText := shape["status"].(string)
		if isRow {
			group, isText = shape["source"].(string)
		}
		if isText {
			at += "(" + group + ")"
		}
		objects[at] = append(objects[at], shape)
		for name, of := range shape {
			collect(at+"."+name, of, false, all, objects)
		}
	case string:
		all.add(at, kindOfText(shape))
	case nil:
		all.add(at, "null")
	default:
		kinds := map[bool]string{true: "a boolean", false: "a number"}
		_, isBool := shape.(bool)
		all.add(at, kinds[isBool])
	}
}

func kindOfText(shape string) string {
	switch {
	case strings.HasPrefix(shape, "time "):
		return shape
	case slices.Contains([]string{"integer", "fraction"}, shape):
		return "a number"
	}
	return "a text"
}
