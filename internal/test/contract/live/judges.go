package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// judgeStatus judges whether a request got the error that it should get.
func judgeStatus(_ *check, r *response) verdict {
	if r.status == r.wants {
		return expected(r.String())
	}
	return differs(r.String())
}

// judgeUnknownJob judges the response that package once asks for before it sends a prompt.
func judgeUnknownJob(c *check, r *response) verdict {
	if stopsOnce(r.status) {
		return differs(r.String() + ": package once would not take this for a service that works, and send nothing")
	}
	if r.label == preflightJob {
		return expected(r.String())
	}
	return judgeStatus(c, r)
}

// stopsOnce reports whether package once takes a status as a sign that the service does not work.
func stopsOnce(status int) bool {
	refusals := []int{http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden,
		http.StatusProxyAuthRequired, http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests, 499}
	isError := status >= 400 && status < 500 || status == http.StatusInternalServerError
	return !isError || slices.Contains(refusals, status)
}

func judgeFirstStatus(c *check, created *response) verdict {
	status := text(created.object(), "status")
	switch {
	case status == string(mintlify.JobActive):
		return expected("it is")
	case c.words.declared[status]:
		return differs("`status` is `" + status + "`")
	}
	return notTried("its status is new, or missing: see `Jobs.Create`")
}

// judgeEnd judges a wait.
func judgeEnd(c *check, last *response) verdict {
	history := c.historyOf(last)
	switch {
	case last.err == nil, errors.Is(last.err, mintlify.ErrJobFailed), errors.Is(last.err, mintlify.ErrDeploymentFailed):
		return expected(history)
	case c.ctx.Err() != nil:
		return notTried("interrupted: " + history)
	case !errors.Is(last.err, context.DeadlineExceeded):
		return notTried("the wait ended early: " + last.String())
	case !c.words.declared[text(last.object(), "status")]:
		return notTried("its status is new, or missing: " + history)
	}
	return differs("not ended: " + history)
}

// historyOf lists the statuses of a wait, each once in a row.
func (c *check) historyOf(last *response) string {
	var statuses []string
	polls := c.recorder.responses(last.request)
	for _, r := range polls {
		status := cmp.Or(c.words.show(text(r.object(), "status")), "a new value")
		if r.isGood() && (len(statuses) == 0 || statuses[len(statuses)-1] != status) {
			statuses = append(statuses, status)
		}
	}
	took := last.at.Sub(polls[0].at).Round(time.Second)
	return fmt.Sprintf("%s, in %v", cmp.Or(strings.Join(statuses, ", then "), "no status"), took)
}

// tell says on the terminal what the report must not say: ids, links and errors.
func (c *check) tell(r *response) {
	if r.status == 0 || r.flag != "" && r.err != nil {
		fmt.Fprintf(c.terminal.err, "%s: %v\n", r.label, r.err)
	}
	if r.leaves != "" && idOf(r) != "" {
		fmt.Fprintf(c.terminal.err, "%s: its id is %s\n", r.label, idOf(r))
	}
	if link := text(r.object(), "prLink"); link != "" {
		fmt.Fprintf(c.terminal.err, "%s: its pull request is %s\n", r.label, link)
	}
}

// leftBehind lists what the run has made or may have made, and whether any of it is uncertain.
func (c *check) leftBehind() (items []string, uncertain bool) {
	for _, r := range c.recorder.responses(nil) {
		isUnknown := errors.Is(r.err, mintlify.ErrOutcomeUnknown) || r.isSuccess() && idOf(r) == ""
		switch {
		case r.leaves == "":
		case isUnknown:
			items = append(items, fmt.Sprintf("Perhaps made (%s, and no id): %s.", r, r.leaves))
			uncertain = true
		case r.isSuccess():
			items = append(items, "Made: "+r.leaves+".")
		}
	}
	return items, uncertain
}
