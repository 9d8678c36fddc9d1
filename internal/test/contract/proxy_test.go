package contract

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// Sides of an exchange, for [Violation].
const (
	Request  = "request"
	Response = "response"
)

// Violation is something that the document does not allow.
type Violation struct {
	Side     string // Request or Response
	Exchange string // the request, such as GET /v2/agent/p/job/j, and the response's status
	Reason   string
}

// Proxy is an [http.Handler] that passes requests to the service and its responses
// back as they are, and notes the violations of both. It is safe for use by many
// goroutines.
type Proxy struct {
	service *url.URL
	router  routers.Router
	options *openapi3filter.Options

	mu         sync.Mutex
	violations []Violation
	responses  map[string]bool
}

// NewProxy returns a proxy to the service at serviceURL.
func NewProxy(serviceURL string) (*Proxy, error) {
	service, err := url.Parse(serviceURL)
	if err != nil {
		return nil, err
	}

	doc, err := LoadDocument()
	if err != nil {
		return nil, err
	}
	doc.Servers = nil // any host will do
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		return nil, err
	}

	return &Proxy{service: service, router: router, options: options(), responses: map[string]bool{}}, nil
}

func options() *openapi3filter.Options {
	return &openapi3filter.Options{
		IncludeResponseStatus:             true,
		RejectWhenRequestBodyNotSpecified: true,
		SkipSettingDefaults:               true, // the request is passed on as it came
		AuthenticationFunc:                checkBearer,
		SchemaValidationOptions:           []openapi3.SchemaValidationOption{Formats()},
	}
}

func checkBearer(_ context.Context, input *openapi3filter.AuthenticationInput) error {
	if input.SecurityScheme.Type != "http" || input.SecurityScheme.Scheme != "bearer" {
		return errors.New("the proxy knows bearer keys only")
	}

	var key string
	header := input.RequestValidationInput.Request.Header.Get("Authorization")
	if _, err := fmt.Sscanf(header, "Bearer %s", &key); err != nil {
		return errors.New("no Authorization: Bearer KEY")
	}
	return nil
}

// checkWhole is for what comes after a body's first JSON value, which the library
// does not look at.
func checkWhole(body []byte) error {
	if !json.Valid(body) {
		return errors.New("the body is not one JSON value")
	}
	return nil
}

// Violations returns what was noted since it was last called.
func (p *Proxy) Violations() []Violation {
	p.mu.Lock()
	defer p.mu.Unlock()
	noted := p.violations
	p.violations = nil
	return noted
}

// Responses returns the responses that came by, in order, each once: the operation's
// id in the document and the status, such as createJob 201.
func (p *Proxy) Responses() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var seen []string
	for response := range p.responses {
		seen = append(seen, response)
	}
	slices.Sort(seen)
	return seen
}

func (p *Proxy) note(side, exchange string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.violations = append(p.violations, Violation{side, exchange, err.Error()})
}

// ServeHTTP implements [http.Handler].
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	exchange := r.Method + " " + r.URL.RequestURI()
	input, err := p.checkRequest(r)
	if err != nil {
		p.note(Request, exchange, err)
	}

	proxy := httputil.ReverseProxy{
		Rewrite: func(out *httputil.ProxyRequest) { out.SetURL(p.service) },
		ModifyResponse: func(response *http.Response) error {
			return p.checkResponse(input, exchange, response)
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() == nil { // a caller that goes away breaks no promise
				p.note(Response, exchange, err)
			}
			w.WriteHeader(http.StatusBadGateway)
		},
	}
	proxy.ServeHTTP(w, r)
}

// checkRequest returns what checkResponse needs, nil if the document has no such operation.
// It leaves the request unchanged.
func (p *Proxy) checkRequest(r *http.Request) (*openapi3filter.RequestValidationInput, error) {
	route, params, err := p.router.FindRoute(r)
	if err != nil {
		return nil, err
	}

	input := &openapi3filter.RequestValidationInput{
		Request: r, Route: route, PathParams: params, Options: p.options,
	}
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	if err == nil {
		err = openapi3filter.ValidateRequest(r.Context(), input)
	}
	if err == nil && len(body) > 0 {
		err = checkWhole(body)
	}
	if err != nil {
		return input, err
	}

	for name := range r.URL.Query() {
		if route.Operation.Parameters.GetByInAndName(openapi3.ParameterInQuery, name) == nil {
			return input, fmt.Errorf("query parameter %q is not documented", name)
		}
	}
	return input, nil
}

// checkResponse notes what is wrong with the response. It returns an error if it cannot read
// the response.
func (p *Proxy) checkResponse(
	input *openapi3filter.RequestValidationInput, exchange string, response *http.Response,
) error {
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	if input == nil {
		return nil // the request is a violation already
	}

	operation := input.Route.Operation
	p.mu.Lock()
	p.responses[fmt.Sprint(operation.OperationID, " ", response.StatusCode)] = true
	p.mu.Unlock()

	check := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input,
		Status:                 response.StatusCode,
		Header:                 response.Header,
		Options:                p.options,
	}
	err = openapi3filter.ValidateResponse(context.Background(), check.SetBodyBytes(body))
	if err == nil && !strings.HasPrefix(response.Header.Get("Content-Type"), "text/plain") {
		err = checkWhole(body)
	}
	if err == nil && operation.Responses.Status(response.StatusCode) == nil {
		err = errors.New("the status is documented by default alone")
	}

	if err != nil {
		p.note(Response, fmt.Sprint(exchange, " ", response.StatusCode), err)
	}
	return nil
}
