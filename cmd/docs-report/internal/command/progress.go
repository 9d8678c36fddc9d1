package command

import (
	"fmt"
	"os"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/load"
)

// progress is a line that is rewritten on a terminal, and a line per window in a log.
type progress struct {
	out        *os.File
	isTerminal bool
}

func newProgress(out *os.File) *progress {
	info, err := out.Stat()
	return &progress{out, err == nil && info.Mode()&os.ModeCharDevice != 0}
}

func (p *progress) show(now load.Progress) {
	before, after := "", "\n"
	if p.isTerminal {
		before, after = "\r\x1b[K", ""
	}
	switch {
	case !now.Waiting.IsZero():
		fmt.Fprintf(p.out, "%sWaiting for the hourly quota until %s.\n", before, now.Waiting.Format(time.TimeOnly+" MST"))
	case now.Completed != nil:
		fmt.Fprintf(p.out, "%s%v (%d of %d windows, %d requests, %d left this hour)%s", before, *now.Completed, now.Done, now.Windows, now.Requests, now.Left, after)
	}
}

// end leaves what stands on the terminal's line and continues below it.
func (p *progress) end() {
	if p.isTerminal {
		fmt.Fprintln(p.out)
	}
}
