package mintlifytest

import (
	"net/http"
	"net/url"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// route is an endpoint of the service.
type route struct {
	operation mintlify.Operation
	method    string
	pattern   []string // the segments of the path; {project} and {id} stand for any
	status    int      // of a success
	handler   func(*Service, *call) (result any, failed *failure)
}

// routes is all that the service does.
func routes() []route {
	const agent, analytics = "v2/agent/{project}/job", "v1/analytics/{project}/"
	return []route{
		{mintlify.OpCreateJob, http.MethodPost, path(agent), http.StatusCreated, (*Service).createJob},
		{mintlify.OpGetJob, http.MethodGet, path(agent + "/{id}"), http.StatusOK, (*Service).getJob},
		{mintlify.OpSendMessage, http.MethodPost, path(agent + "/{id}/message"), http.StatusOK, (*Service).sendMessage},
		{mintlify.OpGetVisitors, http.MethodGet, path(analytics + "visitors"), http.StatusOK, (*Service).getVisitors},
	}
}

func path(pattern string) []string { return strings.Split(pattern, "/") }

// match reports whether a request is for the route, and returns the project and the
// id in its path. The path prefix of a base URL may come before the pattern.
func (r *route) match(method string, segments []string) (project, id string, ok bool) {
	prefix := len(segments) - len(r.pattern)
	if method != r.method || prefix < 0 {
		return "", "", false
	}
	for i, want := range r.pattern {
		segment := segments[prefix+i]
		switch want {
		case "{project}":
			project, ok = unescape(segment)
		case "{id}":
			id, ok = unescape(segment)
		default:
			ok = segment == want
		}
		if !ok {
			return "", "", false
		}
	}
	return project, id, true
}

// unescape returns a segment of an escaped path, unless it is empty or broken.
func unescape(segment string) (text string, ok bool) {
	text, err := url.PathUnescape(segment)
	return text, err == nil && text != ""
}
