package mintlifytest

import (
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
)

type call struct {
	*route                     // the zero route if the service has no such endpoint
	name    mintlify.Operation // as the client names it; of a Call: its method and path
	request *http.Request
	query   url.Values
	body    []byte
	project string // in the path
	id      string // in the path
	prompt  string // in the body
	fault   Fault  // how it fails
}

func (s *Service) newCall(r *http.Request, body []byte) *call {
	c := &call{route: &route{}, name: callName(r), request: r, query: r.URL.Query(), body: body}
	c.prompt = c.field("prompt")

	segments := strings.Split(r.URL.EscapedPath(), "/")
	for i := range s.routes {
		project, id, ok := s.routes[i].match(r.Method, segments)
		if ok {
			c.route = &s.routes[i]
			c.project = project
			c.id = id
			break
		}
	}
	return c
}

// callName returns the operation as the client names it. A request in memory carries the name.
// A request on a socket has the name of a Call, with the path of the base URL.
func callName(r *http.Request) mintlify.Operation {
	if info, ok := mintlify.RequestFromContext(r.Context()); ok {
		return info.Operation
	}
	return mintlify.Operation(r.Method + " " + r.URL.EscapedPath())
}

// field returns a text of the body; "" if the body has none that the service would take.
func (c *call) field(name string) string {
	mediaType, _, err := mime.ParseMediaType(c.request.Header.Get("Content-Type"))
	if err != nil || mediaType != "application/json" {
		return ""
	}

	var fields map[string]json.RawMessage // a struct would take a name in another case
	if json.Unmarshal(c.body, &fields) != nil {
		return ""
	}
	var text string
	if json.Unmarshal(fields[name], &text) != nil {
		return ""
	}
	return text
}
