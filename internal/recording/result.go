package recording

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Result is what a run has recorded.
type Result struct {
	// File has the shapes of the responses.
	File *File
	// Uncertain reports whether a POST may have acted that has brought no id.
	Uncertain bool

	names map[string]bool // of all fields
	all   exchanges
}

func newResult(about string, all exchanges) *Result {
	var bodies [][]byte
	for _, e := range all {
		bodies = append(bodies, e.content)
	}

	result := &Result{File: &File{About: about}, all: all}
	shapes := newShaper(bodies)
	var made time.Time // when the last POST was sent
	for _, e := range all {
		result.Uncertain = result.Uncertain || e.isUncertain()
		shape := e.shape(shapes)
		if e.method == http.MethodPost {
			made = e.at
		}
		if e.polls {
			shape.Polls = 1
			shape.Minutes = int(math.Ceil(e.at.Sub(made).Minutes()))
		}
		result.File.add(shape)
	}
	result.names = shapes.names
	return result
}

// shape returns the exchange without anything that must not be in the file.
func (e *exchange) shape(shapes *shaper) Exchange {
	shape := Exchange{
		Label:   e.label,
		Method:  cmp.Or(e.method, http.MethodGet),
		Path:    e.path,
		Query:   map[string]string{},
		NotSent: e.notSent,
		Status:  e.status,
	}
	for name, values := range e.query {
		shape.Query[name] = textShape(values[0])
		if name == "limit" || name == "offset" {
			shape.Query[name] = values[0]
		}
	}

	if e.status != 0 {
		shape.Headers = headers(e.header)
		shape.Body = shapes.body(e.status, e.content)
	}
	return shape
}

// add adds an exchange. A poll with the response of the poll before it is counted there.
func (f *File) add(e Exchange) {
	if n := len(f.Exchanges); n > 0 && e.Polls > 0 {
		last := &f.Exchanges[n-1]
		isSame := last.Label == e.Label && last.Status == e.Status && reflect.DeepEqual(last.Body, e.Body)
		if isSame {
			last.Polls++
			last.Minutes = e.Minutes
			return
		}
	}
	f.Exchanges = append(f.Exchanges, e)
}

// Summary returns what a person wants to know of the run.
func (r *Result) Summary() string {
	var text strings.Builder
	var missing []string

	for _, e := range r.File.Exchanges {
		if e.NotSent != "" {
			missing = append(missing, fmt.Sprintf("%s: %s", e.Label, e.NotSent))
			continue
		}
		fmt.Fprintf(&text, "%-36s %s\n", e.Label, e.summary())
	}

	if len(missing) > 0 {
		fmt.Fprintf(&text, "\nNot sent:\n  %s\n", strings.Join(missing, "\n  "))
	}
	if names := r.undocumented(); len(names) > 0 {
		fmt.Fprintf(&text, "\nFields that api/openapi.yaml does not have. Read them before you post the file:\n  %s\n",
			strings.Join(names, ", "))
	}
	if hint := r.hint(); hint != "" {
		fmt.Fprintf(&text, "\n%s\n", hint)
	}
	return text.String()
}

// summary says in a few words what responded.
func (e Exchange) summary() string {
	if e.Status == 0 {
		return "no response"
	}

	said := []string{fmt.Sprint(e.Status)}
	switch body := e.Body.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(body)) {
			said = append(said, inBrief(name, body[name])...)
		}
	case string:
		said = append(said, body)
	}

	if e.Polls > 0 {
		said = append(said, fmt.Sprintf("polls: %d, minutes so far: %d", e.Polls, e.Minutes))
	}
	return strings.Join(said, ", ")
}

// inBrief returns what a summary says of a field: a list's rows, a status, or why the response is an error.
func inBrief(name string, shape any) []string {
	if list, ok := shape.(List); ok {
		return []string{fmt.Sprintf("%s: %d rows", name, list.Rows)}
	}
	text, _ := shape.(string)
	_, why, isError := strings.Cut(text, ": ")
	switch {
	case isError:
		return []string{name + ": " + why}
	case slices.Contains(enums, name) && text != "":
		return []string{name + ": " + text}
	}
	return nil
}

// undocumented returns the names of fields that the document does not have.
func (r *Result) undocumented() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(r.names)) {
		if name != unshown && !slices.Contains(strings.Fields(Fields), name) {
			names = append(names, name)
		}
	}
	return names
}

// hint says what a person may have to mend; "" if nothing.
func (r *Result) hint() string {
	first := r.all.last(firstVisitors)
	switch {
	case first.isGood() || first.status == 0 || first.status == http.StatusTooManyRequests || first.status >= 500:
		return ""
	case first.object == nil:
		return "Something else than the service responds: a login page, a proxy, or Cloudflare."
	case first.status == http.StatusUnauthorized:
		return "The service does not accept the key in MINTLIFY_API_KEY: it is wrong, revoked or expired, or the " +
			"plan has no API."
	case first.status == r.all.last(wrongProject).status:
		return "The service responds as to a wrong project: is MINTLIFY_PROJECT_ID of the key's organization?"
	}
	return "The key lacks the read scope, this machine is not on its allowlist, or the plan has no API."
}
