package transport

import (
	"errors"
	"io"
	"net/http"
)

var errSealed = errors.New("the SDK has judged that this request was not sent")

// requestBody is a body as the transport gets it. Its attempt learns that it is read: a header
// without a byte of the body cannot be acted on, and it may be the header of another request,
// such as one for a token, that the transport makes under the same context.
type requestBody struct {
	io.ReadCloser
	attempt *Attempt
}

func (b *requestBody) Read(p []byte) (int, error) {
	if err := b.attempt.startRead(); err != nil {
		return 0, err
	}
	return b.ReadCloser.Read(p)
}

// startRead notes that somebody reads the body.
func (a *Attempt) startRead() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.verdict.neverSent {
		return errSealed
	}

	if !a.trail.has(beganBody) {
		if a.trail.isAbandoned() {
			return a.cause
		}
		a.trail.add(beganBody)
	}
	return nil
}

// watchBody makes req's body tell the attempt when it is read. A request with a body has no
// GetBody: net/http then returns its error instead of sending the request again, and the error
// may prove that the service did not act. The GetBody of a request without a body fails once the
// request was sent, for transports that ask it.
func (a *Attempt) watchBody(req *http.Request) {
	if req.Body != nil && req.Body != http.NoBody {
		a.record(aBody)
		req.Body = &requestBody{req.Body, a}
		req.GetBody = nil
		return
	}

	req.Body = http.NoBody
	req.GetBody = a.emptyBody
}

// emptyBody returns an error if the transport must not start the request again.
func (a *Attempt) emptyBody() (io.ReadCloser, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.verdict.neverSent:
		return nil, errSealed
	case a.trail.isSent():
		return nil, a.trail.retriedError()
	}
	return http.NoBody, nil
}
