package main

import (
	"context"
	"strings"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/report"
)

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

	text := strings.Join(report.Digest(inputs), "\n")
	if *slack {
		text = report.Slack(text)
	}
	if err := p.print(text); err != nil {
		return err
	}
	return r.tooOld
}
