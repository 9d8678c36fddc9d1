package main

import (
	"context"
	"fmt"
	"time"

	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

const maxAttention = 100

// attention is a prompt that needs a person.
type attention struct {
	Key     string    `json:"key"`
	State   string    `json:"state"`
	Project string    `json:"project"`
	JobID   string    `json:"jobId,omitempty"`
	Problem string    `json:"problem,omitempty"`
	Updated time.Time `json:"updated"`
	Advice  string    `json:"advice"`
}

// needsPerson returns the newest prompts that need a person.
func (s store) needsPerson(ctx context.Context) ([]attention, error) {
	rows, err := s.rows(ctx, `(o.state IN ('unknown', 'failed', 'refused')
OR o.state = 'running' AND (o.updated < $1 OR o.record LIKE '%"problem":"%')
OR o.state = 'pending' AND `+isStranded+`)
ORDER BY o.updated DESC LIMIT $2`, time.Now().Add(-day).UnixMicro(), maxAttention)
	if err != nil {
		return nil, err
	}

	needs := []attention{}
	for _, r := range rows {
		needs = append(needs, attention{
			Key:     r.Key,
			State:   nameOf(r.State),
			Project: r.Project,
			JobID:   r.JobID,
			Problem: redact.OneLine(r.Problem, 1000),
			Updated: r.Updated,
			Advice:  advise(r),
		})
	}
	return needs, nil
}

// advise says what a person can do. It returns "" if the prompt needs nobody.
func advise(r row) string {
	again := "fleet retry -key " + r.Key + " -again"
	follow := "fleet retry -key " + r.Key + " -job "
	switch {
	case r.IsStranded:
		return fmt.Sprintf("It waits for the job of %s, which has none: see fleet show %s. "+
			"To drop it: fleet cancel -key %s.", r.After, r.After, r.Key)
	case r.State == once.Unknown && r.After != "":
		return fmt.Sprintf("A message to the job of %s, sent before %s. Look whether the pull request has the change. "+
			"If it has: %sID, with the job of fleet show %s. If not: %s.",
			r.After, r.Deadline.UTC().Format(time.DateTime), follow, r.After, again)
	case r.State == once.Unknown:
		return fmt.Sprintf("Sent before %s. Look for %q in the pull requests of the documentation, and in the "+
			"dashboard under Settings, Organization, Usage. If there is a job: %sID. If there is only a pull request: "+
			"fleet close -key %s -pr URL. If there is none: %s.",
			r.Deadline.UTC().Format(time.DateTime), once.Marker(r.Key), follow, r.Key, again)
	case r.State == once.Failed && r.JobID != "":
		return fmt.Sprintf("To send it again: %s. To wait for its job again: %s%s.",
			again, follow, redact.OneLine(r.JobID, 200))
	case r.State == once.Failed, r.State == once.Refused:
		return fmt.Sprintf("To send it again: %s.", again)
	case r.isOverdue():
		return fmt.Sprintf("Job %s runs since %s. Look at it in the dashboard. To end it here: fleet close -key %s. "+
			"To follow another: %sID.", redact.OneLine(r.JobID, 200), r.Updated.Format(time.DateTime), r.Key, follow)
	case r.State == once.Running && r.Problem != "":
		return fmt.Sprintf("It goes on by itself once the problem is mended. If the job id is wrong: %sID.", follow)
	}
	return ""
}
