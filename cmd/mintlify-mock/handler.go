package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// newHandler returns a handler that serves fake. It logs a line for each request, with its method,
// path, query, body and status, and never with a key. Beside the service's operations it has some of
// its own: those under /_mock/ make requests, jobs and deployments fail and list what came, and POST
// /chat is the webhook of a chat, whose messages it prints.
func newHandler(fake *mintlifytest.Service, logger *log.Logger) http.Handler {
	own := http.NewServeMux()
	own.HandleFunc("POST /_mock/fail", func(w http.ResponseWriter, r *http.Request) {
		if err := fail(fake, r.Body); err != nil {
			refuse(w, err)
			return
		}
		respondFaults(w, fake)
	})

	own.HandleFunc("GET /_mock/fail", func(w http.ResponseWriter, _ *http.Request) { respondFaults(w, fake) })

	own.HandleFunc("DELETE /_mock/fail", func(w http.ResponseWriter, _ *http.Request) {
		fake.ClearFaults()
		respondFaults(w, fake)
	})

	own.HandleFunc("POST /_mock/jobs", func(w http.ResponseWriter, r *http.Request) {
		scripted(w, scriptJobs(fake, r.Body))
	})

	own.HandleFunc("POST /_mock/deployments", func(w http.ResponseWriter, r *http.Request) {
		scripted(w, scriptDeployments(fake, r.Body))
	})

	own.HandleFunc("GET /_mock/requests", func(w http.ResponseWriter, _ *http.Request) {
		respond(w, http.StatusOK, requests(fake))
	})

	withLog := logged(logger, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/_mock/") { // a mux would redirect the service's unusual paths
			own.ServeHTTP(w, r)
			return
		}
		fake.ServeHTTP(w, r)
	})

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Path == "/chat" {
			chat(w, r, logger)
			return
		}
		withLog.ServeHTTP(w, r)
	})
}

// maxChat is how much of a message a chat shows, in bytes.
const maxChat = 4000

// chat takes a message as an incoming webhook of Slack or Mattermost does, and prints its text.
func chat(w http.ResponseWriter, r *http.Request, logger *log.Logger) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		refuse(w, err)
		return
	}

	var message struct {
		Text string `json:"text"`
	}
	text := string(body)
	if json.Unmarshal(body, &message) == nil && message.Text != "" {
		text = message.Text
	}

	logger.Print("chat: ", safetext.OneLine(safetext.WithoutKeys(text), maxChat))
	respond(w, http.StatusOK, map[string]bool{"ok": true})
}

func refuse(w http.ResponseWriter, err error) {
	respond(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
}

func respondFaults(w http.ResponseWriter, fake *mintlifytest.Service) {
	queued := fake.UnusedFaults()
	if queued == nil {
		queued = []string{}
	}
	respond(w, http.StatusOK, map[string][]string{"queued": queued})
}

func scripted(w http.ResponseWriter, err error) {
	if err != nil {
		refuse(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func respond(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)

	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(body) // the client has gone
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
