package once

import (
	"regexp"
	"slices"
	"strings"
)

const (
	markerName  = "docs-job"
	markerLabel = markerName + ": "
)

// Marker returns the line that the description of key's pull request is to end with.
func Marker(key string) string { return markerLabel + key }

// FindMarker returns the key of the last line of text that is a marker, as [Marker] writes it
// or as a model may: quoted, in a list, a heading or a table's cell, in backticks, bold, in an
// HTML comment, with the label in another case. A program that turns merges into tasks skips
// what has one: it is the agent's own work.
func FindMarker(text string) (key string, ok bool) {
	for _, line := range slices.Backward(strings.Split(text, "\n")) {
		key, ok = findInLine(line)
		if ok {
			return key, true
		}
	}
	return "", false
}

// findInLine looks for a marker in a line as it is, then without one layer of Markdown after
// another.
func findInLine(line string) (string, bool) {
	for {
		line = strings.TrimSpace(line)
		key, ok := parseMarker(line)
		if ok {
			return key, true
		}

		inner := unwrap(line)
		if inner == line {
			return "", false
		}

		line = inner
	}
}

// opening matches what begins a line before its text in Markdown: the mark of a quote, an item
// of a list or a task list, a heading, a table's cell, or a comment that ends on another line.
var opening = regexp.MustCompile(`^(>|[-*+] |[0-9]+[.)] |\[[ xX]\] |#+ |\||<!--)`)

// marks surround text in Markdown. The longer ones come first.
var marks = []string{"**", "__", "`", "*", "_"}

// unwrap removes one layer of Markdown from a line. A mark counts only if it stands on both
// sides, since a key may begin or end with one.
func unwrap(line string) string {
	if inner, found := cutAround(line, "<!--", "-->"); found {
		return inner
	}
	if start := opening.FindString(line); start != "" {
		return line[len(start):]
	}

	for _, mark := range marks {
		inner, found := cutAround(line, mark, mark)
		if found {
			return inner
		}
	}

	for _, end := range []string{"-->", "|", "."} {
		inner, found := strings.CutSuffix(line, end)
		if found {
			return inner
		}
	}
	return line
}

// parseMarker returns the key of a line that is a marker. Its label may be in bold, or marked
// in another way, with or without the colon; its key may be in backticks or bold.
func parseMarker(line string) (string, bool) {
	for _, mark := range append([]string{""}, marks...) {
		for _, label := range []string{mark + markerName + ":" + mark, mark + markerName + mark + ":"} {
			rest, found := cutLabel(line, label)
			if !found {
				continue
			}

			key := undress(rest)
			if checkKey(key) == nil {
				return key, true
			}
		}
	}
	return "", false
}

// cutLabel returns what follows a label in any case.
func cutLabel(line, label string) (string, bool) {
	if len(line) < len(label) || !strings.EqualFold(line[:len(label)], label) {
		return "", false
	}
	return strings.TrimSpace(line[len(label):]), true
}

// undress returns a key without backticks and bold around it, and without a period after those.
func undress(key string) string {
	for _, mark := range []string{"`", "**"} {
		inner, found := cutAround(strings.TrimSuffix(key, "."), mark, mark)
		if found {
			key = inner
		}
	}
	return key
}

// cutAround returns text without start and end if it has both around it.
func cutAround(text, start, end string) (string, bool) {
	if len(text) < len(start)+len(end) || !strings.HasPrefix(text, start) || !strings.HasSuffix(text, end) {
		return text, false
	}
	return text[len(start) : len(text)-len(end)], true
}
