package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/operations"
)

// maxReads is how many requests the command sends for reading.
const maxReads = 25

// setUpError is a failure that a person has to mend before the command can say anything.
type setUpError struct{ text string }

func (e *setUpError) Error() string { return e.text }

// range30 is the range of most requests. It ends before today, so that it does not change.
func range30() (from, to mintlify.Date) {
	to = today()
	return to.AddDays(-30), to
}

// read asks all that can be asked by GET. It returns false if something else than the service
// responds.
func (c *check) read(ctx context.Context) (bool, error) {
	first, ok, err := c.knock(ctx)
	if !ok || err != nil {
		return false, err
	}

	c.readJobs(ctx)
	c.readVisitors(ctx, first)
	c.readViews(ctx)
	c.readSearches(ctx)
	c.readDated(ctx)
	c.readTheRest(ctx)
	c.readWithWrongKey(ctx)
	return true, nil
}

// knock makes the first call. It returns false if a login page, a redirect or a proxy responds to
// it, and an error if the key, the project or the connection does not work.
func (c *check) knock(ctx context.Context) (response, bool, error) {
	r := c.visitorPage(ctx, "visitors of 30 days")
	switch {
	case r.last() == nil:
		return r, false, &setUpError{fmt.Sprintf("there was no response: %v", r.err)}
	case r.status() == http.StatusUnauthorized:
		return r, false, &setUpError{"the service does not accept the key in MINTLIFY_API_KEY (401): it is wrong, " +
			"revoked or expired. Make an admin key on the API keys page of the dashboard"}
	}

	if came := stranger(r); came != "" {
		c.report.onlyDiffers(expectService, came, "the service did not respond")
		return r, false, nil
	}
	c.report.expected(expectService, "")
	if !r.isGood() {
		c.judgeRefusal(bodyOf(mintlify.OpGetVisitors), r)
	}

	if isDoor(r.status()) {
		second := c.callerStats(ctx)
		if second.status() == r.status() {
			return r, false, &setUpError{fmt.Sprintf("the service responds %d. "+
				"401 to 403: the key lacks the read scope, this machine is not on its allowlist, or the plan has "+
				"no access to the API. 404: MINTLIFY_PROJECT_ID is wrong, or of another organization", r.status())}
		}
	}
	return r, true, nil
}

// isDoor reports whether a status may be about the key or the project, and not about the request.
func isDoor(status int) bool {
	return status == http.StatusPaymentRequired || status == http.StatusForbidden || status == http.StatusNotFound
}

// stranger says what responded in place of the service; "" for the service.
func stranger(r response) string {
	for _, e := range r.exchanges {
		if e.status >= 300 && e.status <= 399 {
			return fmt.Sprintf("a redirect (%d)", e.status)
		}
	}

	last := r.last()
	switch {
	case last.isBlocked():
		return fmt.Sprintf("Cloudflare's block (%d with %s)", last.status, last.kind())
	case last.kind() == kindJSON, last.status == http.StatusTooManyRequests:
		return ""
	}
	return fmt.Sprintf("%d with %s instead of JSON", last.status, last.kind())
}

func (c *check) visitorPage(ctx context.Context, label string) response {
	from, to := range30()
	params := mintlify.VisitorsParams{DateFrom: from, DateTo: to, PageSize: 50}
	return c.trying(ctx, label, mintlify.OpGetVisitors, calling(c.client.Analytics.GetVisitorPage, params))
}

func (c *check) callerStats(ctx context.Context) response {
	from, to := range30()
	params := mintlify.CallerStatsParams{DateFrom: from, DateTo: to}
	do := calling(c.client.Analytics.GetCallerStats, params)
	return c.reading(ctx, "caller stats", mintlify.OpGetCallerStats, do)
}

// getting returns a GET that the SDK has no method for, or whose arguments it would refuse.
func (c *check) getting(path string, query url.Values) func(context.Context) error {
	return func(ctx context.Context) error {
		call := mintlify.CallParams{Method: http.MethodGet, Path: path, Query: query}
		return c.client.Call(ctx, call, new(any))
	}
}

// path fills in the project and the id of an operation's path.
func (c *check) path(op mintlify.Operation, id string) string {
	path := operations.Get(op).Path
	path = strings.Replace(path, "{projectId}", url.PathEscape(c.client.ProjectID()), 1)
	return strings.Replace(path, "{id}", url.PathEscape(id), 1)
}

// readTheRest asks for what has a row of its own only.
func (c *check) readTheRest(ctx context.Context) {
	if !c.good[mintlify.OpGetCallerStats] {
		c.callerStats(ctx)
	}

	thread := c.getting(c.path(mintlify.OpGetThread, idLike("01JH0000000000000000000000")), nil)
	noThread := c.probing(ctx, "a thread that does not exist", mintlify.OpGetThread, thread)
	c.judgeStatus(expectNoThread, noThread, http.StatusNotFound)

	deployment := c.getting(c.path(mintlify.OpGetDeployment, idLike("6a0000000000000000000000")), nil)
	none := c.probing(ctx, "a deployment that does not exist", mintlify.OpGetDeployment, deployment)
	c.judgeStatus(expectNoDeployment, none, http.StatusNotFound)
}

// readWithWrongKey makes one call with a key that does not exist.
func (c *check) readWithWrongKey(ctx context.Context) {
	stranger, err := mintlify.NewClient("mint_"+rand.Text(), c.client.ProjectID(), c.options...)
	if err != nil {
		c.report.notTried(expectWrongKey, "the SDK makes no client")
		return
	}

	do := calling(stranger.Analytics.GetCallerStats, mintlify.CallerStatsParams{})
	r := c.probing(ctx, "caller stats, with a key that does not exist", mintlify.OpGetCallerStats, do)
	c.judgeStatus(expectWrongKey, r, http.StatusUnauthorized)
}
