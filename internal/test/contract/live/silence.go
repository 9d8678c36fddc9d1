package main

import (
	"fmt"
	"net/http"
	"slices"
)

// silence says why a response tells nothing about the service itself; "" if it does tell. An
// outage, a block, a quota or a key that may not do something is not a difference.
func (c *check) silence(r *response) string {
	if r.status == 0 || r.isRedirect() || r.kind() == kindHTML || r.kind() == kindText || c.isSilentStatus(r) {
		return r.String()
	}
	return ""
}

func (c *check) isSilentStatus(r *response) bool {
	switch r.status {
	case http.StatusTooManyRequests:
		return true
	case r.wants:
		return false
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden:
		return true
	case http.StatusNotFound:
		return r.isTyped || r.isPost()
	case http.StatusConflict:
		return r.isPost()
	case http.StatusInternalServerError: // perhaps the response to a request that makes no sense
		return r.wants == 0 || !c.works(r.part())
	}
	return r.status > http.StatusInternalServerError
}

// works reports whether a part of the API has sent a good response.
func (c *check) works(part string) bool {
	isGood := func(r *response) bool { return r.part() == part && r.isGood() }
	return slices.ContainsFunc(c.recorder.responses(nil), isGood)
}

// speaking returns all responses that tell something.
func (c *check) speaking() []*response {
	isSilent := func(r *response) bool { return c.silence(r) != "" }
	return slices.DeleteFunc(c.recorder.responses(nil), isSilent)
}

// whyNotThere returns an error if the service is not there at all. If analytics is silent, or
// does not know the project, two other requests decide.
func (c *check) whyNotThere() error {
	first := c.ask(visitors.first())
	isUnknown := first.status == http.StatusNotFound
	if c.silence(first) == "" && !isUnknown && first.kind() == kindJSON {
		return nil
	}

	preflight := c.ask(preflightJob)
	speaks := c.silence(preflight) == "" && preflight.kind() == kindJSON
	isThere := c.ask(callerStats).isGood() || preflight.isGood() || speaks && !isUnknown
	if !isThere && c.ctx.Err() == nil {
		return fmt.Errorf("the service is not there: %s. %s", first, hint(first))
	}
	return nil
}

// hint says what a person may have to mend.
func hint(first *response) string {
	switch {
	case first.status == 0:
		return "The error above says why"
	case first.kind() != kindJSON || first.isRedirect():
		return "Something else responds: a login page, a proxy, Cloudflare's block, or an outage"
	case first.status == http.StatusUnauthorized:
		return "The service does not accept the key in MINTLIFY_API_KEY: it is wrong, revoked or expired"
	case first.status == http.StatusPaymentRequired || first.status == http.StatusForbidden:
		return "The key lacks the read scope, this machine is not on its allowlist, or the plan has no API access"
	case first.status == http.StatusNotFound:
		return "MINTLIFY_PROJECT_ID is wrong or of another organization, or the base URL is wrong"
	}
	return "Try again later"
}
