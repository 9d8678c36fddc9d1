package mintlifytest

import (
	"net/http"
	"net/url"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
)

type route struct {
	operation mintlify.Operation
	method    string
	pattern   []string // the segments of the path; {project} and {id} stand for any
	status    int      // of a success
	handler   handler
}

// handler acts on a call. It returns what the service responds with.
type handler func(*Service, *call) (result any, failed *failure)

// newRoute returns a route. status is the status of a success.
func newRoute(method string, op mintlify.Operation, pattern string, status int, h handler) route {
	return route{operation: op, method: method, pattern: strings.Split(pattern, "/"), status: status, handler: h}
}

func get(op mintlify.Operation, pattern string, h handler) route {
	return newRoute(http.MethodGet, op, pattern, http.StatusOK, h)
}

func post(op mintlify.Operation, pattern string, status int, h handler) route {
	return newRoute(http.MethodPost, op, pattern, status, h)
}

func routes() []route {
	const (
		agent      = "v2/agent/{project}/job"
		deployment = "v1/project/"
		automation = "v1/workflow/{project}/{id}/"
		analytics  = "v1/analytics/{project}/"
	)
	return []route{
		post(mintlify.OpCreateJob, agent, http.StatusCreated, (*Service).createJob),
		get(mintlify.OpGetJob, agent+"/{id}", (*Service).getJob),
		post(mintlify.OpSendMessage, agent+"/{id}/message", http.StatusOK, (*Service).sendMessage),
		post(mintlify.OpTriggerUpdate, deployment+"update/{project}", http.StatusAccepted, (*Service).triggerUpdate),
		post(mintlify.OpTriggerPreview, deployment+"preview/{project}", http.StatusAccepted, (*Service).triggerPreview),
		get(mintlify.OpGetDeployment, deployment+"update-status/{id}", (*Service).getDeployment),
		post(mintlify.OpTriggerAutomation, automation+"trigger", http.StatusAccepted, (*Service).triggerAutomation),
		get(mintlify.OpGetVisitors, analytics+"visitors", (*Service).getVisitors),
		get(mintlify.OpGetViews, analytics+"views", (*Service).getViews),
		get(mintlify.OpGetSearches, analytics+"searches", (*Service).getSearches),
		get(mintlify.OpGetFeedback, analytics+"feedback", (*Service).getFeedback),
		get(mintlify.OpGetFeedbackCounts, analytics+"feedback/by-page", (*Service).getFeedbackCounts),
		get(mintlify.OpGetConversations, analytics+"assistant", (*Service).getConversations),
		get(mintlify.OpGetThread, analytics+"assistant/threads/{id}", (*Service).getThread),
		get(mintlify.OpGetCallerStats, analytics+"assistant/caller-stats", (*Service).getCallerStats),
	}
}

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

// unescape returns a segment of an escaped path. It reports false if the segment is empty or
// cannot be unescaped.
func unescape(segment string) (string, bool) {
	text, err := url.PathUnescape(segment)
	if err != nil || text == "" {
		return "", false
	}
	return text, true
}
