package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
)

// pause sends nothing for a while.
func (p *program) pause(ctx context.Context, s queue.Queue) error {
	filter := p.choice().Filter()
	known, err := sqldb.Strings(ctx, s.DB,
		"SELECT key FROM fleet_prompts WHERE "+filter.Where()+" LIMIT 1", filter.Args...)
	if err != nil {
		return err
	}

	if len(known) == 0 && !p.all {
		fmt.Fprintf(p.stderr, "fleet: no prompt of %s is known; its next ones will wait\n",
			safetext.OneLine(cmp.Or(p.repository, p.project), 150))
	}

	reason := "paused at " + utc(time.Now()) + " by " + s.Who
	if p.repository != "" {
		err = s.StopRepository(ctx, p.repository, reason)
	} else {
		err = s.Stop(ctx, p.project, reason)
	}
	if err != nil {
		return err
	}

	sending, err := s.VoidTurns(ctx, p.choice())
	if err != nil {
		return fmt.Errorf("it is paused, but a prompt may be on its way: %w", err)
	}

	switch sending {
	case 0:
		fmt.Fprintln(p.stdout, "paused")
	case 1:
		fmt.Fprintln(p.stdout, "paused; 1 prompt is being sent")
	default:
		fmt.Fprintf(p.stdout, "paused; %d prompts are being sent\n", sending)
	}
	return nil
}

// resume lifts all pauses of a project or a repository, and has jobs polled again that have a problem. For all
// projects it leaves those that a person has paused one by one.
func (p *program) resume(ctx context.Context, s queue.Queue) error {
	resume := s.Resume
	if p.repository != "" {
		resume = s.ResumeRepository
	}
	lifted, err := resume(ctx, cmp.Or(p.repository, p.project))
	if err != nil && lifted > 0 {
		return fmt.Errorf("the pause is lifted, but the next prompt may take a minute: %w", err)
	}
	if err != nil {
		return err
	}

	polled, err := s.WakePolls(ctx, p.choice())
	if err != nil {
		return err
	}
	if lifted+polled == 0 {
		return usage.Errorf("there is nothing to resume")
	}

	if lifted > 0 {
		fmt.Fprintln(p.stdout, "resumed")
	}
	if p.all {
		err = p.sayLeft(ctx, s)
	}
	if err != nil {
		return err
	}

	if polled > 0 {
		fmt.Fprintf(p.stdout, "%d running with a problem: polled again\n", polled)
	}
	return nil
}

// sayLeft names what a person has paused one by one, which stays paused.
func (p *program) sayLeft(ctx context.Context, s queue.Queue) error {
	projects, err := s.Projects(ctx)
	if err != nil {
		return err
	}
	for _, project := range projects {
		if !project.Stopped.IsZero() {
			name := safetext.OneLine(project.Name, 100)
			fmt.Fprintf(p.stdout, "left: project %s, %s. To resume it: fleet resume -project %s\n",
				name, safetext.OneLine(project.StoppedBy, 300), name)
		}
	}

	repositories, err := queue.PausedRepositories(ctx, s.DB)
	for _, r := range repositories {
		fmt.Fprintf(p.stdout, "left: repository %s, %s. To resume it: fleet resume -repo %s\n",
			r.Repository, safetext.OneLine(r.Reason, 300), r.Repository)
	}
	return err
}
