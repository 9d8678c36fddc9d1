package transport

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/mintlify-community/mintlify-go/internal/aside"
)

const maxEmptyReads = 100 // in a row, as bufio allows

var errAbandoned = errors.New("the body was abandoned")

// reading is the reading of a response's body, as far as the end of an attempt has to
// know of it. The attempt's lock guards it.
type reading struct {
	body    io.Closer
	abandon chan struct{} // closed to leave the body to itself; nil where it heeds Close
}

// stop leaves the body to itself and returns it, to be closed; nil if none is read.
func (r *reading) stop() io.Closer {
	if r.abandon != nil {
		close(r.abandon)
		r.abandon = nil
	}
	return r.body
}

// Read reads the response's body to its end into b, or to just over limit, and closes
// it. The error is why the body did not come whole.
func (a *Attempt) Read(resp *http.Response, b *bytes.Buffer, limit int64) error {
	body := resp.Body
	a.mu.Lock()
	stopped := a.stopped
	var abandon chan struct{}
	if stopped == nil {
		if !a.standard {
			abandon = make(chan struct{})
		}
		a.reading = reading{body: body, abandon: abandon}
	}
	a.mu.Unlock()
	if stopped != nil {
		body.Close()
		return stopped
	}
	a.limited = io.LimitedReader{R: body, N: limit + 1}
	var err error
	if abandon == nil {
		_, err = b.ReadFrom(&a.limited)
	} else {
		err = readAside(&a.limited, b, abandon)
	}
	if err != errAbandoned { //nolint:errorlint // whoever stops an attempt closes its body
		body.Close()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reading = reading{}
	if a.stopped != nil { // where the body then ended well, it was because it was closed
		return a.stopped
	}
	return err
}

// readAside reads body into b until it ends or is abandoned. Unlike net/http's, a body
// of another transport may heed neither its context nor Close.
func readAside(body io.Reader, b *bytes.Buffer, abandon <-chan struct{}) error {
	var mu sync.Mutex // guards b and abandoned
	var abandoned bool
	var err error
	run := aside.Go(func() {
		chunk := make([]byte, 2048)
		for empty := 0; err == nil; {
			n, readErr := body.Read(chunk)
			if empty++; n > 0 {
				empty = 0
			}
			if empty == maxEmptyReads && readErr == nil {
				readErr = io.ErrNoProgress
			}
			mu.Lock()
			if abandoned {
				readErr = errAbandoned
			} else {
				b.Write(chunk[:n])
			}
			mu.Unlock()
			err = readErr
		}
	})
	select {
	case <-run.Done():
	case <-abandon:
		select {
		case <-run.Done(): // whole all the same
		default:
			mu.Lock()
			abandoned = true
			mu.Unlock()
			return errAbandoned
		}
	}
	run.Wait()
	if err == io.EOF { //nolint:errorlint // by io.Reader's contract
		return nil
	}
	return err
}
