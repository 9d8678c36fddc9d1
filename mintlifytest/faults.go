package mintlifytest

import (
	"net/http"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// Fault is a way for a request to fail. One with Status below 300 or none reaches
// the service, which acts on it before its response goes wrong; the zero Fault is no fault.
type Fault struct {
	Status   int           // responded with, with Body and Header; 0 is the status without the fault
	Body     string        // the whole body of the response; "" is the one without the fault where Status is 0, else empty
	Header   http.Header   // added to the response's, such as Retry-After
	Refuse   bool          // no connection is made, and the service sees nothing (over a socket: it closes the connection)
	Drop     bool          // the connection is lost after the request was sent and acted on
	Truncate bool          // the body ends midway
	Delay    time.Duration // before the response comes
}

// FailNext has the next n requests of op fail, after those of earlier calls. A
// poll that fails so leaves the job's script where it is.
func (s *Service) FailNext(op mintlify.Operation, n int, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range n {
		s.faults[op] = append(s.faults[op], f)
	}
}

// fault takes the fault of a request, which may be that of a job's step, and
// reports whether a poll still advances the job's script.
func (s *Service) fault(to route) (f Fault, advance bool) {
	if queue := s.faults[to.operation]; len(queue) > 0 {
		s.faults[to.operation] = queue[1:]
		return queue[0], !queue[0].isFailure()
	}
	if j := s.find(to); to.operation == mintlify.OpGetJob && j != nil && j.step().Fault != nil {
		f = *j.step().Fault
		j.poll()
		return f, false
	}
	return Fault{}, true
}

// isFailure reports whether the response does not get through as it was.
func (f Fault) isFailure() bool {
	return f.Status != 0 || f.Body != "" || f.Refuse || f.Drop || f.Truncate
}
