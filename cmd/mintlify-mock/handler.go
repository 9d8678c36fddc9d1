package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// newHandler returns a handler that serves fake. It logs a line for each request, with its method,
// path, query, body and status, and never with a key. Beside the service's operations it has two of
// its own: POST /_mock/fail queues a fault, and GET /_mock/requests lists what came.
func newHandler(fake *mintlifytest.Service, logger *log.Logger) http.Handler {
	own := http.NewServeMux()
	own.HandleFunc("POST /_mock/fail", func(w http.ResponseWriter, r *http.Request) {
		if err := fail(fake, r.Body); err != nil {
			respond(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
			return
		}

		respond(w, http.StatusOK, map[string][]string{"queued": fake.UnusedFaults()})
	})

	own.HandleFunc("GET /_mock/requests", func(w http.ResponseWriter, _ *http.Request) {
		respond(w, http.StatusOK, requests(fake))
	})

	return logged(logger, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/_mock/") { // a mux would redirect the service's unusual paths
			own.ServeHTTP(w, r)
			return
		}
		fake.ServeHTTP(w, r)
	})
}

func respond(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)

	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(body) // the client has gone
}

// fault is the body of POST /_mock/fail.
type fault struct {
	Operation mintlify.Operation `json:"operation"`
	Times     int                `json:"times"`
	Status    int                `json:"status"`
	Acted     bool               `json:"acted"`
	Drop      bool               `json:"drop"`
	Delay     string             `json:"delay"`
}

// fail queues the fault of a body. It returns what FailNext panics at as an error.
func fail(fake *mintlifytest.Service, body io.Reader) (err error) {
	decoder := json.NewDecoder(body)
	decoder.DisallowUnknownFields()

	f := fault{Times: 1, Delay: "0s"}
	if err := decoder.Decode(&f); err != nil {
		return fmt.Errorf("the body is not a fault, such as "+
			`{"operation":"create job","times":2,"status":503,"acted":true,"drop":false,"delay":"2s"}, `+
			"which has all the fields that there are: %w", err)
	}

	delay, err := time.ParseDuration(f.Delay)
	switch {
	case err != nil:
		return fmt.Errorf("delay: %w", err)
	case f.Status != 0 && (f.Status < 200 || f.Status > 599): // net/http panics at most others
		return fmt.Errorf("status is %d, want 200 to 599", f.Status)
	}

	defer func() {
		if reason := recover(); reason != nil {
			err = errors.New(strings.TrimPrefix(fmt.Sprint(reason), "mintlifytest: "))
		}
	}()
	fake.FailNext(f.Operation, f.Times,
		mintlifytest.Fault{Status: f.Status, Acted: f.Acted, Drop: f.Drop, Delay: delay})
	return nil
}

// request is one of GET /_mock/requests.
type request struct {
	Operation mintlify.Operation `json:"operation"`
	Method    string             `json:"method"`
	Path      string             `json:"path"`
	Query     url.Values         `json:"query,omitempty"`
	Project   string             `json:"project,omitempty"`
	Prompt    string             `json:"prompt,omitempty"`
	Body      string             `json:"body,omitempty"`
	Acted     bool               `json:"acted"`
}

// requests returns what has reached the fake. Keys stand in a header, which it does not keep.
func requests(fake *mintlifytest.Service) []request {
	all := []request{}

	for _, r := range fake.Requests() {
		shown := request{
			Operation: r.Operation,
			Method:    r.Method,
			Path:      r.Path,
			Query:     r.Query,
			Project:   r.ProjectID,
			Prompt:    r.Prompt,
			Body:      string(r.Body),
			Acted:     r.Acted,
		}

		all = append(all, shown)
	}
	return all
}

// maxLogged is how much of a request a line shows, in bytes.
const maxLogged = 300

// logged logs each request once it has its response, or has lost it.
func logged(logger *log.Logger, next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))

		text := r.Method + " " + r.URL.RequestURI() + " " + string(body)
		key := redact.NewKey(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		text = safetext.WithoutKeys(key.Text(text, 8*maxLogged))

		status := &statusWriter{ResponseWriter: w}
		defer func() {
			logger.Printf("%s: %s", status.text(), safetext.OneLine(text, maxLogged))
		}()
		next(status, r)
	})
}

// statusWriter remembers the status of a response.
type statusWriter struct {
	http.ResponseWriter
	status int // 0: none so far
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets the fake flush the response.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *statusWriter) text() string {
	if w.status == 0 {
		return "no response"
	}
	return fmt.Sprint(w.status)
}
