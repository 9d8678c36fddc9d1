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

// startRead notes that somebody reads the body. What came before was of another request.
func (a *Attempt) startRead() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sealed {
		return errSealed
	}

	if !a.bodyRead {
		a.bodyRead = true
		a.responding = false
	}
	return nil
}

// watchBody makes req's body, and each body of its GetBody, tell the attempt when it is read.
// GetBody fails once the request was sent: net/http would send it again.
func (a *Attempt) watchBody(req *http.Request) {
	if req.Body == nil {
		req.Body = http.NoBody
	}
	if req.Body != http.NoBody {
		a.hasBody = true
		req.Body = &requestBody{req.Body, a}
	}

	getBody := req.GetBody
	req.GetBody = func() (io.ReadCloser, error) {
		if err := a.mayStartAgain(); err != nil {
			return nil, err
		}
		if !a.hasBody || getBody == nil {
			return http.NoBody, nil
		}

		body, err := getBody()
		if err != nil {
			return nil, err
		}
		return &requestBody{body, a}, nil
	}
}

// mayStartAgain returns an error if the transport must not start the request again.
func (a *Attempt) mayStartAgain() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sealed {
		return errSealed
	}
	if a.isSent() {
		return a.resent()
	}
	return nil
}
