package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

const (
	maxAttention = 100
	oldAfter     = 7 * database.Day // what failed or was refused before is nobody's work any more
)

type attention struct {
	Key     string `json:"key"`
	State   string `json:"state"`
	Project string `json:"project"`
	JobID   string `json:"jobId,omitempty"`
	Problem string `json:"problem,omitempty"`

	// Count is how many running prompts of the project have the same problem. It is 1 in all other states.
	Count int `json:"count"`

	Updated time.Time `json:"updated"`
	Advice  string    `json:"advice"`
}

// needsPerson returns the prompts that need a person, the most urgent first, and of each kind the newest.
func needsPerson(ctx context.Context, s queue.Queue) ([]attention, error) {
	now := time.Now()
	old := now.Add(-oldAfter).UnixNano()

	urgencies := []struct {
		condition string
		args      []any
	}{
		{"state = 'unknown'", nil},
		{"state = 'pending' AND " + database.IsStranded, nil},
		{"state = 'refused' AND forgotten = 0 AND updated >= $1", []any{old}},
		{"state = 'failed' AND forgotten = 0 AND updated >= $1", []any{old}},

		{
			`state = 'running' AND (updated < $1 OR problem <> '')`,
			[]any{now.Add(-database.Day).UnixNano()},
		},
	}

	needs := []attention{}
	for _, u := range urgencies {
		order := fmt.Sprintf(" ORDER BY updated DESC LIMIT %d", 10*maxAttention)
		rows, err := s.Rows(ctx, u.condition+order, u.args...)
		if err != nil {
			return nil, err
		}

		for _, r := range rows {
			needs = addAttention(needs, r)
		}
	}
	return needs[:min(len(needs), maxAttention)], nil
}

// addAttention adds a row. Running ones of a project with the same problem are one line.
func addAttention(needs []attention, r database.Row) []attention {
	a := attention{
		Key:     r.Key,
		State:   database.NameOf(r.State),
		Project: r.ProjectID,
		JobID:   r.JobID,
		Problem: redact.OneLine(r.Problem, 1000),
		Count:   1,
		Updated: r.UpdatedAt,
		Advice:  advise(r),
	}

	if r.State == once.Running && a.Problem != "" {
		for i, other := range needs {
			if other.State == a.State && other.Project == a.Project && other.problemOfAny() == a.problemOfAny() {
				needs[i].Count++
				return needs
			}
		}
	}
	return append(needs, a)
}

// problemOfAny returns the problem without the job's id: an error of the service names the path that was asked.
func (a attention) problemOfAny() string {
	if a.JobID == "" {
		return a.Problem
	}
	return strings.ReplaceAll(a.Problem, a.JobID, "ID")
}

// oldOnes counts what failed or was refused long ago.
func oldOnes(ctx context.Context, s queue.Queue) (int64, error) {
	return sqldb.Number(ctx, s.DB, `SELECT count(*) FROM fleet_prompts
WHERE state IN ('failed', 'refused') AND updated < $1`,
		time.Now().Add(-oldAfter).UnixNano())
}

// advise says what a person can do. It returns "" if the prompt needs nobody.
func advise(r database.Row) string {
	switch {
	case !r.Forgotten.IsZero():
		return ""
	case r.IsStranded:
		return fmt.Sprintf("It waits for the job of %s, which has none: see fleet show %s. "+
			"To drop it: fleet cancel -key %s.", r.After, r.After, r.Key)
	}

	switch r.State {
	case once.Unknown:
		return adviseUnknown(r)
	case once.Failed, once.Refused:
		return adviseEnded(r)
	case once.Running:
		return adviseRunning(r)
	}
	return ""
}

// sendingAgain and following are the commands that retry a prompt. An id comes after following.
func sendingAgain(r database.Row) string { return "fleet retry -key " + r.Key + " -again" }

func following(r database.Row) string { return "fleet retry -key " + r.Key + " -job " }

func adviseUnknown(r database.Row) string {
	sentBefore := utc(r.Deadline)
	if r.After != "" {
		return fmt.Sprintf("A message to the job of %s, sent before %s. Look whether the pull request has the change. "+
			"If it has: %sID, with the job of fleet show %s. If not: %s.",
			r.After, sentBefore, following(r), r.After, sendingAgain(r))
	}

	return fmt.Sprintf("Sent before %s. Look for %q in the pull requests of the documentation, and in the "+
		"dashboard under Settings, Organization, Usage. If there is a job: %sID. If there is only a pull request: "+
		"fleet close -key %s -pr URL. If there is none: %s.",
		sentBefore, once.Marker(r.Key), following(r), r.Key, sendingAgain(r))
}

// adviseEnded advises on what failed or was refused.
func adviseEnded(r database.Row) string {
	if r.State == once.Failed && r.JobID != "" {
		return fmt.Sprintf("To send it again: %s. To wait for its job again: %s%s.",
			sendingAgain(r), following(r), redact.OneLine(r.JobID, 200))
	}
	return fmt.Sprintf("To send it again: %s.", sendingAgain(r))
}

func adviseRunning(r database.Row) string {
	switch {
	case r.IsOverdue():
		return fmt.Sprintf("Job %s runs since %s. Look at it in the dashboard. To end it here: fleet close -key %s. "+
			"To follow another: %sID.",
			redact.OneLine(r.JobID, 200), utc(r.UpdatedAt), r.Key, following(r))
	case r.Problem != "":
		return fmt.Sprintf("Once the problem is mended: fleet resume -project %s. "+
			"To end it here: fleet close -key %s. If the job id is wrong: %sID.",
			redact.OneLine(r.ProjectID, 100), r.Key, following(r))
	}
	return ""
}
