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

// Line is one line that is rewritten in place on a terminal. Elsewhere each text is a line.
type Line struct {
	out        io.Writer
	isTerminal bool
	width      int       // of the text on the line
	last       time.Time // when the last plain line was written
}

// NewLine returns a line on out.
func NewLine(out *os.File) *Line {
	info, err := out.Stat()
	isTerminal := err == nil && info.Mode()&os.ModeCharDevice != 0
	return &Line{out: out, isTerminal: isTerminal, last: time.Now()}
}

// IsTerminal reports whether the line is rewritten in place.
func (l *Line) IsTerminal() bool { return l.isTerminal }

// Update shows text that changes often. On a terminal it is Show; in the log of a CI job it
// writes a line only if the last line is a minute old.
func (l *Line) Update(text string) {
	if l.isTerminal || time.Since(l.last) >= interval {
		l.Show(text)
	}
}

// Show replaces the text on the line.
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
	rest := max(0, l.width-len(runes)) // of a longer text before it
	fmt.Fprintf(l.out, "\r%s%s", string(runes), strings.Repeat(" ", rest))
	l.width = len(runes)
}

// End leaves the text on the line and continues below it.
func (l *Line) End() {
	if l.isTerminal && l.width > 0 {
		fmt.Fprintln(l.out)
		l.width = 0
	}
}
