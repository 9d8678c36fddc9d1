package mintlifytest

import (
	"encoding/json"
	"net/http"
)

// response is what the service responds, and what goes wrong on the way back.
type response struct {
	status int
	header http.Header
	body   []byte
	fault  Fault
}

func success(status int, v any) response {
	body, err := json.Marshal(v)
	if err != nil {
		return failure(http.StatusInternalServerError, err.Error())
	}
	return response{status: status, header: http.Header{}, body: body}
}

func failure(status int, message string) response {
	return success(status, map[string]any{"error": message})
}

// apply returns the response as the fault leaves it.
func (r response) apply(f Fault) response {
	r.fault = f
	if f.Status != 0 {
		r.status, r.body = f.Status, []byte(f.Body)
	} else if f.Body != "" {
		r.body = []byte(f.Body)
	}
	r.header = http.Header{}
	for name, values := range f.Header {
		for _, value := range values {
			r.header.Add(name, value)
		}
	}
	if r.header.Get("Content-Type") == "" {
		r.header.Set("Content-Type", contentType(r.body))
	}
	return r
}

func contentType(body []byte) string {
	if json.Valid(body) {
		return "application/json"
	}
	return http.DetectContentType(body)
}
