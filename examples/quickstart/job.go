package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/examples/internal/terminal"
)

// jobRun is a task in progress. Its job is set once the id is known, and its followUp is
// cleared once it is sent.
type jobRun struct {
	task
	client *mintlify.Client
	out    *os.File
	marker string // asked for in the pull request of a new job
	seen   bool   // the service has responded with the job
}

// run creates the job, if there is none yet, waits for it, sends the follow-up, waits
// again, and prints the pull request's URL.
func (j *jobRun) run(ctx context.Context) error {
	settle := settleTime // somebody may have just sent the job a follow-up
	if j.job == "" {
		if err := j.create(ctx); err != nil {
			return err
		}
		settle = 0
	}
	job, err := j.wait(ctx, settle)
	if err != nil {
		return err
	}

	if j.followUp != "" {
		if err := j.sendFollowUp(ctx); err != nil {
			return err
		}
		job, err = j.wait(ctx, settleTime)
		if err != nil {
			return err
		}
	}

	if job.PRLink == "" {
		fmt.Fprintln(j.out, "Done: there is no pull request "+
			"(nothing changed, or the project publishes without a review).")
	} else {
		fmt.Fprintln(j.out, "Done. Pull request:", job.PRLink)
	}
	return nil
}

// create sends the prompt with a marker, by which a person finds the pull request if the
// response is lost.
func (j *jobRun) create(ctx context.Context) error {
	defer j.noteInterrupt(ctx)()

	j.marker = "quickstart-" + time.Now().UTC().Format("20060102-150405")
	fmt.Fprintf(j.out, "Sending the prompt. The title of the pull request is to begin with %q.\n", j.marker)

	prompt := fmt.Sprintf("%s\n\nBegin the title of the pull request with %q.", j.prompt, j.marker)
	job, err := j.client.Jobs.Create(ctx, mintlify.CreateJobParams{Prompt: prompt})
	if job == nil {
		return err
	}

	// With an id the wait can begin, even if the rest of the response is malformed.
	j.job = job.ID
	j.seen = true
	fmt.Fprintf(j.out, "Created job %s: %s\n", job.ID, j.prompt)
	if err != nil {
		fmt.Fprintln(j.out, err)
	}
	return nil
}

func (j *jobRun) sendFollowUp(ctx context.Context) error {
	defer j.noteInterrupt(ctx)()

	if _, err := j.client.Jobs.Message(ctx, j.job, mintlify.MessageParams{Prompt: j.followUp}); err != nil {
		return err
	}
	fmt.Fprintf(j.out, "Sent a follow-up: %s\n", j.followUp)
	j.followUp = ""
	return nil
}

// noteInterrupt says, if ctx ends before the returned function is called, why the program goes on:
// without the response nobody would know whether there is a job, or its id. The returned function
// waits for that line, so that what comes of the prompt stands below it.
func (j *jobRun) noteInterrupt(ctx context.Context) func() {
	noted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(noted)
		fmt.Fprintln(j.out, "Interrupted: waiting for the response to the prompt, for 20 s at most.")
	})

	return func() {
		if isNoting := !stop(); isNoting {
			<-noted
		}
	}
}

// settleTime is how long the service may still report a job as completed after a message, which the
// service processes asynchronously.
const settleTime = 30 * time.Second

// wait waits for the end of the job and shows its progress.
func (j *jobRun) wait(ctx context.Context, settle time.Duration) (*mintlify.Job, error) {
	line := terminal.NewLine(j.out)
	defer line.End()

	var last mintlify.JobStatus
	show := func(p mintlify.Poll) {
		status := mintlify.JobStatus("unknown")
		if p.Status != "" {
			status = p.Job.Status
			j.seen = true
		}

		isNews := status != last || p.Err != nil || p.Next == 0
		if isNews {
			line.Show(progress(status, p))
		} else {
			line.Update(progress(status, p))
		}
		last = status
	}
	return j.client.Jobs.WaitUntilDone(ctx, j.job, mintlify.WithSettleTime(settle), mintlify.WithOnPoll(show))
}

func progress(status mintlify.JobStatus, p mintlify.Poll) string {
	text := fmt.Sprintf("  %-9s  waited %s", status, p.Waited.Round(100*time.Millisecond))
	if p.Next > 0 {
		text += fmt.Sprintf(", next poll in %s", p.Next.Round(100*time.Millisecond))
	}
	if p.Err != nil {
		text += fmt.Sprintf(" (poll failed: %v)", p.Err)
	}
	return text
}

// afterwards says what to do after an error; "" for nothing.
func (j *jobRun) afterwards(err error) string {
	outcomeUnknown := errors.Is(err, mintlify.ErrOutcomeUnknown)
	switch {
	case errors.Is(err, mintlify.ErrJobFailed):
		return ""
	case j.job == "" && outcomeUnknown:
		return fmt.Sprintf("There may be a job. Before running this again, look for a pull request whose title "+
			"begins with %q in the documentation's repository, and for the job in the activity log of the "+
			"dashboard (Settings -> Organization -> Usage).", j.marker)
	case j.job == "":
		return "No job was created."
	case outcomeUnknown:
		return fmt.Sprintf("The agent may have the follow-up. "+
			"Run this with -job %s, without -follow-up, to see what becomes of it.", j.job)
	case errors.Is(err, mintlify.ErrNotFound) && !j.seen:
		return fmt.Sprintf("The project has no job %s: check -job and MINTLIFY_PROJECT_ID.", j.job)
	}
	return j.howToResume(err)
}

func (j *jobRun) howToResume(err error) string {
	var text strings.Builder
	switch {
	case j.seen && errors.Is(err, mintlify.ErrNotFound):
		fmt.Fprintf(&text, "Job %s was there before. ", j.job)
	case j.seen:
		fmt.Fprintf(&text, "Job %s exists. ", j.job)
	}

	if j.followUp == "" {
		fmt.Fprintf(&text, "To resume, run this with -job %s.", j.job)
	} else {
		fmt.Fprintf(&text, "The follow-up was not sent. "+
			"To resume, run this with -job %s and the same -follow-up.", j.job)
	}
	return text.String()
}
