// Package merges is what the programs that report merges to the agent have in common:
// which merges they skip, and how they quote text by others.
package merges

import "strings"

// Key returns the key of the merge that a repository's commit is. Forges ignore the case of a
// repository, and so does the key. commit is the full SHA.
func Key(repository, commit string) string { return strings.ToLower(repository) + "@" + commit }

// None is the line that keeps one merge from being documented. It is also the reason why such a
// merge is skipped.
const None = "docs-job: none"

// SaysNone reports whether a line of text is [None], in any case. White space at the end of the
// line does not matter. A line that is quoted, indented or in a list does not count: it is usually
// about another merge. once.FindMarker reads the line as a marker with the key "none", so look for
// the line first.
func SaysNone(text string) bool {
	for line := range strings.Lines(text) {
		if strings.EqualFold(strings.TrimRight(line, " \t\r\n"), None) {
			return true
		}
	}
	return false
}
