package mintlifytest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// Fault is a way for a request to fail. The service acts on the request first and then
// its response fails, except with Refuse, and with a Status of 300 or more without Acted.
type Fault struct {
	// Status replaces the response's status. If it is 0, the response keeps its own.
	Status int
	// Acted makes the service act whatever Status is, as if a gateway responded 504 after
	// the job was made.
	Acted bool
	// Body replaces the response's body. If it is "", the response keeps its own, or has
	// none if there is a Status.
	Body string
	// Header is added to the response's header. It may hold a Retry-After, for example.
	Header http.Header
	// Refuse keeps the request from the service: the connection is refused, or on a socket
	// closed. With a Delay it is a dial that hangs first. The other fields then have no effect.
	Refuse bool
	// Drop loses the connection before the response comes.
	Drop bool
	// Truncate ends the body in its middle.
	Truncate bool
	// Delay is how long the response takes to come.
	Delay time.Duration
}

// FailNext makes the next n requests of op fail with f, once those of earlier calls of
// FailNext and [Service.SucceedNext] are used up. A poll that fails this way does not
// advance the job's script.
//
// The operation of a [mintlify.Client.Call] is its method and path, on a socket with the path
// of the base URL:
//
//	svc.FailNext("GET /v1/things", 1, mintlifytest.Fault{Status: 200, Body: `{"things":[]}`})
//
// If an operation has this path, its faults come first.
//
// It panics if the fault would never occur: if op is neither an operation of the service nor a
// method and a path, if n is less than 1, or if f changes nothing. Acted alone changes nothing.
func (s *Service) FailNext(op mintlify.Operation, n int, f Fault) {
	defer s.lock()()
	switch {
	case n < 1:
		panic(fmt.Sprintf("mintlifytest: FailNext of %d requests, want at least 1", n))
	case !f.changes():
		panic("mintlifytest: FailNext with a Fault that changes nothing: set its Status, for example")
	}
	s.queue(op, n, f)
}

// SucceedNext lets the next n requests of op pass, once those of earlier calls of
// [Service.FailNext] and SucceedNext are used up, so that a later request fails:
//
//	svc.SucceedNext(mintlify.OpGetVisitors, 2)
//	svc.FailNext(mintlify.OpGetVisitors, 1, mintlifytest.Fault{Status: 503}) // the third page
//
// A [JobStep].Fault still fails a poll that passes. If n is 0, it does nothing. It panics if op is
// neither an operation of the service nor a method and a path.
func (s *Service) SucceedNext(op mintlify.Operation, n int) {
	defer s.lock()()
	s.queue(op, n, Fault{})
}

// queue adds a fault n times to the queue of op. The lock is held.
func (s *Service) queue(op mintlify.Operation, n int, f Fault) {
	if !s.hasOperation(op) {
		panic(fmt.Sprintf("mintlifytest: %q is neither an operation, such as mintlify.OpCreateJob, "+
			"nor a method and a path, such as \"GET /v1/things\"", op))
	}
	if n > 0 {
		s.faults[op] = append(s.faults[op], faults{fault: f.clone(), n: n})
	}
}

// faults are the same fault n times.
type faults struct {
	fault Fault
	n     int
}

func (f Fault) clone() Fault {
	f.Header = f.Header.Clone()
	return f
}

// nextFault removes the next fault of a call from its queue, and returns it; the zero Fault
// if there is none. A Call to the path of an operation may have a queue under each name.
func (s *Service) nextFault(c *call) Fault {
	op := c.operation
	if len(s.faults[op]) == 0 {
		op = c.name
	}
	queue := s.faults[op]
	if len(queue) == 0 {
		return Fault{}
	}

	first := &queue[0]
	first.n--
	if first.n == 0 {
		s.faults[op] = queue[1:]
	}
	return first.fault
}

// hasOperation reports whether op can occur.
func (s *Service) hasOperation(op mintlify.Operation) bool {
	method, path, _ := strings.Cut(string(op), " ")
	if strings.HasPrefix(path, "/") && method != "" && method == strings.ToUpper(method) {
		return true
	}
	return slices.ContainsFunc(s.routes, func(r route) bool { return r.operation == op })
}

// UnusedFaults lists what [Service.FailNext] and [Service.SucceedNext] still have queued, a line for
// each operation with how many are left. At the end of a test it is empty: a fault that never
// occurred proves nothing. The faults of a [JobStep] are not in it.
func (s *Service) UnusedFaults() []string {
	defer s.lock()()
	return s.queuedFaults()
}

// ClearFaults removes all that [Service.FailNext] and [Service.SucceedNext] still have queued: the outage is over.
// The faults of a [JobStep] stay.
func (s *Service) ClearFaults() {
	defer s.lock()()
	clear(s.faults)
}

// queuedFaults is UnusedFaults. The lock is held.
func (s *Service) queuedFaults() []string {
	var queued []string
	for _, op := range slices.Sorted(maps.Keys(s.faults)) {
		n := 0
		for _, next := range s.faults[op] {
			n += next.n
		}
		if n > 0 {
			queued = append(queued, fmt.Sprintf("%q (%d)", op, n))
		}
	}
	return queued
}

func (f Fault) acts() bool { return !f.Refuse && (f.Status < 300 || f.Acted) }

// changes reports whether a request with this fault differs from one without.
func (f Fault) changes() bool { return f.isFailure() || len(f.Header) > 0 || f.Delay > 0 }

// isFailure reports whether the response is lost or replaced.
func (f Fault) isFailure() bool {
	return f.Status != 0 || f.Body != "" || f.Refuse || f.Drop || f.Truncate
}
