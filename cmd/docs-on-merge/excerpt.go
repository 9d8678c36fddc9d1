package main

import (
	"bytes"
	"sort"
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

// cutTo keeps whole lines of at most limit bytes.
func (e *excerpt) cutTo(limit int) {
	if len(e.text) <= limit {
		return
	}
	end := bytes.LastIndexByte(e.text[:limit], '\n') + 1
	e.text = bytes.Clone(e.text[:end]) // so that the rest can be freed
	e.isCut = true
}

func sizeOf(texts []*excerpt) (size int) {
	for _, e := range texts {
		size += len(e.text)
	}
	return size
}

// enoughKept is how many bytes of a text tell enough: fit rather drops the last texts than to keep less.
const enoughKept = 1000

// fit cuts texts until all of them have at most limit bytes. It drops the last ones of which too little would
// be left, and cuts the largest of the others to one length.
func fit(texts []*excerpt, limit int) {
	limit = max(limit, 0)
	if sizeOf(texts) <= limit {
		return
	}

	kept := 0
	for room := limit; kept < len(texts); kept++ {
		room -= min(len(texts[kept].text), enoughKept)
		if room < 0 && kept > 0 {
			break
		}
	}
	for _, e := range texts[kept:] {
		e.cutTo(0)
	}

	length := sort.Search(limit, func(length int) bool { // at one more, the texts would not fit
		size := 0
		for _, e := range texts[:kept] {
			size += min(len(e.text), length+1)
		}
		return size > limit
	})
	for _, e := range texts[:kept] {
		e.cutTo(length)
	}
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
