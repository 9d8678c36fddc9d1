package merges

import (
	"regexp"
	"slices"
	"strings"
)

// None is the line that keeps one merge from being documented. It is also the reason why such a
// merge is skipped.
const None = "docs-job: none"

// noneLine matches a line that says [None]. Each of these keeps the merge from being documented, since
// whoever wrote it meant that. A reason may follow the word.
var noneLine = regexp.MustCompile(`(?i)^docs-job:[\t\p{Zs}]*none(?:[\t\p{Zs}.,;:(—].*)?$`)

// NoneLine returns the first line of a description that says [None], or "". It may have a reason after the word,
// behind a blank or one of . , ; : ( and a dash, and may stand alone in an HTML comment. A line that is
// quoted, indented or in a list does not count: it is usually about another merge. Neither does a line of a longer
// comment, with which a template explains it.
func NoneLine(description string) string {
	return noneIn(strings.Split(withoutHints(description), "\n"))
}

// NoneLineOfCommit returns the same of a commit's message. It reports whether the line stands in the list of commits
// that GitHub writes into the message of a squash: then it is about one of these commits, whose part of the
// squash nobody can tell.
func NoneLineOfCommit(message string) (string, bool) {
	lines := strings.Split(withoutHints(message), "\n")
	begin, end := squashList(lines)
	others := slices.Concat(lines[:begin], lines[end:])

	if line := noneIn(others); line != "" {
		return line, false
	}
	line := noneIn(lines[begin:end])
	return line, line != ""
}

func noneIn(lines []string) string {
	for _, line := range lines {
		line = strings.TrimRight(line, " \t\r")
		if saysNone(line) {
			return line
		}
	}
	return ""
}

// saysNone reports whether a line says None, also alone in a comment.
func saysNone(line string) bool {
	said := strings.TrimRight(line, " \t\r")
	if comment, isComment := strings.CutPrefix(said, "<!--"); isComment {
		said = strings.TrimSpace(strings.TrimSuffix(comment, "-->"))
	}
	return noneLine.MatchString(said) && !isKeyed(said)
}

// isKeyed reports whether a line names the key of a task, such as none.example/api@5907854.
func isKeyed(line string) bool {
	_, key, _ := strings.Cut(line, ":")
	key = strings.TrimSpace(key)
	return strings.Contains(key, "@") && !strings.ContainsAny(key, " \t\u00a0")
}

// comment matches an HTML comment. One that does not end counts only at the start of a line, since a description
// may quote the characters that begin one.
var comment = regexp.MustCompile(`(?ms)<!--.*?-->|^ {0,3}<!--.*\z`)

// withoutHints removes comments of several lines, and leaves the line of a comment that has only one.
func withoutHints(text string) string {
	return comment.ReplaceAllStringFunc(text, func(found string) string {
		if !strings.Contains(found, "\n") {
			return found
		}

		inner := strings.TrimPrefix(strings.TrimSpace(found), "<!--")
		inner = strings.TrimSpace(strings.TrimSuffix(inner, "-->"))
		if strings.Contains(inner, "\n") {
			return ""
		}
		return inner
	})
}

// dashes is the line after which GitHub writes the co-authors of a squash.
const dashes = "---------"

// squashSubject matches the subject that GitHub proposes for a squash.
var squashSubject = regexp.MustCompile(`\(#[0-9]+\)\s*$`)

// squashList returns where the list of a squash's commits begins and ends in a message: an item with "* " for each
// commit, with an empty line before it, below the subject. Without such a list both are 0.
func squashList(lines []string) (begin, end int) {
	var items []int
	for i, line := range lines {
		isAlone := i > 0 && strings.TrimSpace(lines[i-1]) == ""
		if isAlone && strings.HasPrefix(line, "* ") {
			items = append(items, i)
		}
	}
	if len(items) < 2 || !squashSubject.MatchString(lines[0]) {
		return 0, 0
	}

	end = len(lines)
	for i, line := range lines {
		if strings.TrimSpace(line) == dashes {
			end = max(i, items[0])
		}
	}
	return items[0], end
}
