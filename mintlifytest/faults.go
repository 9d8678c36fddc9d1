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

// nextFault takes the fault that FailNext has for a request of op.
func (s *Service) nextFault(op mintlify.Operation) Fault {
	queue := s.faults[op]
	if len(queue) == 0 {
		return Fault{}
	}
	s.faults[op] = queue[1:]
	return queue[0]
}

// acts reports whether the service acts on the request.
func (f Fault) acts() bool { return !f.Refuse && f.Status < 300 }

// isFailure reports whether the response does not get through as it was.
func (f Fault) isFailure() bool {
	return f.Status != 0 || f.Body != "" || f.Refuse || f.Drop || f.Truncate
}
