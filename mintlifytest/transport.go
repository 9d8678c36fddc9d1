package mintlifytest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"strconv"
	"syscall"
	"time"
)

// RoundTrip implements [http.RoundTripper], in memory.
func (s *Service) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}

	ctx := r.Context()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}

	resp := s.handle(r, body)
	if resp.fault.Refuse {
		return nil, refuse(ctx, r.URL.Host, resp.fault.Delay)
	}
	if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.WroteRequest != nil {
		trace.WroteRequest(httptrace.WroteRequestInfo{})
	}
	if err := wait(ctx, resp.fault.Delay); err != nil {
		return nil, err
	}
	if resp.fault.Drop {
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	}

	return &http.Response{
		Status:        fmt.Sprintf("%d %s", resp.status, http.StatusText(resp.status)),
		StatusCode:    resp.status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        resp.header,
		ContentLength: int64(len(resp.body)),
		Body:          io.NopCloser(resp.reader()),
		Request:       r,
	}, nil
}

// ServeHTTP implements [http.Handler]. Panics with http.ErrAbortHandler have net/http close
// the connection.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(r)
	if err != nil {
		panic(http.ErrAbortHandler)
	}

	resp := s.handle(r, body)
	err = wait(r.Context(), resp.fault.Delay)
	if err != nil || resp.fault.Refuse || resp.fault.Drop {
		panic(http.ErrAbortHandler)
	}

	maps.Copy(w.Header(), resp.header)
	w.Header().Set("Content-Length", strconv.Itoa(len(resp.body)))
	w.WriteHeader(resp.status)

	if _, err := io.Copy(w, resp.reader()); err != nil {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// reader reads the body, to its middle if it is truncated.
func (r response) reader() io.Reader {
	if !r.fault.Truncate {
		return bytes.NewReader(r.body)
	}
	return io.MultiReader(bytes.NewReader(r.body[:len(r.body)/2]), truncated{})
}

type truncated struct{}

func (truncated) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func readBody(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	defer r.Body.Close()

	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if len(body) == 0 {
		return nil, nil // an empty body counts as none
	}
	return body, nil
}

// refuse returns the error of a connection that is refused after a delay. It fires the trace event
// of a real transport, before the delay: whoever gives up meanwhile knows that nothing was sent.
func refuse(ctx context.Context, host string, delay time.Duration) error {
	if trace := httptrace.ContextClientTrace(ctx); trace != nil && trace.GetConn != nil {
		trace.GetConn(host)
	}
	if err := wait(ctx, delay); err != nil {
		return err
	}
	return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
}

// wait waits for d, or until ctx ends. It returns the cause of that end.
func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}

	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
