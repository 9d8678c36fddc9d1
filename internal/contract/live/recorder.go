package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	mintlify "github.com/mintlify-community/mintlify-go"
)

var (
	errBudget   = errors.New("the command has sent all the requests that it may send for reading")
	errReadOnly = errors.New("the command only reads at this point")
)

// recorder passes requests on and keeps the responses in memory. It is the last guard of what
// the command promises: the number of requests, and that nothing is written unasked.
type recorder struct {
	next http.RoundTripper

	mu sync.Mutex
	// left is how many requests may still be sent while the command only reads.
	left int
	// mayWrite lets requests other than GET pass, and any number of them.
	mayWrite  bool
	sent      int
	userAgent string
	exchanges []*exchange
}

// RoundTrip implements [http.RoundTripper].
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := r.admit(req); err != nil {
		return nil, err
	}

	resp, err := r.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}

	e := &exchange{status: resp.StatusCode, header: resp.Header.Clone()}
	resp.Body = &copied{ReadCloser: resp.Body, exchange: e}

	r.mu.Lock()
	defer r.mu.Unlock()

	r.exchanges = append(r.exchanges, e)
	return resp, nil
}

// admit counts a request, or refuses it.
func (r *recorder) admit(req *http.Request) error {
	r.mu.Lock()
	defer r.mu.Unlock()

	if !r.mayWrite && req.Method != http.MethodGet {
		return errReadOnly
	}
	if !r.mayWrite && r.left == 0 {
		return errBudget
	}

	r.left = max(0, r.left-1)
	r.sent++
	r.userAgent = req.Header.Get("User-Agent")
	return nil
}

// allowWrites lets requests other than GET pass from now on.
func (r *recorder) allowWrites() {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.mayWrite = true
}

// take returns the exchanges since it was last called.
func (r *recorder) take() []*exchange {
	r.mu.Lock()
	defer r.mu.Unlock()

	taken := r.exchanges
	r.exchanges = nil
	return taken
}

// exchange is a response as it came.
type exchange struct {
	status int
	header http.Header

	mu   sync.Mutex
	body bytes.Buffer
}

// copied is a response's body that an exchange keeps as the SDK reads it.
type copied struct {
	io.ReadCloser
	exchange *exchange
}

func (c *copied) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)

	c.exchange.mu.Lock()
	defer c.exchange.mu.Unlock()

	c.exchange.body.Write(p[:n])
	return n, err
}

func (e *exchange) bytes() []byte {
	e.mu.Lock()
	defer e.mu.Unlock()

	return bytes.Clone(e.body.Bytes())
}

// value returns the body as decoded JSON, nil if it is not JSON.
func (e *exchange) value() any {
	var value any
	if json.Unmarshal(e.bytes(), &value) != nil {
		return nil
	}
	return value
}

// The kinds of a body.
const (
	kindJSON    = "JSON"
	kindHTML    = "HTML"
	kindText    = "text"
	kindNothing = "no body"
)

// kind says what the body is, whatever its Content-Type says.
func (e *exchange) kind() string {
	body := bytes.TrimSpace(e.bytes())
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

// contentType returns the media type if it is a common one: others are not shown.
func (e *exchange) contentType() string {
	mediaType, _, _ := strings.Cut(e.header.Get("Content-Type"), ";")
	mediaType = strings.ToLower(strings.TrimSpace(mediaType))

	switch mediaType {
	case "application/json", "application/problem+json", "text/html", "text/plain":
		return mediaType
	case "":
		return "none"
	}
	return "another one"
}

// isBlocked reports whether Cloudflare responded in place of the service.
func (e *exchange) isBlocked() bool {
	if e.status != http.StatusForbidden && e.status != http.StatusServiceUnavailable || e.kind() == kindJSON {
		return false
	}
	fromCloudflare := e.header.Get("Cf-Ray") != "" || strings.EqualFold(e.header.Get("Server"), "cloudflare")
	return fromCloudflare || bytes.HasPrefix(e.bytes(), []byte("error code: 1"))
}

// response is what came of one call through the SDK.
type response struct {
	// label says what the call asked for, in the report.
	label     string
	operation mintlify.Operation
	exchanges []*exchange
	// err is the SDK's error.
	err error
}

// last returns the last exchange, nil if no response came.
func (r response) last() *exchange {
	if len(r.exchanges) == 0 {
		return nil
	}
	return r.exchanges[len(r.exchanges)-1]
}

// status returns the status of the last exchange, 0 if no response came.
func (r response) status() int {
	if last := r.last(); last != nil {
		return last.status
	}
	return 0
}

// isGood reports whether the last exchange is a 2xx with JSON.
func (r response) isGood() bool {
	status := r.status()
	return status >= 200 && status <= 299 && r.last().kind() == kindJSON
}

// object returns the body of the last exchange; an empty map if it is not a JSON object.
func (r response) object() map[string]any {
	if r.last() == nil {
		return nil
	}
	object, _ := r.last().value().(map[string]any)
	return object
}

func (r response) rows(name string) []map[string]any {
	list, _ := r.object()[name].([]any)

	var rows []map[string]any
	for _, value := range list {
		if row, ok := value.(map[string]any); ok {
			rows = append(rows, row)
		}
	}
	return rows
}

// column returns a text of each row of a list.
func (r response) column(list, name string) []string {
	var texts []string
	for _, row := range r.rows(list) {
		texts = append(texts, text(row, name))
	}
	return texts
}

// text returns a text of a row, "" if there is none.
func text(row map[string]any, name string) string {
	value, _ := row[name].(string)
	return value
}

// number returns a number of a row, 0 if there is none.
func number(row map[string]any, name string) float64 {
	value, _ := row[name].(float64)
	return value
}
