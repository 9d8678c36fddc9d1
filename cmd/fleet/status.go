package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
)

// status is what there is to say of all prompts.
type status struct {
	NeedsPerson []row         `json:"needsPerson"`
	Counts      map[state]int `json:"counts"`
}

func (s store) status(ctx context.Context) (status, error) {
	rows, err := s.attention(ctx)
	if err != nil {
		return status{}, err
	}
	counts, err := s.counts(ctx)
	return status{append([]row{}, rows...), counts}, err
}

func (s status) writeJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(s)
}

func (s status) write(w io.Writer) {
	for _, r := range s.NeedsPerson {
		fmt.Fprintf(w, "%s  %s  project %s\n  %s\n  %s\n\n", r.State, r.Key, r.Project, oneLine(r.Problem, 1000), r.advice())
	}
	if len(s.NeedsPerson) == maxAttention {
		fmt.Fprintf(w, "These are the newest %d.\n\n", maxAttention)
	}
	for _, state := range []state{queued, sending, waiting, done, failed, unknown} {
		fmt.Fprintf(w, "%-8s %d\n", state, s.Counts[state])
	}
}

// advice says what a person can do.
func (r row) advice() string {
	switch r.State {
	case unknown:
		return fmt.Sprintf(`Sent at %s. Look for "fleet: %s" in the pull requests of the documentation, and in the dashboard under Settings, Organization, Usage.
  There is a job: fleet retry -key %s -job ID. There is none: fleet retry -key %s.`, r.SentAt.Format("2006-01-02 15:04:05 UTC"), r.Key, r.Key, r.Key)
	case failed:
		again := fmt.Sprintf("Once the cause is mended, to send it again: fleet retry -key %s.", r.Key)
		if r.JobID != "" {
			again += fmt.Sprintf(" To wait for its job again: fleet retry -key %s -job %s.", r.Key, oneLine(r.JobID, 200))
		}
		return again
	default:
		return "It goes on by itself once the API key is mended and the workers are started with it."
	}
}
