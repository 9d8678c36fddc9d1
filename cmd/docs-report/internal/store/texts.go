package store

import (
	"cmp"
	"encoding/json"
	"net/url"
	"strings"
)

// FoldTerm returns one spelling for the spellings of a search term, which differ in case, blanks and
// final punctuation.
func FoldTerm(term string) string {
	folded := strings.Join(strings.Fields(strings.ToLower(term)), " ")
	if short := strings.TrimRight(folded, ".,;:!?… "); short != "" {
		return short
	}
	return folded
}

// PageName returns the name of a page of which the service gives the path or the URL. A final slash makes no other
// page.
func PageName(text string) string {
	if u, err := url.Parse(text); err == nil && (u.Scheme == "https" || u.Scheme == "http") {
		text = cmp.Or(u.Path, "/")
	}
	if name := strings.TrimRight(text, "/"); name != "" || text == "" {
		return name
	}
	return "/"
}

// anonymous has the fields of conversations and feedback that are not personal data. The addresses of sources
// are pages of the documentation.
type anonymous struct {
	Timestamp        any        `json:"timestamp,omitempty"`
	ResponseType     any        `json:"responseType,omitempty"`
	ResolutionStatus any        `json:"resolutionStatus,omitempty"`
	QueryCategory    any        `json:"queryCategory,omitempty"`
	PageURL          webAddress `json:"pageUrl,omitempty"`
	Sources          []struct {
		URL webAddress `json:"url"`
	} `json:"sources,omitempty"`

	Path      webAddress `json:"path,omitempty"`
	CreatedAt any        `json:"createdAt,omitempty"`
	Source    any        `json:"source,omitempty"`
	Status    any        `json:"status,omitempty"`
	Helpful   any        `json:"helpful,omitempty"`
}

// webAddress is an address without its query and fragment: they may name a person.
type webAddress string

// UnmarshalText implements [encoding.TextUnmarshaler].
func (a *webAddress) UnmarshalText(text []byte) error {
	page, _, _ := strings.Cut(strings.ReplaceAll(string(text), "#", "?"), "?")
	*a = webAddress(page)
	return nil
}

// stripTexts removes what readers wrote from a row, which is JSON.
func stripTexts(data []byte) ([]byte, error) {
	var row anonymous
	if err := json.Unmarshal(data, &row); err != nil {
		return nil, err
	}
	return json.Marshal(row)
}
