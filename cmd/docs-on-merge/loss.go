package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/once"
)

// loss is what a run knows about a response that was lost. If an earlier run lost it, loss is zero.
type loss struct {
	// cause says what the run has got instead of the response.
	cause string
	// brief is the cause in a few words, for the commit's status. "" means that there are none.
	brief string
}

// lossOf returns what this run knows about a prompt that became unknown in it. err comes from package once.
func lossOf(record once.Record, err error) loss {
	cause := err
	if inner := errors.Unwrap(err); inner != nil { // err also says what callers of package once can do
		cause = inner
	}
	return loss{cause: cmp.Or(record.Problem, cause.Error()), brief: briefOf(err)}
}

// briefOf returns what came instead of a response, such as "502 Bad Gateway", or "".
func briefOf(err error) string {
	var response *mintlify.APIError
	var network net.Error
	isLate := errors.Is(err, context.DeadlineExceeded) || errors.As(err, &network) && network.Timeout()
	switch {
	case errors.As(err, &response):
		return fmt.Sprintf("%d %s", response.StatusCode, http.StatusText(response.StatusCode))
	case isLate:
		return "time-out"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "EOF"
	case errors.As(err, &network):
		return "connection lost"
	}
	return ""
}

// looked says where a run has looked for the pull request, and for how long. It is "" if nobody looks.
func (f *finder) looked(took time.Duration) string {
	switch {
	case f == nil || f.asked == 0:
		return ""
	case f.said != "":
		return f.said
	}

	howLong := "once"
	if took >= lookEvery {
		howLong = "for " + took.Round(time.Second).String()
	}
	return fmt.Sprintf("This run looked %s in the pull requests of %s, and each later run looks again",
		howLong, f.repository)
}
