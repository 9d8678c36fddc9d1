package mintlify

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/internal/safetext"
	"github.com/mintlify-community/mintlify-go/internal/wire"
)

const maxJobBody = 1 << 20 // bytes of a response about a job

// JobsService runs agent jobs. It is [Client.Jobs].
type JobsService struct {
	client *Client
	url    string // of the project's jobs
}

func newJobsService(c *Client) *JobsService {
	return &JobsService{client: c, url: c.url("/v2/agent", c.projectID, "job")}
}

func (s *JobsService) urlOf(id string) string { return s.url + "/" + url.PathEscape(id) }

// CreateJobParams is what [JobsService.Create] sends.
type CreateJobParams struct {
	// Prompt is the instruction for the agent. It is required.
	Prompt string `json:"prompt"`
}

// MessageParams is what [JobsService.Message] sends.
type MessageParams struct {
	// Prompt is the follow-up instruction. It is required.
	Prompt string `json:"prompt"`
}

// Job is one run of the documentation agent. It marshals to JSON under the service's own field
// names, and reads back to an equal value. The SDK's times are in UTC; a value with local times
// keeps their zone. To read the service's own JSON use [JobsService.Get], which accepts a null, an
// odd time or a field of an unexpected type.
type Job struct {
	// ID names the job. It is never empty in a response of the service.
	ID string `json:"id"`
	// Status is empty only if [JobsService.Create] or [JobsService.Message] could read the id alone.
	Status JobStatus `json:"status"`
	// Source is where the job finds the documentation. It is zero if the service does not say.
	Source JobSource `json:"source,omitzero"`
	// Model is the AI model that the agent uses. It is "" if the service does not say.
	Model string `json:"model,omitempty"`
	// PRLink is "" until there is a pull request. It stays "" if nothing changed, or if the
	// project publishes without a review.
	PRLink string `json:"prLink,omitempty"`
	// CreatedAt is in UTC. It is zero if it is null or not a time.
	CreatedAt time.Time `json:"createdAt,omitzero"`
	// ArchivedAt is in UTC. It is zero if it is null or not a time.
	ArchivedAt time.Time `json:"archivedAt,omitzero"`
}

// JobSource says where a job finds the documentation.
type JobSource struct {
	// Repository is the URL of the repository.
	Repository string `json:"repository,omitempty"`
	// Ref is the branch that the agent works on, or the like. It can be "" at first.
	Ref string `json:"ref,omitempty"`
}

// JobStatus is a job's status. Unknown values are kept as received. A value that differs from a status
// below in case alone is that status.
type JobStatus string

// The statuses of the interface.
const (
	JobActive    JobStatus = "active"    // the agent is at work
	JobCompleted JobStatus = "completed" // the agent is done; Job.PRLink is its pull request, if there is one
	JobArchived  JobStatus = "archived"  // the job ended, and was archived later; failed or not is lost
	JobFailed    JobStatus = "failed"    // the agent hit an error it could not recover from
)

// IsTerminal reports whether a job with this status has ended. A message can start it
// again. An unknown status is not terminal.
func (s JobStatus) IsTerminal() bool {
	return s == JobCompleted || s == JobArchived || s == JobFailed
}

// Create starts a job: POST /v2/agent/{projectId}/job. It returns as soon as the
// service has accepted the prompt; [JobsService.WaitUntilDone] waits for the end. The quota
// is 100 per project and hour. Assume that messages count against it, too: the service does not say.
//
// If ctx is canceled once the service may have the prompt, Create waits for the response, as the
// package's overview says. A job that comes is returned with a nil error. If nothing comes, the error
// matches [ErrOutcomeUnknown] and ctx's error. A deadline that passes does not wait: it can cost the id
// of a job that was made.
//
// It is NOT safe to call again after an error that matches [ErrOutcomeUnknown]: the job may exist,
// and another call may open a second pull request. After any other error no job was made.
//
// A response whose id can be read is a success, whatever else is odd in it. The Status can be "" then:
// the first poll of a wait brings it.
//
// Errors: [*ArgumentError] for a blank prompt, [*APIError], [*MalformedResponseError], or the
// network's or context's error.
func (s *JobsService) Create(ctx context.Context, params CreateJobParams) (*Job, error) {
	if err := checkText("prompt", params.Prompt); err != nil {
		return nil, err
	}

	job, err := s.send(ctx, request{
		operation: OpCreateJob,
		url:       s.url,
		body:      params,
	})
	if err != nil {
		return nil, err
	}

	s.client.config.memory.created.add(s.urlOf(job.ID))
	return job, nil
}

// Message sends the job a follow-up: POST /v2/agent/{projectId}/job/{id}/message.
// The service acts on it asynchronously: right after it, the job may still have its status from
// before, such as completed. A wait ignores that for 30 s: see [WithSettleTime].
// Assume that it counts against the quota of [JobsService.Create].
//
// It is NOT safe to call again after an error that matches [ErrOutcomeUnknown]:
// the agent may act on the prompt twice. A cancel has the same effect as on [JobsService.Create],
// whose errors it returns.
func (s *JobsService) Message(ctx context.Context, id string, params MessageParams) (*Job, error) {
	if err := checkText("prompt", params.Prompt); err != nil {
		return nil, err
	}
	if err := checkID(id); err != nil {
		return nil, err
	}

	job, err := s.send(ctx, request{
		operation: OpSendMessage,
		url:       s.urlOf(id) + "/message",
		body:      params,
	})
	if err == nil || errors.Is(err, ErrOutcomeUnknown) {
		s.client.config.memory.messages.add(s.urlOf(id))
	}
	return job, err
}

// Get returns the job: GET /v2/agent/{projectId}/job/{id}.
//
// Errors: [*ArgumentError] for an id that is empty, . or .., or has a control character or
// white space at an end; [*APIError] ([ErrNotFound] for an unknown job), [*MalformedResponseError],
// or the network's or context's error.
func (s *JobsService) Get(ctx context.Context, id string) (*Job, error) {
	return s.get(ctx, id, false)
}

func (s *JobsService) get(ctx context.Context, id string, noRetry bool) (*Job, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}

	return resultOf[Job](ctx, s.client, request{
		operation: OpGetJob,
		method:    http.MethodGet,
		url:       s.urlOf(id),
		noRetry:   noRetry,
		maxBody:   maxJobBody,
	})
}

// WaitUntilDone polls the job until its status is terminal: the first poll at once,
// each further one after 5 % of the time waited so far, at least 5 s and at most 60 s,
// ±10 %. A poll is one GET /v2/agent/{projectId}/job/{id}.
//
// A wait has no time limit of its own: give ctx a deadline. It also goes on while the job has a
// status that this version does not know, and logs that once ([WithLogger]). Once a job has had
// the same unknown status for 24 hours, the wait ends with a [*WaitError] that names it.
//
// It returns the job and nil for status completed or archived, and the job with a
// [*JobFailedError] for failed. So an archived job ends the wait with a nil error, usually without
// a PRLink, and does not say whether it had failed.
//
// A poll that fails (network, 408, 425, 429, 499, 5xx but 501, 505 and 511, a malformed response, the
// rate limiter, the key source) does not end the wait until polls have failed in a row for
// 10 minutes. A Retry-After delays the next poll by up to an hour. These delays do not count as an
// outage: those of a 429 never, others for an hour in all until a poll succeeds. An outage, or the end
// of ctx, ends the wait with a [*WaitError]. Any other response that is not 2xx, or a 429 with a
// Retry-After of more than an hour, ends it at once with its [*APIError]; but a 404 is a failed poll
// until 30 s after [JobsService.Create] of this client, or of a client that [Client.ForProject] made of
// it, has returned the job. WaitUntilDone returns the job as last seen with each of these errors, or nil
// if no poll has seen it.
func (s *JobsService) WaitUntilDone(ctx context.Context, id string, opts ...WaitOption) (*Job, error) {
	return waitUntilDone(ctx, s.client.config, s.target(id), opts)
}

// Poll makes one poll of a [JobsService.WaitUntilDone], for a caller that keeps the
// schedule elsewhere: a job queue, cron, a durable workflow. waited is the time since
// the wait began; a negative one counts as 0. It is one GET
// /v2/agent/{projectId}/job/{id}, without retries.
//
// If Next > 0, poll again after that time; if this poll failed, Err says why, and the job is zero.
// If Next is 0 the wait is over. Only then does Poll return an error, the same as WaitUntilDone
// would. Poll calls no function of [WithOnPoll]: it returns what the function would get.
//
// One poll does not know of the others. Its Number is 1. The caller decides how long polls may fail
// in a row ([WithMaxOutage] has no effect) and how long a status may be unknown. With
// [WithSettleTime] no terminal status counts as long as waited is shorter: after a message pass
// the time since then.
func (s *JobsService) Poll(ctx context.Context, id string, waited time.Duration, opts ...WaitOption) (Poll, error) {
	return pollOnce(ctx, s.client.config, s.target(id), waited, opts)
}

func (s *JobsService) poll(ctx context.Context, id string) (*Job, error) { return s.get(ctx, id, true) }

func (s *JobsService) target(id string) target[*Job] {
	return target[*Job]{id: id, url: s.urlOf(id), get: s.poll}
}

func (j *Job) kind() string   { return "job" }
func (j *Job) status() string { return string(j.Status) }
func (j *Job) isKnown() bool  { return j.Status == JobActive || j.Status.IsTerminal() }
func (j *Job) isDone() bool   { return j.Status.IsTerminal() }

func (j *Job) failure() error {
	if j.Status == JobFailed {
		return &JobFailedError{Job: j}
	}
	return nil
}

// send sends a prompt and returns the job that it is for.
func (s *JobsService) send(ctx context.Context, r request) (*Job, error) {
	job := new(Job)
	r.method = http.MethodPost
	r.into = sentJob{job}
	r.maxBody = maxJobBody
	r.outcome = func() string { return "the service may have acted on the prompt: check before retrying" }

	if err := s.client.do(ctx, r); err != nil {
		return nil, err
	}
	return job, nil
}

// decode reads the job from a response, or on an error as much of it as it can.
func (j *Job) decode(data []byte) error {
	err := wire.Recover(data, "a job", j)
	j.Status = known(j.Status, JobActive, JobCompleted, JobArchived, JobFailed)

	switch {
	case err != nil:
		return err
	case j.ID == "":
		return wire.Missing("job id")
	case j.Status == "":
		return wire.Missing("job status")
	}
	return nil
}

// sentJob is the job in the response to a prompt. Its id is enough: the job exists, and a wait brings
// the rest.
type sentJob struct {
	job *Job
}

func (s sentJob) isEnough() bool { return refusedID(s.job.ID) == "" }

func (s sentJob) decode(data []byte) error {
	err := s.job.decode(data)
	if s.job.ID != "" && !s.isEnough() {
		return errors.New("the job id " + refusedID(s.job.ID))
	}
	return err
}

// known returns the status of all that differs from status in case alone, else status.
func known[S ~string](status S, all ...S) S {
	for _, one := range all {
		if strings.EqualFold(string(status), string(one)) {
			return one
		}
	}
	return status
}

// JobFailedError ends a wait for a job that failed. It matches [ErrJobFailed].
type JobFailedError struct {
	// Job is the job as last seen. Its status is failed.
	Job *Job
}

func (e *JobFailedError) Error() string {
	id := ""
	if e.Job != nil {
		id = " " + safetext.Name(e.Job.ID, 100)
	}

	return safetext.OneLine("mintlify: job"+id+" failed: the agent hit an unrecoverable error", maxMessage)
}

// Is reports whether target is [ErrJobFailed].
func (e *JobFailedError) Is(target error) bool { return target == ErrJobFailed }
