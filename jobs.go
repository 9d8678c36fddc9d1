package mintlify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"
)

// JobsService runs agent jobs. It is [Client.Jobs].
type JobsService struct {
	client *Client
}

// CreateJobParams is what [JobsService.Create] sends.
type CreateJobParams struct {
	Prompt string `json:"prompt"` // the instruction for the agent; required
}

// MessageParams is what [JobsService.Message] sends.
type MessageParams struct {
	Prompt string `json:"prompt"` // the follow-up instruction; required
}

// Job is one run of the documentation agent. It marshals to JSON under the
// service's own field names, times in UTC, and reads back to an equal value.
type Job struct {
	ID         string    `json:"id"`                  // never empty in an answer of the service
	Status     JobStatus `json:"status"`              // never empty in an answer of the service
	Source     JobSource `json:"source,omitzero"`     // zero if the service does not say
	Model      string    `json:"model,omitempty"`     // the AI model at work; "" if the service does not say
	PRLink     string    `json:"prLink,omitempty"`    // "" while the service says null, and for good where no file was changed
	CreatedAt  time.Time `json:"createdAt,omitzero"`  // in UTC; zero where the service says null, or what is no time
	ArchivedAt time.Time `json:"archivedAt,omitzero"` // in UTC; zero where the service says null, or what is no time
}

// JobSource is where a job finds the documentation.
type JobSource struct {
	Repository string `json:"repository,omitempty"` // its URL
	Ref        string `json:"ref,omitempty"`        // a branch or the like
}

// JobStatus is where a job stands. One that this version does not know is kept
// as it came.
type JobStatus string

// The statuses of the interface.
const (
	JobActive    JobStatus = "active"    // the agent is at work
	JobCompleted JobStatus = "completed" // the agent is done: Job.PRLink is its pull request, if it changed a file
	JobArchived  JobStatus = "archived"  // the job was put away
	JobFailed    JobStatus = "failed"    // the agent hit an error it could not recover from
)

// IsTerminal reports whether a job with this status has come to its end, until a
// message sets it to work again. An unknown status is not terminal.
func (s JobStatus) IsTerminal() bool {
	return s == JobCompleted || s == JobArchived || s == JobFailed
}

// Create starts a job: POST /v2/agent/{projectId}/job. It returns as soon as the
// service has taken the prompt up; [JobsService.WaitUntilDone] waits for the end.
//
// It is NOT safe to call again after an error that matches [ErrOutcomeUnknown]:
// the job may exist, and another call may open a second pull request. After any
// other error no job was made. The SDK itself sends the prompt again only on
// proof that the service did not act on it.
//
// Errors: [*ArgumentError] for a blank prompt, [*APIError], [*ResponseError] (with
// the job beside it if its id could be read), or the network's or context's error.
func (s *JobsService) Create(ctx context.Context, params CreateJobParams) (*Job, error) {
	if err := checkPrompt(params.Prompt); err != nil {
		return nil, err
	}
	return s.do(ctx, request{operation: OpCreateJob, method: http.MethodPost, body: params, retries: s.client.config.maxRetries})
}

// Message sends the job a follow-up: POST /v2/agent/{projectId}/job/{id}/message.
// The service takes it up asynchronously: give the wait that follows a
// [WithSettleTime].
//
// It is NOT safe to call again after an error that matches [ErrOutcomeUnknown]:
// the agent may act on the prompt twice. The errors are those of
// [JobsService.Create].
func (s *JobsService) Message(ctx context.Context, id string, params MessageParams) (*Job, error) {
	if err := checkPrompt(params.Prompt); err != nil {
		return nil, err
	}
	return s.do(ctx, request{operation: OpSendMessage, method: http.MethodPost, body: params, retries: s.client.config.maxRetries}, id, "message")
}

// Get returns the job as it stands: GET /v2/agent/{projectId}/job/{id}. It
// changes nothing and is safe to call again.
//
// Errors: [*ArgumentError] for an empty or dot id, [*APIError] ([ErrNotFound] for
// an unknown job), [*ResponseError], or the network's or context's error.
func (s *JobsService) Get(ctx context.Context, id string) (*Job, error) {
	return s.get(ctx, id, s.client.config.maxRetries)
}

func (s *JobsService) get(ctx context.Context, id string, retries int) (*Job, error) {
	return s.do(ctx, request{operation: OpGetJob, method: http.MethodGet, retries: retries}, id)
}

// do sends r to the project's jobs, or to the part of them that the first
// segment, a job's id, and those behind it name.
func (s *JobsService) do(ctx context.Context, r request, segments ...string) (*Job, error) {
	if len(segments) > 0 {
		if err := checkJobID(segments[0]); err != nil {
			return nil, err
		}
	}
	r.path = "/v2/agent/" + url.PathEscape(s.client.projectID) + "/job"
	for _, segment := range segments {
		r.path += "/" + url.PathEscape(segment)
	}
	var job *Job
	r.decode = func(data []byte) (err error) {
		job, err = decodeJob(data)
		return err
	}
	err := s.client.do(ctx, r)
	if err != nil && !errors.Is(err, ErrMalformedResponse) {
		return nil, err
	}
	return job, err
}

func checkPrompt(prompt string) error {
	switch {
	case strings.TrimSpace(prompt) == "":
		return &ArgumentError{"prompt", "is empty"}
	case !utf8.ValidString(prompt):
		return &ArgumentError{"prompt", "is not valid UTF-8"}
	}
	return nil
}

func checkJobID(id string) error {
	if reason := refusedID(id); reason != "" {
		return &ArgumentError{"id", reason}
	}
	return nil
}

// decodeJob reads a job from an answer. On an error it returns as much of the job
// as could be read, if that includes its id.
func decodeJob(data []byte) (*Job, error) {
	job := new(Job)
	err := job.UnmarshalJSON(data) // not by json.Unmarshal, which would look through data twice
	if err != nil {
		err = errors.New("it is not the JSON of a job: " + err.Error())
		_ = job.UnmarshalJSON(wholeFields(data))
	}
	switch {
	case job.ID == "":
		job = nil
		if err == nil {
			err = errors.New("it has no job id")
		}
	case job.Status == "" && err == nil:
		err = errors.New("it has no job status")
	}
	return job, err
}

// wholeFields returns the fields of the JSON object that data begins with, up to
// where it is cut off or broken, as an object of their own.
func wholeFields(data []byte) []byte {
	fields := map[string]json.RawMessage{}
	decoder := json.NewDecoder(bytes.NewReader(data))
	if open, _ := decoder.Token(); open == json.Delim('{') {
		for decoder.More() {
			name, err := decoder.Token()
			if err != nil {
				break
			}
			var value json.RawMessage
			if decoder.Decode(&value) != nil {
				break
			}
			if name, ok := name.(string); ok {
				fields[name] = value
			}
		}
	}
	whole, err := json.Marshal(fields)
	if err != nil {
		return nil
	}
	return whole
}

// MarshalJSON implements [json.Marshaler].
func (j Job) MarshalJSON() ([]byte, error) {
	type fields Job // without this method
	j.CreatedAt, j.ArchivedAt = j.CreatedAt.UTC(), j.ArchivedAt.UTC()
	return json.Marshal(fields(j))
}

// UnmarshalJSON implements [json.Unmarshaler]. Only what is no JSON object is an
// error: a field of another type than the interface's is left at its zero value.
func (j *Job) UnmarshalJSON(data []byte) error {
	type fields Job // without this method
	var read struct {
		fields
		CreatedAt  timestamp `json:"createdAt"`
		ArchivedAt timestamp `json:"archivedAt"`
	}
	err := json.Unmarshal(data, &read)
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) && wrongType.Field != "" {
		err = nil
	}
	*j = Job(read.fields)
	j.CreatedAt, j.ArchivedAt = time.Time(read.CreatedAt), time.Time(read.ArchivedAt)
	return err
}

// timestamp is a time that is zero, rather than an error, where the service's
// text is no time.
type timestamp time.Time

// UnmarshalJSON implements [json.Unmarshaler].
func (t *timestamp) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil && text != "" { // what is no text is no time
		*t = timestamp(parseTimestamp(text))
	}
	return nil
}

func parseTimestamp(text string) time.Time {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", time.DateOnly} {
		read, err := time.Parse(layout, text)
		if read = read.UTC(); err == nil && read.Year() >= 0 && read.Year() <= 9999 { // the years that JSON can hold
			return read
		}
	}
	return time.Time{}
}
