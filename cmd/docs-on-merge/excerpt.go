package main

import (
	"bytes"
	"slices"
	"strings"
)

const truncated = "(truncated)\n"

// excerpt is text by others, cut to what may fit into a prompt.
type excerpt struct {
	text []byte
	// limit is how many bytes are kept of what is written.
	limit int
	// isCut says that the end is missing.
	isCut bool
}

// Write implements [io.Writer]. It never fails.
func (e *excerpt) Write(data []byte) (int, error) {
	fits := min(len(data), e.limit-len(e.text))
	if e.isCut { // nobody would understand text after a gap
		fits = 0
	}
	e.text = append(e.text, data[:fits]...)
	e.isCut = e.isCut || fits < len(data)
	return len(data), nil
}

// add appends other, and keeps at most limit bytes.
func (e *excerpt) add(other excerpt, limit int) {
	e.limit = limit
	_, _ = e.Write(other.text) // it never fails
	e.isCut = e.isCut || other.isCut
}

// halve drops the second half, at the end of a line, and returns how many bytes that saves.
func (e *excerpt) halve() int {
	before := len(e.text)
	half := bytes.LastIndexByte(e.text[:before/2], '\n') + 1
	e.text = bytes.Clone(e.text[:half]) // so that the rest can be freed
	e.isCut = true
	return before - half
}

func sizeOf(texts []*excerpt) (size int) {
	for _, e := range texts {
		size += len(e.text)
	}
	return size
}

// shorten halves the largest text again and again, until it has saved that many bytes or no text
// is left. It returns how many bytes it saved.
func shorten(texts []*excerpt, bytes int) int {
	saved := 0
	for saved < bytes {
		largestFirst := slices.Clone(texts)
		slices.Reverse(largestFirst) // of texts of the same size, cut the last first
		slices.SortStableFunc(largestFirst, func(a, b *excerpt) int { return len(b.text) - len(a.text) })
		if len(largestFirst) == 0 || len(largestFirst[0].text) == 0 {
			break
		}

		half := len(largestFirst[0].text) / 2
		for _, e := range largestFirst {
			if saved >= bytes || len(e.text) <= half { // a text that is halved already may be larger
				break
			}
			saved += e.halve()
		}
	}
	return saved
}

// withoutGone removes each empty text that follows a cut text: join marks the cut there already.
func withoutGone(texts []*excerpt) []*excerpt {
	saysSo := false
	return slices.DeleteFunc(texts, func(e *excerpt) bool {
		isGone := len(e.text) == 0 && saysSo
		saysSo = e.isCut
		return isGone
	})
}

// join joins texts, and marks where something was cut. Neighbors of which nothing is left share
// one mark.
func join(texts ...*excerpt) string {
	var joined strings.Builder
	saysSo := false // whether the last line is a mark
	for _, e := range texts {
		if len(e.text) > 0 {
			joined.Write(e.text)
			saysSo = false
		}

		if e.isCut && !saysSo {
			joined.WriteString(truncated)
			saysSo = true
		}
	}
	return strings.TrimSuffix(joined.String(), "\n")
}
