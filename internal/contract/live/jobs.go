package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// readJobs asks for jobs: those of the old list, and some that do not exist.
func (c *check) readJobs(ctx context.Context) {
	list := c.oldList(ctx)
	known := c.settings.jobID
	if known == "" {
		known = newestSession(list)
	}

	if known != "" {
		c.readKnownJob(ctx, known, list)
	} else {
		c.report.notTried(expectOldList, c.emptyList(list))
	}

	unknown := c.unknownJob(ctx, known)
	c.unparsableJob(ctx, unknown)
}

// oldList gets the list of version 1.
func (c *check) oldList(ctx context.Context) response {
	path := "/v1/agent/" + url.PathEscape(c.client.ProjectID()) + "/jobs"
	return c.probing(ctx, "jobs of version 1", opOldList, c.getting(path, nil))
}

// opOldList is not an operation of the SDK.
const opOldList mintlify.Operation = "list jobs"

func (c *check) emptyList(list response) string {
	if why := list.trouble(); why != "" {
		return "the list: " + why
	}
	return "the list is empty: -job or -job-id tells"
}

// newestSession returns the id of the first session of the list, "" if there is none.
func newestSession(list response) string {
	for _, session := range list.rows("allSessions") {
		return text(session, "sessionId")
	}
	return ""
}

// readKnownJob gets a job of the settings or of the old list.
func (c *check) readKnownJob(ctx context.Context, id string, list response) {
	do := calling(c.client.Jobs.Get, id)
	if c.settings.jobID != "" {
		r := c.reading(ctx, "the job of -job-id", mintlify.OpGetJob, do)
		c.judgeOldList(list, id, text(r.object(), "prLink"))
		return
	}

	r := c.trying(ctx, "a session of the list, as a job of version 2", mintlify.OpGetJob, do)
	if r.trouble() == "no response came" {
		c.report.notTried(expectOldList, r.trouble())
		return
	}
	came := fmt.Sprintf("a session of the list, asked for as a job of version 2, gets %d", r.status())
	c.report.compare(expectOldList, r.status() >= 400, came)
}

// judgeOldList looks for a job in the list, by its id or its pull request.
func (c *check) judgeOldList(list response, id, prLink string) {
	if why := list.trouble(); why != "" {
		c.report.notTried(expectOldList, "the list: "+why)
		return
	}

	sessions := list.last().bytes()
	isThere := bytes.Contains(sessions, []byte(id)) || prLink != "" && bytes.Contains(sessions, []byte(prLink))
	came := fmt.Sprintf("the list has %d sessions; the job is not among them", len(list.rows("allSessions")))
	if isThere {
		came = "the job is in the list"
	}
	c.report.compare(expectOldList, !isThere, came)
}

// unknownJob asks for a job that does not exist, by an id of the usual form.
func (c *check) unknownJob(ctx context.Context, known string) response {
	do := c.getting(c.path(mintlify.OpGetJob, idLike(known)), nil)
	r := c.probing(ctx, "a job that does not exist", mintlify.OpGetJob, do)
	if r.last() == nil {
		c.report.notTried(expectUnknownJob, r.trouble())
		return r
	}

	status := r.status()
	switch {
	case status == http.StatusNotFound:
		c.report.expected(expectUnknownJob, "404")
	case provesNothing(status):
		c.report.differs(expectUnknownJob, fmt.Sprint(status), askingIsWrong)
	default:
		c.report.differs(expectUnknownJob, fmt.Sprint(status), "`ErrNotFound`. Asking first still works: "+
			"`showsWorking` in once/project.go takes this status as the response of a service that works")
	}
	return r
}

const askingIsWrong = "Package once asks for such a job before it sends a prompt: `ask` and `showsWorking` in " +
	"once/project.go would take a service that works for one that does not, and send nothing"

// provesNothing reports whether package once does not take a status as the response of a service
// that works.
func provesNothing(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusProxyAuthRequired,
		http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests, 499:
		return true
	case http.StatusInternalServerError:
		return false
	}
	return status < 400 || status > 499
}

// unparsableJob asks for the job that package once asks for.
func (c *check) unparsableJob(ctx context.Context, unknown response) {
	do := c.getting(c.path(mintlify.OpGetJob, "preflight"), nil)
	r := c.probing(ctx, "the job `preflight`, as package once", mintlify.OpGetJob, do)
	if r.last() == nil {
		c.report.notTried(expectUnparsable, r.trouble())
		return
	}

	came := fmt.Sprint(r.status())
	if r.status() == unknown.status() {
		c.report.expected(expectUnparsable, came+", the same")
		return
	}
	if provesNothing(r.status()) {
		c.report.differs(expectUnparsable, came, askingIsWrong)
		return
	}
	c.report.expected(expectUnparsable, came)
}

// idLike returns a random id of the same form, or a random UUID.
func idLike(id string) string {
	if id == "" {
		id = "a0000000-0000-4000-8000-00000000000a"
	}

	random := make([]byte, len(id))
	_, _ = rand.Read(random) // never fails
	like := []byte(id)
	for i := 1; i < len(like); i++ { // the first character of a ULID is small
		if len(id) == len("a0000000-0000-4000-8000-00000000000a") && (i == 14 || i == 19) {
			continue // the version and the variant of a UUID
		}
		like[i] = charLike(like[i], random[i], isHex(id))
	}
	return string(like)
}

func isHex(id string) bool {
	return !strings.ContainsFunc(strings.ToLower(id), func(r rune) bool { return r > 'f' && r <= 'z' })
}

// charLike returns another character of the same kind.
func charLike(old, random byte, isHex bool) byte {
	letters := "abcdefghjkmnpqrstvwxyz" // a ULID has no others
	if isHex {
		letters = "abcdef"
	}
	letter := letters[int(random)%len(letters)]

	switch {
	case old >= '0' && old <= '9':
		return '0' + random%10
	case old >= 'a' && old <= 'z':
		return letter
	case old >= 'A' && old <= 'Z':
		return letter - 'a' + 'A'
	}
	return old
}
