package once

import (
	"regexp"
	"strings"
)

const (
	markerName  = "docs-job"
	markerLabel = markerName + ": "

	// maxMarkerLine is how many bytes a line with a marker has at most: those of a key, and some Markdown around it.
	maxMarkerLine = 1000
)

// Marker returns the line that the description of key's pull request is to have.
func Marker(key string) string { return markerLabel + key }

// FindMarker returns the key of the last line of text that is a marker. A program that turns
// merges into tasks skips a merge whose description has one: it is the agent's own work.
//
// A marker is a line as [Marker] writes it, or as a model may write it: in a quote, a list, a
// heading or a table's cell, in backticks, bold, quotation marks, HTML tags, an HTML comment or a
// link, with a final period, comma or semicolon, with the label in another case, with backslashes
// before punctuation, or with the key alone on the next line, as GitHub wraps the message of a squash
// commit. In such a line the key must have a digit or one of @ / #, so that a sentence about the marker
// does not count.
//
// Let keys end with a letter or a digit: FindMarker finds the key "acme/api@1," without its comma.
func FindMarker(text string) (key string, ok bool) {
	for end := len(text); ; {
		name := lastName(text[:end])
		if name < 0 {
			return "", false
		}

		start := strings.LastIndexByte(text[:name], '\n') + 1
		line, rest, _ := strings.Cut(text[start:], "\n")
		next, _, _ := strings.Cut(rest, "\n")
		key, ok = parseMarker(strings.TrimSpace(line), next)
		if ok {
			return key, true
		}

		end = start
	}
}

// lastName returns the place of the last "docs-job" in text, in any case, -1 if there is none.
func lastName(text string) int {
	dash := strings.IndexByte(markerName, '-')
	for end := len(text); ; {
		i := strings.LastIndexByte(text[:end], '-')
		start := i - dash
		if start < 0 {
			return -1
		}
		if strings.EqualFold(text[start:min(start+len(markerName), len(text))], markerName) {
			return start
		}

		end = i
	}
}

// parseMarker returns the key of a line without white space around it, or of the next line if the
// line is only the label.
func parseMarker(line, next string) (string, bool) {
	if len(line) > maxMarkerLine {
		return "", false
	}

	line = cutLink(line)
	rest, isPlain := strings.CutPrefix(line, markerLabel)
	if isPlain {
		return parsePlain(rest)
	}

	label := dressedLabel.FindStringIndex(line)
	if label == nil {
		return "", false
	}

	rest = line[label[1]:]
	if rest == "" && len(next) <= maxMarkerLine {
		rest = strings.TrimLeft(next, "> \t") // of a quote
	}
	key := undress(rest, line[:label[1]])
	return key, looksLikeKey(key)
}

// parsePlain returns the key that stands after a label as Marker writes it. What surrounds the
// key in Markdown may be part of it, unless it looks like a key without that.
func parsePlain(rest string) (string, bool) {
	key := undress(rest, "")
	if len(key) > 1 && looksLikeKey(key) { // "1" may be of a key "1."
		return key, true
	}

	isLeftOut := rest == "``" || rest == `""`
	rest = escape.ReplaceAllString(rest, "$1")
	return rest, !isLeftOut && checkKey(rest) == nil
}

// looksLikeKey reports whether key has what a word of a sentence seldom has.
func looksLikeKey(key string) bool {
	return strings.ContainsAny(key, "0123456789@/#") && checkKey(key) == nil
}

const (
	openingMark = "[*_`\"'“‘«]+"
	closingMark = "[*_`\"'”’»]+"
	tag         = `</?[a-zA-Z][a-zA-Z0-9-]*(?:\s[^<>]*)?/?>`        // not <https://…>
	block       = `>|[-+*]\s|[0-9]+[.)]\s|\[[ xX]\]\s|#+\s|\||<!--` // of a quote, list, task, heading, cell, comment
)

// dressedLabel matches a label and what stands before it. wholeTag matches an HTML tag, and escape a
// backslash that Markdown drops.
var (
	dressedLabel = regexp.MustCompile(`(?i)^(?:\s|` + block + `|` + openingMark + `|` + tag + `)*` +
		markerName + `(?:` + closingMark + `|` + tag + `)*:(?:` + closingMark + `|` + tag + `)*\s*`)

	wholeTag = regexp.MustCompile(`^` + tag + `$`)

	escape = regexp.MustCompile(`\\([_*#@~<>\[\]().!|+-])`)
)

// marks surround text in Markdown, quote it, or make it a comment or the cell of a table.
var marks = []struct{ opening, closing string }{
	{"**", "**"}, {"__", "__"}, {"*", "*"}, {"_", "_"}, {"`", "`"},
	{`"`, `"`}, {"'", "'"}, {"“", "”"}, {"‘", "’"}, {"«", "»"}, {"<!--", "-->"}, {"|", "|"},
}

// undress returns a key without what surrounds it. before is the text before the key: a mark
// counts only if it was opened there or at the beginning of the key, since a key may end with
// one.
func undress(key, before string) string {
	for {
		inner := strings.TrimSpace(key)
		inner = strings.TrimRight(inner, `.,;\`)
		inner = strings.TrimSuffix(inner, " -->") // of a comment that began in another line
		inner = cutTags(inner)
		inner = cutLink(inner)
		inner = cutMark(inner, before)
		if inner == key {
			return escape.ReplaceAllString(key, "$1")
		}

		key = inner
	}
}

// cutTags removes an HTML tag before and one after the key.
func cutTags(key string) string {
	first := strings.IndexByte(key, '>') + 1
	if wholeTag.MatchString(key[:first]) {
		key = key[first:]
	}

	last := strings.LastIndexByte(key, '<')
	if last >= 0 && wholeTag.MatchString(key[last:]) {
		key = key[:last]
	}
	return key
}

// cutLink returns the text of [text](address "title"), or the address of <address>.
func cutLink(key string) string {
	if address, ok := trimBrackets(key, "<", ">"); ok && isAddress(address) {
		return address
	}

	within, ok := trimBrackets(key, "[", ")")
	end := strings.LastIndex(within, "](")
	if !ok || end < 0 {
		return key
	}

	_, title, _ := strings.Cut(within[end:], " ")
	if _, ok := trimBrackets(title, `"`, `"`); title != "" && !ok {
		return key // a sentence with a link
	}
	return within[:end]
}

func trimBrackets(text, opening, closing string) (string, bool) {
	within, isOpened := strings.CutPrefix(text, opening)
	within, isClosed := strings.CutSuffix(within, closing)
	return within, isOpened && isClosed
}

func isAddress(text string) bool {
	return strings.Contains(text, "://") && !strings.ContainsAny(text, "<> ")
}

// cutMark removes one pair of marks, or the end of one.
func cutMark(key, before string) string {
	for _, mark := range marks {
		inner, isClosed := strings.CutSuffix(key, mark.closing)
		if !isClosed {
			continue
		}

		within, isOpened := strings.CutPrefix(inner, mark.opening)
		switch {
		case isOpened:
			return within
		case strings.Contains(before, mark.opening):
			return inner
		}
	}
	return key
}
