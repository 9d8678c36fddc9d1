package transport

import (
	"bytes"
	"errors"
	"io"
	"net/http"

	"github.com/mintlify-community/mintlify-go/internal/async"
)

const (
	maxEmptyReads = 100     // in a row, as bufio allows
	chunkSize     = 4 << 10 // of a body of unknown length
	maxChunkSize  = 64 << 10
)

var errGone = errors.New("the attempt was given up")

// Read reads the response's body to its end into b, or to just over limit, and closes
// it. The error is why the body did not come whole.
func (a *Attempt) Read(resp *http.Response, b *bytes.Buffer, limit int64) error {
	defer resp.Body.Close()
	a.limited = io.LimitedReader{R: resp.Body, N: limit + 1}
	_, err := b.ReadFrom(&a.limited)
	return a.explain(err) // where the body then ended well, it was because it was closed
}

// body is a response's body that ends when the attempt is given up. Unlike net/http's,
// that of another transport may heed neither its context nor Close.
type body struct {
	io.ReadCloser
	gone  <-chan struct{}
	size  int64 // as the response tells it; 0 or less: not known
	chunk []byte
	empty int  // reads in a row
	left  bool // to itself, since the attempt is given up
}

func (b *body) Read(p []byte) (int, error) {
	select {
	case <-b.gone:
		return b.leave()
	default:
	}
	if b.chunk == nil {
		b.chunk = make([]byte, b.chunkSize())
	}
	var n int
	var err error
	run := async.Go(func() { n, err = b.ReadCloser.Read(b.chunk[:min(len(p), len(b.chunk))]) })
	select {
	case <-run.Done():
	case <-b.gone:
		return b.leave()
	}
	run.Wait()
	if b.empty++; n > 0 {
		b.empty = 0
	}
	if b.empty == maxEmptyReads && err == nil {
		err = io.ErrNoProgress
	}
	return copy(p, b.chunk[:n]), err
}

func (b *body) chunkSize() int64 {
	if b.size <= 0 { // mocks leave it at 0
		return chunkSize
	}
	return min(b.size+1, maxChunkSize) // one more byte would be seen
}

// leave leaves the body to whoever still reads it.
func (b *body) leave() (int, error) {
	if !b.left {
		b.left = true
		go b.ReadCloser.Close()
	}
	return 0, errGone
}

// Close closes the body, unless that is done already.
func (b *body) Close() error {
	if b.left {
		return nil
	}
	return b.ReadCloser.Close()
}
