package status

import (
	"bytes"
	"net/http"
)

// IsCloudflares reports whether a response that is not 2xx is Cloudflare's own, which is in front of
// the service and refuses requests by rules of its own. The service's responses come through
// Cloudflare, too, so its headers alone prove nothing.
func IsCloudflares(code int, header http.Header, body []byte) bool {
	body = bytes.TrimSpace(body)
	isJSON := bytes.HasPrefix(body, []byte("{")) || bytes.HasPrefix(body, []byte("["))
	is4xx := code >= 400 && code <= 499
	cameThrough := header.Get("Server") == "cloudflare" || header.Get("Cf-Ray") != ""

	switch {
	case isJSON:
		return false
	case header.Get("Cf-Mitigated") != "": // such as a challenge
		return true
	case is4xx && bytes.Contains(body, []byte("error code: 1")): // one of its codes 1000 to 1999
		return true
	case is4xx && cameThrough:
		isPage := code == http.StatusForbidden && bytes.HasPrefix(body, []byte("<"))
		return isPage || bytes.Contains(body, []byte("Cloudflare"))
	}
	return false
}
