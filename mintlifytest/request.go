package mintlifytest

import (
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"slices"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// Request is one request that reached the service.
type Request struct {
	Operation mintlify.Operation // "" where the service has no such operation
	Method    string             // as sent
	Path      string             // as sent, escaped
	Query     url.Values         // as sent
	Prompt    string             // of Create and Message
}

// Requests returns the requests that reached the service so far, in order.
func (s *Service) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// promptOf returns the prompt of a request's body; "" if it has none that the
// service would take.
func promptOf(r *http.Request, body []byte) string {
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || mediaType != "application/json" {
		return ""
	}
	var fields map[string]json.RawMessage // names to the letter, other than in a struct
	var prompt string
	if json.Unmarshal(body, &fields) != nil || json.Unmarshal(fields["prompt"], &prompt) != nil {
		return ""
	}
	return prompt
}
