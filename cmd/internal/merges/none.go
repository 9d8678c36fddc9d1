package merges

import (
	"regexp"
	"strings"
)

// None is the line that keeps one merge from being documented. It is also the reason why such a
// merge is skipped.
const None = "docs-job: none"

// noneLine matches a line that says [None]. Each of these keeps the merge from being documented, since
// whoever wrote it meant that. A reason may follow the word.
var noneLine = regexp.MustCompile(`(?i)^docs-job:[\t\p{Zs}]*none(?:[\t\p{Zs}.,;:(—].*)?$`)

// NoneLine returns the first line of text that says [None], or "". It may have a reason after the word,
// behind a blank or one of . , ; : ( and a dash, and may stand alone in an HTML comment. A line that is
// quoted, indented or in a list does not count: it is usually about another merge. once.FindMarker reads
// the line as a marker with the key "none", so look for the line first.
func NoneLine(text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		said := line
		if comment, isComment := strings.CutPrefix(line, "<!--"); isComment {
			said = strings.TrimSpace(strings.TrimSuffix(comment, "-->"))
		}
		if noneLine.MatchString(said) && !isKeyed(said) {
			return line
		}
	}
	return ""
}

// isKeyed reports whether a line names the key of a task, such as none.example/api@5907854.
func isKeyed(line string) bool {
	_, key, _ := strings.Cut(line, ":")
	key = strings.TrimSpace(key)
	return strings.Contains(key, "@") && !strings.ContainsAny(key, " \t\u00a0")
}
