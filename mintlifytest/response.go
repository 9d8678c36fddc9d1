package mintlifytest

import (
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// response is the service's response, and what goes wrong on its way back.
type response struct {
	status int
	header http.Header
	body   []byte
	fault  Fault
}

// failure is an error in the service's own terms. It marshals to the body of its
// response.
type failure struct {
	status     int
	retryAfter time.Duration // 0: not sent
	plain      bool          // the body is Error as text, and not JSON
	Error      string        `json:"error"`
	// Details are sent by the analytics operations alone.
	Details []detail `json:"details,omitempty"`
}

type detail struct {
	Message string `json:"message"`
}

// unlocked is a result that is made while the service is not locked, so that a caller's
// function may call the service.
type unlocked func() any

func newResponse(c *call, result any, failed *failure) response {
	r := response{status: c.status, header: http.Header{}}
	if failed != nil {
		r.status = failed.status
		result = failed
		if failed.retryAfter > 0 {
			seconds := math.Ceil(failed.retryAfter.Seconds())
			r.header.Set("Retry-After", strconv.Itoa(int(seconds)))
		}
	}
	if makeResult, ok := result.(unlocked); ok {
		result = makeResult()
	}

	r.write(result)
	if failed != nil && failed.plain {
		r.body = []byte(failed.Error)
		r.header.Set("Content-Type", "text/plain; charset=utf-8")
	}

	r.apply(c.fault)
	return r
}

// write sets the body to the JSON of a result.
func (r *response) write(result any) {
	body, err := json.Marshal(result)
	if err != nil { // a row has a number that JSON has none for
		r.status = http.StatusInternalServerError
		body, _ = json.Marshal(&failure{Error: err.Error()})
	}
	r.body = body
}

// apply changes the response as the fault asks for.
func (r *response) apply(f Fault) {
	r.fault = f

	if f.Status != 0 {
		r.status = f.Status
		r.header = http.Header{}
	}
	contentType := "application/json"
	if f.Status != 0 || f.Body != "" {
		r.body = []byte(f.Body)
		if !json.Valid(r.body) {
			contentType = http.DetectContentType(r.body)
		}
	}

	for name, values := range f.Header {
		for _, value := range values {
			r.header.Add(name, value)
		}
	}

	if r.header.Get("Content-Type") == "" {
		r.header.Set("Content-Type", contentType)
	}
}

// asSent returns the JSON object of v as the service sends it: with null for each of the fields nulls
// that v leaves out, and times with three digits after the second.
func asSent(v any, nulls ...string) any {
	data, err := json.Marshal(v)
	if err != nil {
		return v // write reports it
	}

	fields := map[string]json.RawMessage{}
	for _, name := range nulls {
		fields[name] = nil
	}
	_ = json.Unmarshal(data, &fields) // data is an object

	for _, name := range []string{"createdAt", "endedAt", "archivedAt", "timestamp", "lastSearchedAt"} {
		var at time.Time
		if json.Unmarshal(fields[name], &at) == nil && !at.IsZero() {
			fields[name] = []byte(at.Format(`"2006-01-02T15:04:05.000Z"`))
		}
	}
	return fields
}

// newestFirst sorts rows by their times. Rows with the same time keep their order, and those without
// one come last.
func newestFirst[R any](rows []R, timeOf func(R) time.Time) {
	slices.SortStableFunc(rows, func(a, b R) int { return timeOf(b).Compare(timeOf(a)) })
}

// toMillisecond returns a time as the service reports it.
func toMillisecond(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

func now() time.Time { return toMillisecond(time.Now()) }
