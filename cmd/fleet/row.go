package main

import "time"

// state is where a prompt stands.
//
//	queued → sending → waiting → done | failed
//
// A prompt goes back from sending to queued only on proof that the service did not
// act on it. A send whose outcome nobody knows is unknown, until a person has looked
// or its response arrives after all.
type state string

const (
	queued  state = "queued"  // to be sent
	sending state = "sending" // on its way: the intent to send it is on record
	waiting state = "waiting" // the agent is at work on job_id
	done    state = "done"    // the agent is done: pr_link is its pull request, if there is one
	failed  state = "failed"  // the service refused it, the agent failed, or a wait had no end
	unknown state = "unknown" // the service may have acted on it
)

// row is what the table knows of a prompt, all but the prompt itself.
type row struct {
	Key     string    `json:"key"`
	Project string    `json:"project"`
	Pull    string    `json:"pull,omitempty"`
	State   state     `json:"state"`
	Sends   int64     `json:"sends"`            // intents so far: tells the response of the current one from a late one
	SentAt  time.Time `json:"sentAt,omitzero"`  // of the current intent; zero once it is proven that the service did not act
	JobID   string    `json:"jobId,omitempty"`  // the service's
	PRLink  string    `json:"prLink,omitempty"` // of the agent's pull request
	Problem string    `json:"problem,omitempty"`
	Changed time.Time `json:"changedAt"` // when it came to this state

	age      time.Duration // since Changed, by the database's clock
	open     bool          // there is work left: a River job is at it
	riverJob int64         // the River job at it; any other has been replaced
}
