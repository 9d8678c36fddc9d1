package command

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/examples/internal/terminal"

	"github.com/mintlify-community/mintlify-go/examples/visitors/internal/load"
)

// progress is a bar on a terminal, and a line per window in a log.
type progress struct {
	line *terminal.Line
	out  *os.File
}

func newProgress(out *os.File) *progress { return &progress{terminal.NewLine(out), out} }

func (p *progress) show(now load.Progress) {
	if now.Windows == 0 {
		return
	}
	switch {
	case !now.Waiting.IsZero():
		p.line.End()
		fmt.Fprintf(p.out, "Waiting for the hourly quota until %s.\n", now.Waiting.Format(time.TimeOnly+" MST"))
	case p.line.IsTerminal():
		p.line.Show(bar(now))
	case now.Completed != nil:
		p.line.Show(fmt.Sprintf("%v (%d of %d windows, %d requests, %d left this hour)", *now.Completed, now.Done, now.Windows, now.Requests, now.Left))
	}
}

func bar(now load.Progress) string {
	const width = 24
	full := width * now.Done / now.Windows
	return fmt.Sprintf("%s%s %d of %d windows, %d requests, %d left this hour",
		strings.Repeat("█", full), strings.Repeat("░", width-full), now.Done, now.Windows, now.Requests, now.Left)
}
