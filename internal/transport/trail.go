package transport

import (
	"errors"
	"slices"
	"time"
)

// maxSteps is how many steps of each kind a trail keeps: a transport may ask for connections
// without end.
const maxSteps = 128

// step is something that happens to a request in an attempt.
type step uint8

const (
	changesNothing step = iota + 1 // a GET or a HEAD
	aBody                          // the request has one
	asked                          // for a connection: the transport fires trace events
	gotNew                         // connection
	gotReused                      // connection
	wroteHeader                    // also of another request that the transport made
	beganBody                      // somebody has read of the request's body for the first time
	wroteRequest                   // the whole of it
	informed                       // by a 1xx
	gotByte                        // the first one of any response
	responded                      // the header of the final response is there
	abandoned                      // by the SDK
	proxyFailed                    // the transport's Proxy function did
	canceled                       // by the caller
	overdue                        // the context's deadline or the attempt's time has passed
)

// trail is how far a request got: the steps of its attempt, in order. It keeps the latest of
// each kind, so a conclusion may count the steps of a kind up to maxSteps and look for the last,
// but look for the first only if there is just one. All methods but add change nothing.
type trail struct {
	steps []step
	room  [16]step // for the steps of most attempts, without an allocation
}

// add drops the oldest step of a kind that it has too many of.
func (t *trail) add(s step) {
	if t.steps == nil {
		t.steps = t.room[:0]
	}
	if t.count(s) == maxSteps {
		oldest := slices.Index(t.steps, s)
		t.steps = slices.Delete(t.steps, oldest, oldest+1)
	}
	t.steps = append(t.steps, s)
}

func (t *trail) count(s step) int {
	n := 0
	for _, other := range t.steps {
		if other == s {
			n++
		}
	}
	return n
}

// has reports whether there is a step of any of these kinds.
func (t *trail) has(kinds ...step) bool { return t.last(kinds...) != 0 }

// last returns the latest step of these kinds, or 0.
func (t *trail) last(kinds ...step) step {
	for _, s := range slices.Backward(t.steps) {
		if slices.Contains(kinds, s) {
			return s
		}
	}
	return 0
}

// isUnread reports whether there is a body of which nobody has read a byte.
func (t *trail) isUnread() bool { return t.has(aBody) && !t.has(beganBody) }

// hasByte reports whether the latest news is a response. A response before the first read of the body
// belonged to another request, and after a 1xx the final response has not begun.
func (t *trail) hasByte() bool {
	last := t.last(gotByte, responded, informed, beganBody)
	return last == gotByte || last == responded
}

// isResponding reports whether the final response has begun to arrive, as far as is known.
func (t *trail) isResponding() bool { return t.has(responded) || t.hasByte() && !t.isUnread() }

// isSent reports whether the service may have the request, so that it must not be sent again.
func (t *trail) isSent() bool {
	return t.isResponding() || !t.isUnread() && t.has(wroteHeader, wroteRequest)
}

// isInProgress reports whether the service may have the request, also if no header is known to have
// been written: over HTTP/2 a server can have a request before an event says so. Without any event it
// goes by the body alone.
func (t *trail) isInProgress() bool {
	isWritten := t.last(asked, wroteRequest) == wroteRequest // else by a request of the transport's own
	isBegun := t.has(gotNew, gotReused) && !t.isUnread()
	hasEvents := t.has(asked, gotNew, gotReused, wroteHeader, wroteRequest, gotByte, informed)
	return isWritten || isBegun || !hasEvents && t.has(beganBody)
}

// patience returns how long an attempt that has ended still waits for its response.
func (t *trail) patience() time.Duration {
	switch {
	case t.has(changesNothing):
		return 0
	case t.has(responded):
		return gracePeriod
	case t.has(overdue) && t.isResponding():
		return gracePeriod
	case t.has(overdue):
		return 0
	case t.isResponding() || t.isInProgress():
		return cancelPeriod
	}
	return 0
}

// isUnsent reports proof that the request was not written: the transport fires trace events, and
// none says that it wrote the header, or nobody has read the body; or the Proxy function of an
// *http.Transport failed. A transport without trace events proves nothing. Nor does an attempt
// that was abandoned after it had a connection, if it has no body or its body was begun: over
// HTTP/2 the header may still be on its way.
func (t *trail) isUnsent() bool {
	isOnItsWay := t.has(gotNew, gotReused) && t.has(abandoned) && !t.isUnread()
	return t.has(asked, proxyFailed) && !isOnItsWay && !t.isSent()
}

// isAbandoned reports whether the attempt was abandoned, and no response has won against that.
// Nothing is lost with the response to a GET.
func (t *trail) isAbandoned() bool {
	if t.has(changesNothing) {
		return t.has(abandoned)
	}
	return t.last(abandoned, responded) == abandoned
}

// isOnReused reports whether the connection that was got last was in use before.
func (t *trail) isOnReused() bool { return t.last(asked, gotNew, gotReused) == gotReused }

// isHeard reports whether a byte of any response has come.
func (t *trail) isHeard() bool { return t.has(gotByte, informed) }

// isReadAfterOnlyHeader reports whether one header alone was written, the body was first read
// after it, and no response came, not even a 1xx. Otherwise somebody may have kept the body and
// sent it elsewhere.
func (t *trail) isReadAfterOnlyHeader() bool {
	return t.count(wroteHeader) == 1 && t.last(wroteHeader, beganBody) == beganBody && !t.isHeard()
}

// isOnFirstConnection reports whether the attempt had no other connection than the one that
// was made for it, and wrote one header at most.
func (t *trail) isOnFirstConnection() bool {
	isFirst := t.count(asked) == 1 && t.count(gotNew)+t.count(gotReused) <= 1 && !t.isOnReused()
	return isFirst && t.count(wroteHeader) <= 1 && !t.isHeard()
}

// mustEnd returns why the transport must not start the request, again or at all, or nil. Connections
// without a written header do not count: over HTTP/2 net/http asks again whenever a connection has no
// stream left.
func (t *trail) mustEnd() error {
	switch {
	case !t.has(changesNothing) && t.isSent():
		return t.retriedError()
	case t.count(wroteHeader) >= maxHeaders:
		return errHeaders
	}
	return nil
}

// retriedError returns the error of a request that the transport would send a second time. If a
// response has come, it belonged to another request of the transport.
func (t *trail) retriedError() error {
	if t.hasByte() {
		return errOwnRequest
	}
	return errRetried
}

// verdict is what the end of an attempt without a response proves.
type verdict struct {
	neverSent bool  // the service certainly cannot act on the request
	err       error // for the caller, in words that a person understands
}

// judge returns the verdict on an attempt for which the transport returned err. cause is why
// it was abandoned, if it was: the transport's own error does not say that.
func (t *trail) judge(err, cause error) verdict {
	text := err.Error()
	isUnsent := t.isUnsent()
	isNeverRead := isUnsent && t.isUnread()
	isGone := text == goAway && t.isReadAfterOnlyHeader()
	isRefused := refusesCertificate(err) && t.isOnFirstConnection()
	v := verdict{neverSent: isUnsent || isGone || isRefused, err: err}

	switch {
	case t.isAbandoned():
		v.err = cause
	case isRefused:
		v.err = &refusal{message: ErrClientCertificate.Error() + ": " + text, kind: ErrClientCertificate, err: err}
	case isGone, isNeverRead && text == goAway:
		v.err = &refusal{message: ErrRepeatable.Error(), kind: ErrRepeatable, err: err}
	case isNeverRead && (t.isOnReused() || text == cannotRewind):
		v.err = &refusal{message: text, kind: ErrRepeatable, err: err}
	default:
		v.err = plain(err)
	}
	return v
}

var (
	errRetried    = errors.New("the connection failed after the request was written, so it is not sent again")
	errOwnRequest = errors.New("the transport made a request of its own under the request's context, so nobody " +
		"knows whether this one was sent: make such requests under another context")
	errHeaders = errors.New("10 headers were written under the request's context, and no response came")
)
