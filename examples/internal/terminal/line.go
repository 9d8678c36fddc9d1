// Package terminal shows progress.
package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

const (
	columns  = 79          // a longer line would wrap, and could not be rewritten
	interval = time.Minute // between the lines of a log that have no news
)

// Line is one line, rewritten in place, on a terminal, and plain lines elsewhere.
type Line struct {
	out        io.Writer
	isTerminal bool
	width      int       // of what stands on the line
	last       time.Time // when the last plain line was written
}

// NewLine returns a line on out.
func NewLine(out *os.File) *Line {
	info, err := out.Stat()
	return &Line{out: out, isTerminal: err == nil && info.Mode()&os.ModeCharDevice != 0, last: time.Now()}
}

// IsTerminal reports whether the line is rewritten in place.
func (l *Line) IsTerminal() bool { return l.isTerminal }

// Update is Show for text that changes often: in the log of a CI job it writes a line only
// if the last one is a minute old.
func (l *Line) Update(text string) {
	if l.isTerminal || time.Since(l.last) >= interval {
		l.Show(text)
	}
}

// Show replaces what stands on the line.
func (l *Line) Show(text string) {
	if !l.isTerminal {
		fmt.Fprintln(l.out, text)
		l.last = time.Now()
		return
	}
	runes := []rune(text)
	if len(runes) > columns {
		runes = append(runes[:columns-1], '…')
	}
	fmt.Fprintf(l.out, "\r%s%s", string(runes), strings.Repeat(" ", max(0, l.width-len(runes))))
	l.width = len(runes)
}

// End leaves what stands on the line and continues below it.
func (l *Line) End() {
	if l.isTerminal && l.width > 0 {
		fmt.Fprintln(l.out)
		l.width = 0
	}
}
