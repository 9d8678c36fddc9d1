package main

import (
	"fmt"
	"slices"
	"strings"
)

// line returns the call in the table of requests.
func (r response) line() requestLine {
	var statuses, bodies, headers []string
	for _, e := range r.exchanges {
		statuses = append(statuses, fmt.Sprint(e.status))
		bodies = append(bodies, fmt.Sprintf("%s (%s)", e.kind(), e.contentType()))

		for _, name := range knownHeaders {
			if e.header.Get(name) != "" {
				headers = append(headers, name)
			}
		}
	}
	if len(r.exchanges) == 0 {
		statuses = []string{"none"}
	}

	return requestLine{
		label:   r.label,
		status:  times(statuses),
		body:    times(bodies),
		headers: strings.Join(unique(headers), ", "),
	}
}

// times joins texts, each once and with its number.
func times(texts []string) string {
	var all []string
	for _, text := range unique(texts) {
		n := 0
		for _, other := range texts {
			if other == text {
				n++
			}
		}

		if n > 1 {
			text = fmt.Sprintf("%d × %s", n, text)
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// unique returns each text once, in the order of their first occurrence.
func unique(texts []string) []string {
	var all []string
	for _, text := range texts {
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// The headers whose presence is reported. Their values are not.
var (
	requestIDs = []string{
		"X-Request-Id", "Request-Id", "X-Amzn-Requestid", "X-Correlation-Id", "X-Trace-Id", "X-Vercel-Id",
		"X-Railway-Request-Id", "Traceparent",
	}
	rateLimits = []string{
		"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset",
		"Ratelimit-Limit", "Ratelimit-Remaining", "Ratelimit-Reset", "Ratelimit", "Ratelimit-Policy",
	}
	knownHeaders = slices.Concat([]string{"Retry-After", "Cf-Ray"}, requestIDs, rateLimits)
)
