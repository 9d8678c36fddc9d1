package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

var (
	errBudget   = errors.New("all requests are sent that may be sent for reading")
	errReadOnly = errors.New("only GET may be sent for reading")
	errRedirect = errors.New("redirects are not followed")
)

// recorder passes requests on and keeps the responses. It is the last guard of what the
// command promises: the number of requests, and that nothing is written unasked. One request is
// under way at a time.
type recorder struct {
	next      http.RoundTripper
	asking    *request // that is being sent
	left      int      // requests without a flag that may still be sent
	sent      int
	userAgent string
	all       []*response // in order
}

// RoundTrip implements [http.RoundTripper].
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := r.admit(req); err != nil {
		return nil, err
	}

	came := &response{request: r.asking, at: time.Now()}
	resp, err := r.next.RoundTrip(req)
	if err == nil {
		came.body, err = io.ReadAll(io.LimitReader(resp.Body, 16<<20)) // more than the SDK reads
		resp.Body.Close()
	}
	if err != nil {
		if !r.asking.polls || req.Context().Err() == nil { // the end of a wait is not a poll that failed
			r.all = append(r.all, came)
		}
		return nil, err
	}

	came.status = resp.StatusCode
	came.header = resp.Header.Clone()
	r.all = append(r.all, came)

	resp.Body = io.NopCloser(bytes.NewReader(came.body))
	return resp, nil
}

// admit counts a request, or refuses it.
func (r *recorder) admit(req *http.Request) error {
	isReading := r.asking.flag == ""
	switch {
	case req.Response != nil: // the redirect that req follows
		return errRedirect
	case isReading && req.Method != http.MethodGet:
		return errReadOnly
	case isReading && r.left == 0:
		return errBudget
	case isReading:
		r.left--
	}

	r.sent++
	r.userAgent = req.Header.Get("User-Agent")
	return nil
}

// responses returns the responses to q; to all requests if q is nil.
func (r *recorder) responses(q *request) []*response {
	var found []*response
	for _, came := range r.all {
		if q == nil || came.request == q {
			found = append(found, came)
		}
	}
	return found
}

// response is what came of a request.
type response struct {
	*request
	missing string // why nothing came; "" if something came, or if nobody knows
	status  int    // 0 if nothing came
	header  http.Header
	body    []byte
	err     error // of the SDK's call
	at      time.Time
}

func (r *response) isRedirect() bool { return r.status >= 300 && r.status <= 399 }
func (r *response) isSuccess() bool  { return r.status >= 200 && r.status <= 299 }
func (r *response) isGood() bool     { return r.isSuccess() && r.kind() == kindJSON }

// The kinds of a body.
const (
	kindJSON    = "JSON"
	kindHTML    = "HTML"
	kindText    = "text"
	kindNothing = "no body"
)

// kind says what the body is, whatever its Content-Type says.
func (r *response) kind() string {
	body := bytes.TrimSpace(r.body)
	switch {
	case len(body) == 0:
		return kindNothing
	case json.Valid(body):
		return kindJSON
	case strings.HasPrefix(http.DetectContentType(body), "text/html"):
		return kindHTML
	}
	return kindText
}

// String says what came, without a word of the response itself.
func (r *response) String() string {
	switch {
	case r.missing != "":
		return r.missing
	case r.status == 0:
		return "no response came"
	}

	said := fmt.Sprintf("%d with %s", r.status, r.kind())
	seconds, err := strconv.ParseUint(r.header.Get("Retry-After"), 10, 30)
	if err == nil {
		said += fmt.Sprintf(", Retry-After %d", seconds)
	}
	return said
}

// object returns the body; nil if it is not a JSON object.
func (r *response) object() map[string]any {
	var object map[string]any
	_ = json.Unmarshal(r.body, &object)
	return object
}

// rows returns the objects of a list in the body.
func (r *response) rows(name string) []map[string]any {
	list, _ := r.object()[name].([]any)

	var rows []map[string]any
	for _, value := range list {
		row, _ := value.(map[string]any)
		rows = append(rows, row)
	}
	return rows
}

// text returns a text of an object; "" if there is none.
func text(object map[string]any, name string) string {
	value, _ := object[name].(string)
	return value
}
