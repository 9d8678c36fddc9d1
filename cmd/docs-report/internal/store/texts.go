package store

import (
	"encoding/json"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
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

// WithoutTexts returns a conversation without its personal data. The addresses of its sources stay:
// they are pages of the documentation.
func WithoutTexts(row mintlify.Conversation) mintlify.Conversation {
	return mintlify.Conversation{
		Timestamp:        row.Timestamp,
		ResponseType:     row.ResponseType,
		ResolutionStatus: row.ResolutionStatus,
		QueryCategory:    row.QueryCategory,
		PageURL:          withoutQuery(row.PageURL),
		Sources:          pathsOf(row.Sources),
	}
}

func pathsOf(sources []mintlify.ConversationSource) []mintlify.ConversationSource {
	var paths []mintlify.ConversationSource
	for _, source := range sources {
		paths = append(paths, mintlify.ConversationSource{URL: withoutQuery(source.URL)})
	}
	return paths
}

// feedbackWithoutTexts returns feedback without its personal data.
func feedbackWithoutTexts(row mintlify.Feedback) mintlify.Feedback {
	return mintlify.Feedback{
		Path:      withoutQuery(row.Path),
		CreatedAt: row.CreatedAt,
		Source:    row.Source,
		Status:    row.Status,
		Helpful:   row.Helpful,
	}
}

// withoutQuery removes the query and the fragment of a URL: they may name a person.
func withoutQuery(url string) string {
	page, _, _ := strings.Cut(strings.ReplaceAll(url, "#", "?"), "?")
	return page
}

// stripTexts removes what readers wrote from a stored row.
func stripTexts(kind Kind, data []byte) (string, error) {
	if kind == Conversations {
		return strip(data, WithoutTexts)
	}
	return strip(data, feedbackWithoutTexts)
}

func strip[T any](data []byte, without func(T) T) (string, error) {
	var row T
	if err := json.Unmarshal(data, &row); err != nil {
		return "", err
	}
	text, err := json.Marshal(without(row))
	return string(text), err
}
