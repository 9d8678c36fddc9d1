package mintlifytest

import (
	"net/http"
	"net/url"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// route is where a request goes.
type route struct {
	operation mintlify.Operation // "" for nowhere
	project   string
	jobID     string
}

func routeOf(method string, u *url.URL) route {
	path := u.EscapedPath()
	// The base URL's path prefix, if any, comes before.
	if _, rest, ok := strings.Cut(path, "/v2/agent/"); ok {
		return agentRoute(method, unescape(rest))
	}
	if _, rest, ok := strings.Cut(path, "/v1/analytics/"); ok {
		if segments := unescape(rest); len(segments) == 2 && segments[1] == "visitors" && method == http.MethodGet {
			return route{mintlify.OpGetVisitors, segments[0], ""}
		}
	}
	return route{}
}

func agentRoute(method string, segments []string) route {
	switch {
	case len(segments) < 2 || segments[1] != "job":
	case len(segments) == 2 && method == http.MethodPost:
		return route{mintlify.OpCreateJob, segments[0], ""}
	case len(segments) == 3 && method == http.MethodGet:
		return route{mintlify.OpGetJob, segments[0], segments[2]}
	case len(segments) == 4 && method == http.MethodPost && segments[3] == "message":
		return route{mintlify.OpSendMessage, segments[0], segments[2]}
	}
	return route{}
}

// unescape returns the segments of an escaped path, or none if one is empty or broken.
func unescape(path string) []string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		unescaped, err := url.PathUnescape(segment)
		if err != nil || unescaped == "" {
			return nil
		}
		segments[i] = unescaped
	}
	return segments
}
