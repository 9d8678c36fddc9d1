package mintlifytest

import (
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"strings"
)

// call is a request that the service is processing.
type call struct {
	*route      // the zero route if the service has no such endpoint
	request     *http.Request
	body        []byte
	project, id string // in the path
	query       url.Values
	prompt      string // in the body
	fault       Fault  // how it fails
}

func (s *Service) newCall(r *http.Request, body []byte) *call {
	c := &call{request: r, body: body, query: r.URL.Query()}
	c.prompt = c.field("prompt")
	segments := strings.Split(r.URL.EscapedPath(), "/")
	for i := range s.routes {
		if project, id, ok := s.routes[i].match(r.Method, segments); ok {
			c.route, c.project, c.id = &s.routes[i], project, id
			return c
		}
	}
	c.route = &route{}
	return c
}

// field returns a text of the body; "" if it has none that the service would take.
func (c *call) field(name string) string {
	mediaType, _, err := mime.ParseMediaType(c.request.Header.Get("Content-Type"))
	if err != nil || mediaType != "application/json" {
		return ""
	}
	var fields map[string]json.RawMessage // a struct would take a name in another case
	var text string
	if json.Unmarshal(c.body, &fields) != nil || json.Unmarshal(fields[name], &text) != nil {
		return ""
	}
	return text
}
