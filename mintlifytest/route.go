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
	const agent, deployment, analytics = "v2/agent/{project}/job", "v1/project/", "v1/analytics/{project}/"
	return []route{
		{mintlify.OpCreateJob, http.MethodPost, path(agent), http.StatusCreated, (*Service).createJob},
		{mintlify.OpGetJob, http.MethodGet, path(agent + "/{id}"), http.StatusOK, (*Service).getJob},
		{mintlify.OpSendMessage, http.MethodPost, path(agent + "/{id}/message"), http.StatusOK, (*Service).sendMessage},
		{mintlify.OpTriggerUpdate, http.MethodPost, path(deployment + "update/{project}"), http.StatusAccepted, (*Service).triggerUpdate},
		{mintlify.OpTriggerPreview, http.MethodPost, path(deployment + "preview/{project}"), http.StatusAccepted, (*Service).triggerPreview},
		{mintlify.OpGetDeployment, http.MethodGet, path(deployment + "update-status/{id}"), http.StatusOK, (*Service).getDeployment},
		{mintlify.OpTriggerAutomation, http.MethodPost, path("v1/workflow/{project}/{id}/trigger"), http.StatusAccepted, (*Service).triggerAutomation},
		{mintlify.OpGetVisitors, http.MethodGet, path(analytics + "visitors"), http.StatusOK, (*Service).getVisitors},
		{mintlify.OpGetViews, http.MethodGet, path(analytics + "views"), http.StatusOK, (*Service).getViews},
		{mintlify.OpGetSearches, http.MethodGet, path(analytics + "searches"), http.StatusOK, (*Service).getSearches},
		{mintlify.OpGetFeedback, http.MethodGet, path(analytics + "feedback"), http.StatusOK, (*Service).getFeedback},
		{mintlify.OpGetFeedbackByPage, http.MethodGet, path(analytics + "feedback/by-page"), http.StatusOK, (*Service).getFeedbackByPage},
		{mintlify.OpGetConversations, http.MethodGet, path(analytics + "assistant"), http.StatusOK, (*Service).getConversations},
		{mintlify.OpGetThread, http.MethodGet, path(analytics + "assistant/threads/{id}"), http.StatusOK, (*Service).getThread},
		{mintlify.OpGetCallerStats, http.MethodGet, path(analytics + "assistant/caller-stats"), http.StatusOK, (*Service).getCallerStats},
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
