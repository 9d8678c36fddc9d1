// Package recording asks the service what the SDK depends on, and keeps the shapes of the responses:
// which fields, forms and orders came, and no text, id, path or key.
package recording

// File is a recording.
type File struct {
	// About says when and by what the recording was made.
	About string `json:"about"`
	// Exchanges are the requests, in the order in which they were sent.
	Exchanges []Exchange `json:"exchanges"`
}

// Exchange is a request, and the shape of the response.
type Exchange struct {
	// Label says what the request is for.
	Label string `json:"label"`
	// Method is the method of the request.
	Method string `json:"method"`
	// Path is the path of the request, as api/openapi.yaml writes it.
	Path string `json:"path"`
	// Query has the limit and the offset of the request, and the shape of all else.
	Query map[string]string `json:"query,omitempty"`
	// NotSent says why the request was not sent.
	NotSent string `json:"notSent,omitempty"`
	// Status is 0 if no response came.
	Status int `json:"status,omitempty"`
	// Headers has the shapes of the response's headers, or the values of a few.
	Headers map[string]string `json:"headers,omitempty"`
	// Body is the shape of the response's body.
	Body any `json:"body,omitempty"`
	// Polls is how many polls in a row had this response.
	Polls int `json:"polls,omitempty"`
	// Minutes is how long it took until the last poll, rounded up.
	Minutes int `json:"minutes,omitempty"`
}

// List is the shape of a list.
type List struct {
	// Rows is how many rows came.
	Rows int `json:"[]"`
	// Kinds are the shapes of those rows that have something that no row before them has.
	Kinds []any `json:"kinds,omitempty"`
	// Order has a column for each field that tells rows apart, or says when they were made. It has a
	// number for each row: the same one for the same value, in the whole recording. The column = is of
	// whole rows. The number of a
	// time is its day, counted from the first in the recording, a dot, and its place among all times;
	// - is a row without one.
	Order map[string]string `json:"order,omitempty"`
}
