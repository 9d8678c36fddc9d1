package once

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

const (
	trustTime   = time.Minute      // after a good response, in which the service is not asked
	firstHold   = 30 * time.Second // of a project; it doubles with each failure
	longestHold = 30 * time.Minute
	mendingTime = 5 * time.Minute // until the next request, if a person has to mend something first
	longestWait = time.Hour       // that a Retry-After counts for
	turnTime    = time.Second     // until the next look, while another send goes first
)

// project is what a Runner knows of a project of the service: whether the service works, and
// until when nothing is sent to it.
type project struct {
	mu        sync.Mutex
	worked    time.Time     // when a response showed last that the service works; zero after a request that failed
	heldUntil time.Time     // when Step may send again
	hold      time.Duration // the latest hold whose length nobody asked for; 0 since the last success
	failing   bool          // no send has succeeded since one failed: sends go out one at a time
	sending   bool          // one does
}

// project returns what is known of the project with this id.
func (r *Runner) project(id string) *project {
	known, _ := r.projects.LoadOrStore(id, &project{})
	return known.(*project)
}

// clientOf returns the client of a project, "" for the Runner's own; nil in a process without
// a key, where only the id is checked.
func (r *Runner) clientOf(id string) (*mintlify.Client, error) {
	switch {
	case id == "":
		return r.client, nil
	case r.client == nil:
		_, err := mintlify.NewClient("none", id)
		return nil, err
	}
	return r.client.ForProject(id)
}

// ask makes sure that the service works before a prompt is sent to it: unless it has shown
// that lately, it is asked for a job that does not exist. The error says why nothing may be
// sent; the project is then held, unless ctx has ended.
func (r *Runner) ask(ctx context.Context, client *mintlify.Client, p *project) error {
	if p.isTrusted() {
		return nil
	}

	asking, cancel := context.WithTimeout(ctx, r.sendTime) // a rate limiter may let it wait
	defer cancel()
	silent := mintlify.WithOnPoll(func(mintlify.Poll) {}) // the caller's own is for its jobs
	poll, err := client.Jobs.Poll(asking, "preflight", 0, silent)
	if poll.Err != nil {
		err = poll.Err
	}

	if statusOf(err) == http.StatusInternalServerError { // nobody knows what it says to such an id
		p.heard(nil)
		return nil
	}
	if err == nil || errors.Is(err, mintlify.ErrJobFailed) {
		err = errors.New("it has a job that cannot exist, so something else must have responded")
	}
	return p.judge(ctx, err)
}

// judge returns nil if err, of a request that comes before a send, is a response of a service
// that works. Else it holds the project, unless ctx has ended.
func (p *project) judge(ctx context.Context, err error) error {
	if isRefusal(err) {
		p.heard(err)
		return nil
	}
	end := ended(ctx)
	if end != nil {
		return end
	}
	p.failed(err)
	return fmt.Errorf("nothing was sent, because asking the service first failed: %w", err)
}

// isTrusted reports whether the service has worked within the last minute.
func (p *project) isTrusted() bool {
	p.mu.Lock()
	defer p.mu.Unlock()

	return !p.worked.IsZero() && !reached(p.worked.Add(trustTime))
}

// heard notes the outcome of a request that was not a send.
func (p *project) heard(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()

	if err == nil || isRefusal(err) || errors.Is(err, mintlify.ErrJobFailed) {
		p.worked = time.Now()
	} else {
		p.worked = time.Time{}
	}
}

// succeeded notes that a send made a job, or that the service refused the prompt itself. It
// ends a hold.
func (p *project) succeeded() {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.worked = time.Now()
	p.heldUntil = time.Time{}
	p.hold = 0
	p.failing = false
}

// failed holds the project after a send that is unknown or made no job, or after asking in
// vain.
func (p *project) failed(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.worked = time.Time{}
	p.failing = true
	wait := holdAfter(err)
	if wait == 0 {
		if !reached(p.heldUntil) {
			return // a failure during a hold does not double it
		}
		p.hold = min(max(2*p.hold, firstHold), longestHold)
		wait = p.hold
	}

	until := time.Now().Add(wait)
	if until.After(p.heldUntil) {
		p.heldUntil = until
	}
}

// admit returns how long Step has to wait before it may send. If that is 0, release must be
// called after the send.
func (p *project) admit() (wait time.Duration, release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()

	switch {
	case !reached(p.heldUntil):
		return time.Until(p.heldUntil), nil
	case !p.failing:
		return 0, func() {}
	case p.sending:
		return turnTime, nil
	}
	p.sending = true
	return 0, p.release
}

func (p *project) release() {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.sending = false
}

// left returns how long the project is held, at least soon.
func (p *project) left() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()

	return max(soon, time.Until(p.heldUntil))
}

// holdAfter returns how long a failure holds its project if the service says so, or if a
// person has to mend something first; else 0.
func holdAfter(err error) time.Duration {
	var response *mintlify.APIError
	if errors.As(err, &response) && response.RetryAfter > 0 {
		return min(response.RetryAfter, longestWait)
	}

	switch statusOf(err) {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusNotFound:
		return mendingTime
	}
	badKey := errors.Is(err, mintlify.ErrInvalidArgument)
	badCertificate := errors.As(err, new(*tls.CertificateVerificationError))
	if badKey || badCertificate {
		return mendingTime
	}
	return 0
}

// isRefusal reports whether err is a 4xx of a service that works, which is about the request.
func isRefusal(err error) bool {
	status := statusOf(err)
	switch status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusProxyAuthRequired,
		http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return false
	}
	return status >= 400 && status <= 499
}

// statusOf returns the status of the response that err is, 0 if it is none.
func statusOf(err error) int {
	var response *mintlify.APIError
	if !errors.As(err, &response) {
		return 0
	}
	return response.StatusCode
}
