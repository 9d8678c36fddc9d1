package transport

import (
	"errors"
	"net"
	"strings"
)

var (
	// ErrRepeatable matches an error after which net/http itself would make the request again if
	// its body had a GetBody: the service certainly did not act, and another connection may work
	// at once.
	ErrRepeatable = errors.New("the peer refused the request before it acted")

	// ErrClientCertificate matches the error of a peer that refused the client's certificate, or
	// the lack of one. The service certainly did not act.
	ErrClientCertificate = errors.New("the peer refused the client certificate")
)

// The errors of net/http for a request that it cannot make again without a GetBody.
const (
	cannotRetry = "http2: Transport: cannot retry err ["
	afterBody   = "] after Request.Body was written; define Request.GetBody to avoid this error"

	// goAway says that the peer's GOAWAY names the request's stream as not processed. Only the
	// whole text proves it: other texts quote the peer.
	goAway = cannotRetry + "http2: Transport received Server's graceful shutdown GOAWAY" + afterBody

	// cannotRewind says that a connection closed before the request was written to it.
	cannotRewind = "net/http: cannot rewind body after connection loss"
)

// plain returns err in words for a person: what net/http says of an HTTP/2 stream that failed, without
// its advice to define GetBody.
func plain(err error) error {
	cause, begins := strings.CutPrefix(err.Error(), cannotRetry)
	cause, ends := strings.CutSuffix(cause, afterBody)
	if !begins || !ends {
		return err
	}
	return &refusal{message: "http2: " + strings.TrimPrefix(cause, "http2: "), err: err}
}

// refusesCertificate reports whether err is a TLS alert about the client's certificate. Over
// TLS 1.3 it comes when the request may have been written already.
func refusesCertificate(err error) bool {
	var op *net.OpError
	for errors.As(err, &op) {
		if op.Op == "remote error" {
			return isCertificateAlert(op.Err.Error())
		}
		err = op.Err
	}
	return false
}

func isCertificateAlert(text string) bool {
	switch strings.TrimPrefix(text, "tls: ") {
	case "bad certificate",
		"unsupported certificate",
		"revoked certificate",
		"expired certificate",
		"unknown certificate",
		"unknown certificate authority",
		"certificate required":
		return true
	}
	return false
}

// refusal is an error of the transport in words for a person.
type refusal struct {
	message string
	kind    error // ErrRepeatable, ErrClientCertificate or nil
	err     error // of the transport
}

func (e *refusal) Error() string { return e.message }

// Is reports whether target is e's kind.
func (e *refusal) Is(target error) bool { return e.kind != nil && e.kind == target }

func (e *refusal) Unwrap() error { return e.err }
