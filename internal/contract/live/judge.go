package main

import (
	"errors"
	"fmt"
	"net/http"
)

// trouble says why a response cannot be used; "" if it is good.
func (r response) trouble() string {
	last := r.last()
	switch {
	case last == nil && errors.Is(r.err, errQuota):
		return "the quota of analytics requests is used up"
	case last == nil:
		return "no response came"
	case last.status == http.StatusTooManyRequests:
		return "the service responded 429: try again in an hour"
	case !r.isGood():
		return fmt.Sprintf("%d with %s", last.status, last.kind())
	}
	return ""
}

// whyNot returns the trouble of the first response that has one.
func whyNot(responses ...response) string {
	for _, r := range responses {
		if why := r.trouble(); why != "" {
			return why
		}
	}
	return ""
}

// judgeRefusal notes a response that should have been good.
func (c *check) judgeRefusal(name expectation, r response) {
	if r.last() == nil || r.status() == http.StatusTooManyRequests {
		c.report.notTried(name, r.trouble())
		return
	}
	c.report.differs(name, r.trouble(), "")
}

// judgeStatus notes the response to a call that should fail with a status.
func (c *check) judgeStatus(name expectation, r response, want int) {
	if r.last() == nil || r.status() == http.StatusTooManyRequests {
		c.report.notTried(name, r.trouble())
		return
	}
	c.report.compare(name, r.status() == want, fmt.Sprint(r.status()))
}
