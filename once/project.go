package once

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"sync"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/status"
	"github.com/mintlify-community/mintlify-go/internal/transport"
)

const (
	trustTime   = time.Minute      // after a good response, during which the service is not asked
	firstHold   = 30 * time.Second // of a project; after sends it doubles with each failure
	longestHold = 30 * time.Minute
	mendingTime = 5 * time.Minute // until the next request, if a person must fix something first
	longestWait = time.Hour       // that a Retry-After counts for
	turnTime    = time.Second     // until the next look, while another send goes first
	spreadTime  = 5 * time.Second // after a hold, within which all come that it has made wait
	secondLook  = time.Second     // until a job is polled again that seems to be gone
)

// project is what a Runner knows of a project of the service: whether the service works, and
// until when nothing is sent to it.
type project struct {
	client *mintlify.Client

	mu sync.Mutex
	// worked is when a response last showed that the service works. It is zero after a request that failed.
	worked time.Time
	// heldUntil is when Step may send again, as far as sends and the service say.
	heldUntil time.Time
	// vainUntil is when Step may ask again after asking in vain. It is zero once the service works.
	vainUntil time.Time
	// hold is the latest hold after a send whose length the service did not ask for. It is 0 after a success.
	hold time.Duration
	// failure is why the project is held. While it is not nil, sends go out one at a time. A success clears it.
	failure error
	// sending says that one of these sends is in progress.
	sending bool
	// mending is what failed until a person mends something. A person was told of it, and is not told again until
	// the same succeeds.
	mending request
	// news is the hold that a person has not been told of.
	news *Hold
}

// request is a request that can hold a project: 0, a question or a send.
type request int

const (
	question request = iota + 1
	send
)

// projectOf returns what is known of the project with this id, "" for the client's own.
func (r *Runner) projectOf(id string) (*project, error) {
	client, err := r.clientOf(id)
	if err != nil {
		return nil, err
	}

	known, _ := r.projects.LoadOrStore(client.ProjectID(), &project{client: client})
	return known.(*project), nil
}

// clientOf returns the client of a project; nil in a process without a key, where only the id is checked.
func (r *Runner) clientOf(id string) (*mintlify.Client, error) {
	switch {
	case id == "":
		return r.client, nil
	case r.client == nil:
		return nil, checkProject(id)
	}
	return r.client.ForProject(id)
}

// checkProject returns why id is not a project's id. "" is the client's own project.
func checkProject(id string) error {
	if id == "" {
		return nil
	}

	_, err := mintlify.NewClient("none", id)
	return err
}

// pollOnce polls a job. Its error is nil for a job that failed.
func (p *project) pollOnce(ctx context.Context, id string, waited time.Duration) (mintlify.Poll, error) {
	poll, err := p.client.Jobs.Poll(ctx, id, waited, mintlify.WithSettleTime(0))
	return poll, failureOf(poll, err)
}

// pollTwice is pollOnce, and polls again if a 4xx says that there is no such job: one machine of the service may
// not know it yet.
func (p *project) pollTwice(ctx context.Context, id string, waited time.Duration) (mintlify.Poll, error) {
	poll, err := p.pollOnce(ctx, id, waited)
	if !showsWorking(err) || !pause(ctx, secondLook) {
		return poll, err
	}
	return p.pollOnce(ctx, id, waited)
}

// ask returns nil if the service works: if it has shown that lately, or if it responds as
// expected to the GET of a job that does not exist.
func (p *project) ask(ctx context.Context) error {
	if p.isTrusted() {
		return nil
	}

	_, err := p.pollOnce(ctx, "preflight", 0)
	isParseError := statusOf(err) == http.StatusInternalServerError && !isCloudflares(err) // perhaps of that id
	switch {
	case err == nil:
		return errors.New("it has a job that cannot exist, so something else must have responded")
	case showsWorking(err), isParseError:
		p.works()
		return nil
	}
	return err
}

// idleIn polls the job of a thread, which another message or a person may
// have set to work again: the service drops what its agent is doing when a message comes. It
// returns when to look again, 0 if the job has ended. The error is nil if the service works.
func (p *project) idleIn(ctx context.Context, first Record) (time.Duration, error) {
	poll, err := p.pollTwice(ctx, first.JobID, time.Since(first.UpdatedAt))
	switch {
	case showsWorking(err): // the response to the message will say the same
		poll.Next = 0
	case err != nil:
		return 0, err
	}

	p.works()
	return poll.Next, nil
}

// inVain holds the project if asking failed, unless ctx has ended. It returns err, and adds that nothing was sent.
func (p *project) inVain(ctx context.Context, err error) error {
	if err == nil || ended(ctx) != nil {
		return err
	}

	p.mu.Lock()
	defer p.mu.Unlock()

	wait := holdAfter(err)
	switch {
	case !p.note(err):
	case wait == 0: // asking again costs nothing
		p.vainUntil = time.Now().Add(firstHold)
	default:
		p.holdFor(wait)
		p.tell(question)
	}
	return fmt.Errorf("nothing was sent, because asking the service first failed: %w", err)
}

// isTrusted reports whether the service has worked within the last minute.
func (p *project) isTrusted() bool {
	p.mu.Lock()
	defer p.mu.Unlock()

	return !p.worked.IsZero() && !reached(p.worked.Add(trustTime))
}

// heard notes the outcome of a poll.
func (p *project) heard(err error) {
	if err == nil || showsWorking(err) {
		p.works()
		return
	}

	p.mu.Lock()
	defer p.mu.Unlock()

	p.worked = time.Time{}
}

// works notes a response that shows that the service works.
func (p *project) works() {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.worked = time.Now()
	p.vainUntil = time.Time{}
	if p.mending == question {
		p.mending = 0
	}
}

// succeeded notes that a send made a job, or that the service refused the prompt itself. It ends a hold.
func (p *project) succeeded() {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.worked = time.Now()
	p.heldUntil = time.Time{}
	p.vainUntil = time.Time{}
	p.hold = 0
	p.failure = nil
	p.mending = 0
}

// failed holds the project after a send that is unknown or made no job: ever longer, since the service may
// respond to everything but prompts.
func (p *project) failed(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()

	if !p.note(err) {
		return
	}

	wait := holdAfter(err)
	if wait == 0 {
		if !reached(p.heldUntil) {
			return // a failure during a hold does not double it
		}

		p.hold = min(max(2*p.hold, firstHold), longestHold)
		wait = p.hold
	}
	p.holdFor(wait)
	p.tell(send)
}

// tell notes that a person is to be told of the hold that a failed request has made, if only a person can end
// it. The lock is held.
func (p *project) tell(failed request) {
	if p.mending != 0 || !isToBeMended(p.failure) {
		return
	}
	p.mending = failed
	p.news = &Hold{ProjectID: p.client.ProjectID(), Until: p.heldUntil, Err: p.failure}
}

// takeNews returns the hold that a person is to be told of, and nil from then on.
func (p *project) takeNews() *Hold {
	p.mu.Lock()
	defer p.mu.Unlock()

	news := p.news
	p.news = nil
	return news
}

// note notes a failure, and reports whether it holds the project. The lock is held.
func (p *project) note(err error) bool {
	p.worked = time.Time{}
	if errors.Is(err, transport.ErrRepeatable) {
		return false // another connection may work at once
	}

	p.failure = err
	return true
}

// holdFor holds the project for at least wait. The lock is held.
func (p *project) holdFor(wait time.Duration) {
	until := time.Now().Add(wait)
	if until.After(p.heldUntil) {
		p.heldUntil = until
	}
}

// held returns for how long Step may not send. The lock is held.
func (p *project) held() time.Duration {
	until := p.heldUntil
	if p.vainUntil.After(until) {
		until = p.vainUntil
	}
	if reached(until) {
		return 0
	}
	return max(1, time.Until(until))
}

// admit returns how long Step has to wait before it may send, and why. If that is 0, the function must be called
// after the send.
func (p *project) admit() (time.Duration, func(), error) {
	p.mu.Lock()
	defer p.mu.Unlock()

	wait := p.held()
	switch {
	case p.failure == nil:
		return 0, func() {}, nil
	case wait == 0 && !p.sending:
		p.sending = true
		return 0, p.release, nil
	case wait == 0:
		wait = turnTime
	default:
		wait = spread(wait)
	}

	const says = "this prompt was not sent, because an earlier request to the project failed"
	return wait, nil, &otherError{says: says, err: p.failure}
}

func (p *project) release() {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.sending = false
}

// left returns when the next step of a record comes that waits for the end of the project's hold.
func (p *project) left() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()

	wait := p.held()
	if wait == 0 {
		return soon
	}
	return spread(wait)
}

// spread returns wait and up to spreadTime more, so that of several records that wait for the same time another one
// comes first each time: one that always fails would keep the others waiting.
func spread(wait time.Duration) time.Duration { return wait + mathrand.N(spreadTime) }

// holdAfter returns how long a failure holds its project if the service says so, or if a
// person must fix something first; else 0.
func holdAfter(err error) time.Duration {
	var response *mintlify.APIError
	if errors.As(err, &response) && response.RetryAfter > 0 && status.Of(response.StatusCode).Passes {
		return min(response.RetryAfter, longestWait)
	}

	if isToBeMended(err) {
		return mendingTime
	}
	return 0
}

// isToBeMended reports whether a person must fix something before a request can succeed.
func isToBeMended(err error) bool {
	if status.Of(statusOf(err)).NeedsPerson {
		return true
	}

	badKey := errors.Is(err, mintlify.ErrInvalidArgument)
	badCertificate := errors.As(err, new(*tls.CertificateVerificationError)) ||
		errors.Is(err, transport.ErrClientCertificate)
	return badKey || badCertificate
}

// showsWorking reports whether err is a response of a service that works: a 4xx about the request itself.
func showsWorking(err error) bool {
	return status.Of(statusOf(err)).About != 0 && !isCloudflares(err)
}

// isCloudflares reports whether Cloudflare responded, which is in front of the service.
func isCloudflares(err error) bool {
	var response *mintlify.APIError
	return errors.As(err, &response) && status.IsCloudflares(response.StatusCode, response.Header, response.Body)
}

// statusOf returns the status if err is a response of the service, else 0.
func statusOf(err error) int {
	var response *mintlify.APIError
	if !errors.As(err, &response) {
		return 0
	}
	return response.StatusCode
}
