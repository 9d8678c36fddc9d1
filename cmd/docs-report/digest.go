package main

import (
	"context"
	"strings"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/report"
)

// digest prints the page in a few lines.
func (p program) digest(ctx context.Context, args []string) error {
	r := p.newReader("digest")
	slack := r.Bool("slack", false, "print JSON for a webhook of Slack")
	if err := r.parseReader(p, args); err != nil {
		return err
	}

	inputs, err := r.read(ctx, p)
	if err != nil {
		return err
	}

	if len(inputs) > 1 {
		return wrongf("the database has %d projects: give one of them by -projects", len(inputs))
	}

	text := strings.Join(report.Digest(inputs[0]), "\n")
	if *slack {
		text = report.Slack(text)
	}
	return p.print(text)
}
