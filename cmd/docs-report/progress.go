package main

import (
	"fmt"
	"os"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/load"
)

// progress is a line that is rewritten on a terminal, and a line per export in a log.
type progress struct {
	out        *os.File
	isTerminal bool
	waitingFor string
}

func newProgress(out *os.File) *progress {
	info, err := out.Stat()
	return &progress{out: out, isTerminal: err == nil && info.Mode()&os.ModeCharDevice != 0}
}

func (p *progress) show(now load.Progress) {
	before, after := "", "\n"
	if p.isTerminal {
		before, after = "\r\x1b[K", ""
	}
	if now.Problem != "" {
		fmt.Fprintf(p.out, "%sNot loaded: %s\n", before, now.Problem)
	}
	switch {
	case !now.Waiting.IsZero() && now.For != p.waitingFor:
		fmt.Fprintf(p.out, "%sWaiting for %s until %s.\n", before, now.For, now.Waiting.Format(time.TimeOnly+" MST"))
		p.waitingFor = now.For
	case now.Completed != nil:
		fmt.Fprintf(p.out, "%s%v, %s (%d of %d exports, %d requests, %d left this hour)%s", before,
			now.Completed.Window, now.Completed.Kind, now.Done, now.Exports, now.Requests, now.Left, after)
	}
}

// end leaves what stands on the terminal's line and continues below it.
func (p *progress) end() {
	if p.isTerminal {
		fmt.Fprintln(p.out)
	}
}
