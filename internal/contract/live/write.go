package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/once"
)

// write does what the flags ask for and a person has confirmed.
func (c *check) write(ctx context.Context) {
	if len(c.confirmed) == 0 {
		return
	}
	c.recorder.allowWrites()

	if c.confirmed[flagScope] {
		c.writeWithoutScope(ctx)
	}

	id := c.settings.jobID
	if c.confirmed[flagJob] {
		id = c.runJob(ctx)
	}
	if c.confirmed[flagMessage] {
		c.runMessage(ctx, id)
	}

	if c.confirmed[flagPreview] {
		c.runPreview(ctx)
	}
	if c.confirmed[flagUpdate] {
		c.runUpdate(ctx)
	}
}

// writeWithoutScope sends a POST that cannot do anything, with a key that may only read.
func (c *check) writeWithoutScope(ctx context.Context) {
	reader, err := mintlify.NewClient(os.Getenv("MINTLIFY_READ_ONLY_KEY"), c.client.ProjectID(), c.options...)
	if err != nil {
		fmt.Fprintf(c.terminal.err, "MINTLIFY_READ_ONLY_KEY: %v\n", err)
		c.report.notTried(expectScope, "the SDK refuses the key")
		return
	}

	label := "a message to a job that does not exist, with the read scope alone"
	r := c.probing(ctx, label, mintlify.OpSendMessage, func(ctx context.Context) error {
		params := mintlify.MessageParams{Prompt: "Do nothing."}
		_, err := reader.Jobs.Message(ctx, idLike(c.settings.jobID), params)
		return err
	})
	c.judgeStatus(expectScope, r, http.StatusForbidden)
}

const (
	markerKey = "docs-sdk-check@1"
	// askForMarker is how package once asks for the marker.
	askForMarker = "\n\nEnd the description of the pull request with this line, on its own:\n"
)

// runJob creates a job and waits until it ends. It returns the job's id, "" if there is none.
func (c *check) runJob(ctx context.Context) string {
	var job *mintlify.Job
	r := c.reading(ctx, "a new job", mintlify.OpCreateJob, func(ctx context.Context) error {
		var err error
		params := mintlify.CreateJobParams{Prompt: c.settings.prompt + askForMarker + once.Marker(markerKey)}
		job, err = c.client.Jobs.Create(ctx, params)
		return err
	})
	if job == nil {
		fmt.Fprintf(c.terminal.err, "No job's id came back: %v\n", r.err)
		c.notTried("the job was not created", expectFirstStatus, expectJobEnds, expectMarker)
		return ""
	}

	fmt.Fprintf(c.terminal.err, "The job is %s. Waiting until it ends, up to %v.\n", job.ID, c.settings.timeout)
	c.judgeFirstStatus(text(r.object(), "status"))

	ended, w := c.waitForJob(ctx, "polls of the new job", job.ID)
	c.judgeEnd(expectJobEnds, w)
	if ended != nil {
		job = ended
	}
	c.judgeOldList(c.oldList(ctx), job.ID, job.PRLink)
	c.judgeMarker(ctx, job)
	return job.ID
}

func (c *check) notTried(why string, names ...expectation) {
	for _, name := range names {
		c.report.notTried(name, why)
	}
}

func (c *check) judgeFirstStatus(status string) {
	word := c.document.words.show(status)
	isDeclared := c.document.words.declared[word]
	switch {
	case status == string(mintlify.JobActive):
		c.report.expected(expectFirstStatus, "")
	case isDeclared:
		c.report.differs(expectFirstStatus, "`"+word+"`", "")
	default:
		c.report.notTried(expectFirstStatus, "its status is a new one, or missing: see `Jobs.Create`")
	}
}

// wait is how a wait for a job or a deployment went.
type wait struct {
	statuses []string // each once in a row, as the report may show them
	waited   time.Duration
	failed   int // polls
	// active is when a poll first saw a status that is not terminal; -1 if none did.
	active time.Duration
	err    error
	// interrupted says that a person ended it.
	interrupted bool
}

// options returns the options that have a wait note its polls in w.
func (w *wait) option(words vocabulary, isTerminal func(string) bool) mintlify.WaitOption {
	w.active = -1
	return mintlify.WithOnPoll(func(p mintlify.Poll) {
		w.waited = p.Waited
		if p.Err != nil {
			w.failed++
			return
		}

		if w.active < 0 && !isTerminal(p.Status) {
			w.active = p.Waited
		}
		status := cmp.Or(words.show(p.Status), "a new value")
		if n := len(w.statuses); n == 0 || w.statuses[n-1] != status {
			w.statuses = append(w.statuses, status)
		}
	})
}

// String says which statuses came, and for how long.
func (w *wait) String() string {
	statuses := cmp.Or(strings.Join(w.statuses, ", then "), "no status")
	said := fmt.Sprintf("%s, in %v", statuses, w.waited.Round(time.Second))
	if w.failed > 0 {
		said += fmt.Sprintf("; %d polls failed", w.failed)
	}
	return said
}

func isJobOver(status string) bool        { return mintlify.JobStatus(status).IsTerminal() }
func isDeploymentOver(status string) bool { return mintlify.DeploymentStatus(status).IsTerminal() }

// waitForJob waits until a job ends, and returns it as last seen.
func (c *check) waitForJob(
	ctx context.Context, label, id string, opts ...mintlify.WaitOption,
) (*mintlify.Job, *wait) {
	var job *mintlify.Job
	w := &wait{}
	opts = append(opts, w.option(c.document.words, isJobOver))
	waiting, cancel := context.WithTimeout(ctx, c.settings.timeout)
	defer cancel()

	r := c.trying(waiting, label, mintlify.OpGetJob, func(ctx context.Context) error {
		var err error
		job, err = c.client.Jobs.WaitUntilDone(ctx, id, opts...)
		return err
	})
	c.judgePolls(r)
	w.err = r.err
	w.interrupted = ctx.Err() != nil
	return job, w
}

func (c *check) waitForDeployment(ctx context.Context, label, id string) *wait {
	w := &wait{}
	waiting, cancel := context.WithTimeout(ctx, c.settings.timeout)
	defer cancel()

	r := c.trying(waiting, label, mintlify.OpGetDeployment, func(ctx context.Context) error {
		_, err := c.client.Deployments.WaitUntilDone(ctx, id, w.option(c.document.words, isDeploymentOver))
		return err
	})
	c.judgePolls(r)
	w.err = r.err
	w.interrupted = ctx.Err() != nil
	return w
}

// judgePolls notes a last poll that was not good, unless the end of the time cut it off.
func (c *check) judgePolls(r response) {
	isOver := errors.Is(r.err, context.Canceled) || errors.Is(r.err, context.DeadlineExceeded)
	if !r.isGood() && !isOver {
		c.judgeRefusal(bodyOf(r.operation), r)
	}
}

func (w *wait) hasEnded() bool {
	return w.err == nil || errors.Is(w.err, mintlify.ErrJobFailed) || errors.Is(w.err, mintlify.ErrDeploymentFailed)
}

func (c *check) judgeEnd(name expectation, w *wait) {
	switch {
	case w.hasEnded():
		c.report.expected(name, w.String())
	case w.interrupted:
		c.report.notTried(name, "interrupted: "+w.String())
	case errors.As(w.err, new(*mintlify.APIError)) && !errors.As(w.err, new(*mintlify.WaitError)):
		c.report.notTried(name, "a poll was refused")
	default:
		fmt.Fprintln(c.terminal.err, w.err)
		c.report.differs(name, "not ended: "+w.String(), "")
	}
}

// runMessage sends a message to a job, and waits until it ends again.
func (c *check) runMessage(ctx context.Context, id string) {
	rows := []expectation{expectActiveAgain, expectMessageEnds}
	if id == "" {
		c.notTried("no job's id is known", append(rows, bodyOf(mintlify.OpSendMessage))...)
		return
	}

	r := c.reading(ctx, "a message", mintlify.OpSendMessage, func(ctx context.Context) error {
		params := mintlify.MessageParams{Prompt: "Add another line like the one before."}
		_, err := c.client.Jobs.Message(ctx, id, params)
		return err
	})
	if !r.isGood() {
		fmt.Fprintf(c.terminal.err, "The message: %v\n", r.err)
		c.notTried("the message was not taken", rows...)
		return
	}

	_, w := c.waitForJob(ctx, "polls after the message", id, mintlify.WithSettleTime(c.timing.settle))
	c.judgeActive(w)
	c.judgeEnd(expectMessageEnds, w)
}

// judgeActive compares when a job was active again with the time that the SDK grants.
func (c *check) judgeActive(w *wait) {
	const granted = 30 * time.Second
	switch {
	case w.active < 0 && (w.interrupted || !w.hasEnded()):
		c.report.notTried(expectActiveAgain, "the wait did not end")
	case w.active < 0:
		c.report.differs(expectActiveAgain, "never, in "+w.waited.Round(time.Second).String(), "")
	default:
		came := "seen after " + w.active.Round(time.Second).String()
		c.report.compare(expectActiveAgain, w.active <= granted, came)
	}
}

func (c *check) runPreview(ctx context.Context) {
	var queued *mintlify.QueuedDeployment
	r := c.reading(ctx, "a preview", mintlify.OpTriggerPreview, func(ctx context.Context) error {
		var err error
		params := mintlify.TriggerPreviewParams{Branch: c.settings.preview}
		queued, err = c.client.Deployments.TriggerPreview(ctx, params)
		return err
	})
	if queued == nil {
		fmt.Fprintf(c.terminal.err, "The preview: %v\n", r.err)
		return
	}
	c.judgeEnd(expectDeploymentEnds, c.waitForDeployment(ctx, "polls of the preview", queued.ID))
}

// runUpdate deploys the site, and if asked to a second time at once.
func (c *check) runUpdate(ctx context.Context) {
	first, r := c.triggerUpdate(ctx, "an update")
	switch {
	case r.last() == nil, r.status() == http.StatusTooManyRequests:
		c.notTried(r.trouble(), expectEmptyBody, bodyOf(mintlify.OpTriggerUpdate))
	case r.status() >= 300:
		c.report.differs(expectEmptyBody, r.trouble(), "")
		c.notTried("the update was not taken", bodyOf(mintlify.OpTriggerUpdate))
	default:
		c.report.expected(expectEmptyBody, fmt.Sprint(r.status()))
	}

	isSecond := c.confirmed[flagSecondUpdate]
	switch {
	case first == nil && isSecond:
		c.report.notTried(expectSecondUpdate, "there is no first deployment")
		return
	case first == nil:
		return
	case isSecond:
		c.runSecondUpdate(ctx, first)
		return
	}
	c.judgeEnd(expectDeploymentEnds, c.waitForDeployment(ctx, "polls of the update", first.ID))
}

func (c *check) triggerUpdate(ctx context.Context, label string) (*mintlify.QueuedDeployment, response) {
	var queued *mintlify.QueuedDeployment
	r := c.trying(ctx, label, mintlify.OpTriggerUpdate, func(ctx context.Context) error {
		var err error
		queued, err = c.client.Deployments.TriggerUpdate(ctx, mintlify.TriggerUpdateParams{})
		return err
	})
	if queued != nil {
		fmt.Fprintf(c.terminal.err, "The deployment is %s. Waiting until it ends, up to %v.\n",
			queued.ID, c.settings.timeout)
	}
	return queued, r
}

// runSecondUpdate deploys the site again while the first deployment is queued.
func (c *check) runSecondUpdate(ctx context.Context, first *mintlify.QueuedDeployment) {
	second, r := c.triggerUpdate(ctx, "a second update at once")
	firstWait := c.waitForDeployment(ctx, "polls of the update", first.ID)
	c.judgeEnd(expectDeploymentEnds, firstWait)
	if second == nil {
		c.judgeRefusal(expectSecondUpdate, r)
		return
	}

	secondWait := c.waitForDeployment(ctx, "polls of the second update", second.ID)
	c.judgeEnd(expectSecondUpdate, secondWait)
	if second.ID == first.ID && secondWait.hasEnded() {
		c.report.expected(expectSecondUpdate, "both have the same id: "+secondWait.String())
	}
}
