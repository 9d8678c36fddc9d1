package mintlify

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/internal/wire"
)

// DeploymentsService publishes the documentation site. It is [Client.Deployments].
type DeploymentsService struct {
	client *Client
}

// PreviewParams is what [DeploymentsService.TriggerPreview] sends.
type PreviewParams struct {
	Branch string `json:"branch"` // of the documentation's repository; required
}

// QueuedDeployment is a deployment that was triggered. It marshals to JSON under the service's
// own field names, and reads back to an equal value.
type QueuedDeployment struct {
	ID         string `json:"statusId"`             // for [DeploymentsService.WaitUntilDone]
	PreviewURL string `json:"previewUrl,omitempty"` // of a preview, once it is built; "" for an update
}

// Deployment is one build of the documentation site. It marshals to JSON under the service's
// own field names, times in UTC, and reads back to an equal value.
type Deployment struct {
	ID        string           `json:"_id"`                 // if the service sends none, the id of the call
	ProjectID string           `json:"projectId,omitempty"` // of the project it belongs to
	Status    DeploymentStatus `json:"status"`              // never empty in a response of the service
	Summary   string           `json:"summary,omitempty"`   // the service's words on how it went
	// Logs are the lines of the build. They may be cut: if a wait ends with a response that is
	// truncated or has more than 10 MiB, later lines are missing.
	Logs            []string         `json:"logs,omitzero"`
	Subdomain       string           `json:"subdomain,omitempty"`       // of the site
	Source          string           `json:"source,omitempty"`          // what triggered it, as received: api, github, dashboard …
	Commit          DeploymentCommit `json:"commit,omitzero"`           // that was built
	Author          DeploymentAuthor `json:"author,omitzero"`           // of the commit
	Screenshot      string           `json:"screenshot,omitempty"`      // a URL
	ScreenshotLight string           `json:"screenshotLight,omitempty"` // a URL, in the light theme
	ScreenshotDark  string           `json:"screenshotDark,omitempty"`  // a URL, in the dark theme
	CreatedAt       time.Time        `json:"createdAt,omitzero"`        // in UTC; zero if absent or not a time
	EndedAt         time.Time        `json:"endedAt,omitzero"`          // in UTC; zero until it ends, or if not a time
}

// DeploymentCommit is the commit that was built.
type DeploymentCommit struct {
	SHA          string       `json:"sha,omitempty"`         // its hash
	Ref          string       `json:"ref,omitempty"`         // a branch or the like
	Message      string       `json:"message,omitempty"`     // its message
	FilesChanged FilesChanged `json:"filesChanged,omitzero"` // against the commit before
}

// FilesChanged are the files that a commit changed.
type FilesChanged struct {
	Added    []string `json:"added,omitzero"`    // paths
	Modified []string `json:"modified,omitzero"` // paths
	Removed  []string `json:"removed,omitzero"`  // paths
}

// DeploymentAuthor is who made the commit.
type DeploymentAuthor struct {
	Name         string `json:"name,omitempty"`         // as the forge or the service knows it
	AvatarURL    string `json:"avatarUrl,omitempty"`    // of a picture
	GitHubUserID int64  `json:"githubUserId,omitempty"` // 0 if there is none
}

// DeploymentStatus is a deployment's status. Unknown values are kept as received.
type DeploymentStatus string

// The statuses of a deployment.
const (
	DeploymentQueued     DeploymentStatus = "queued"
	DeploymentInProgress DeploymentStatus = "in_progress"
	DeploymentSucceeded  DeploymentStatus = "success"
	// DeploymentFailed can mean that the content is live and a side step failed: see Summary
	// and Logs.
	DeploymentFailed DeploymentStatus = "failure"
)

// IsTerminal reports whether a deployment with this status has ended. An unknown status is
// not terminal.
func (s DeploymentStatus) IsTerminal() bool {
	return s == DeploymentSucceeded || s == DeploymentFailed
}

// TriggerUpdate deploys the branch that is set up for deployment:
// POST /v1/project/update/{projectId}. It returns once the service has queued the build;
// [DeploymentsService.WaitUntilDone] waits for the end. The quota is 10 per organization and
// 10 seconds, shared with [AutomationsService.Trigger].
//
// It is safe to call again, also after [ErrOutcomeUnknown]. That may cost a second build.
//
// Errors: [*APIError], [*ResponseError], or the network's or context's error. If it returns a
// deployment with the error, that deployment was queued: wait for it by its id.
func (s *DeploymentsService) TriggerUpdate(ctx context.Context) (*QueuedDeployment, error) {
	return s.trigger(ctx, request{operation: OpTriggerUpdate, url: s.client.url("/v1/project/update", s.client.projectID)})
}

// TriggerPreview deploys a branch as a preview: POST /v1/project/preview/{projectId}. If the
// branch has a preview, it is built anew at the same URL. The quota is 5 per organization and
// minute.
//
// It is safe to call again, also after [ErrOutcomeUnknown]. That may cost a second build.
//
// Errors: [*ArgumentError] for a blank branch, [*APIError] ([ErrForbidden] also if the plan
// has no previews), [*ResponseError], or the network's or context's error. If it returns a
// deployment with the error, that deployment was queued: wait for it by its id.
func (s *DeploymentsService) TriggerPreview(ctx context.Context, params PreviewParams) (*QueuedDeployment, error) {
	if err := checkText("branch", params.Branch); err != nil {
		return nil, err
	}
	return s.trigger(ctx, request{operation: OpTriggerPreview, url: s.client.url("/v1/project/preview", s.client.projectID), body: params})
}

// trigger returns the deployment along with an error if it could read its id.
func (s *DeploymentsService) trigger(ctx context.Context, r request) (*QueuedDeployment, error) {
	queued := new(QueuedDeployment)
	r.method, r.into = http.MethodPost, queued
	r.outcome = func() string {
		if queued.ID != "" {
			return "deployment " + redact.OneLine(queued.ID, 100) + " was queued: wait for it"
		}
		return "a build may have started: triggering it again is safe, and costs another one at most"
	}
	err := s.client.do(ctx, r)
	if queued.ID == "" || err != nil && !errors.Is(err, ErrMalformedResponse) {
		return nil, err
	}
	return queued, err
}

// Get returns the deployment: GET /v1/project/update-status/{id}. The id alone names it,
// whatever the client's project. The service documents no quota.
//
// Errors: [*ArgumentError] for an id that is empty, . or .., [*APIError], [*ResponseError], or the
// network's or context's error.
func (s *DeploymentsService) Get(ctx context.Context, id string) (*Deployment, error) {
	deployment, err := s.get(ctx, id, false)
	if err != nil {
		return nil, err
	}
	return deployment, nil
}

// poll returns a deployment that has ended even if its response is truncated or too large, as
// logs can make it.
func (s *DeploymentsService) poll(ctx context.Context, id string) (*Deployment, error) {
	deployment, err := s.get(ctx, id, true)
	if errors.Is(err, ErrMalformedResponse) && deployment.isDone() {
		return deployment, nil
	}
	if err != nil {
		return nil, err
	}
	return deployment, nil
}

// get returns what it could read of the deployment, also with an error.
func (s *DeploymentsService) get(ctx context.Context, id string, noRetry bool) (*Deployment, error) {
	deployment := new(Deployment)
	if err := checkID(id); err != nil {
		return deployment, err
	}
	err := s.client.do(ctx, request{operation: OpGetDeployment, method: http.MethodGet, url: s.client.url("/v1/project/update-status", id), noRetry: noRetry, into: deployment})
	deployment.ID = cmp.Or(deployment.ID, id)
	return deployment, err
}

// WaitUntilDone polls the deployment until its status is terminal, as [JobsService.WaitUntilDone]
// polls a job: by the same schedule, and with the same errors. A poll is one
// GET /v1/project/update-status/{id}. A wait has no end of its own: give ctx a deadline.
//
// It returns the deployment and nil for status success, and the deployment with a
// [*DeploymentFailedError] for failure: Summary and Logs say why, and whether the content is
// live.
func (s *DeploymentsService) WaitUntilDone(ctx context.Context, id string, opts ...WaitOption) (*Deployment, error) {
	w, err := newWait(ctx, s.client.config, id, s.poll, opts)
	if err != nil {
		return nil, err
	}
	return w.run(ctx)
}

// Poll makes one poll of a [DeploymentsService.WaitUntilDone], by the rules of
// [JobsService.Poll].
func (s *DeploymentsService) Poll(ctx context.Context, id string, waited time.Duration, opts ...WaitOption) (Poll, error) {
	return pollOnce(ctx, s.client.config, id, waited, s.poll, opts)
}

func (d *Deployment) kind() string { return "deployment" }
func (d *Deployment) isDone() bool { return d.Status.IsTerminal() }

func (d *Deployment) isKnown() bool {
	return d.Status == DeploymentQueued || d.Status == DeploymentInProgress || d.Status.IsTerminal()
}

func (d *Deployment) status() string {
	if d == nil {
		return ""
	}
	return string(d.Status)
}

func (d *Deployment) failure() error {
	if d.Status == DeploymentFailed {
		return &DeploymentFailedError{Deployment: d}
	}
	return nil
}

func (q *QueuedDeployment) decode(data []byte) error {
	type queued QueuedDeployment // without methods
	read := func(data []byte) error {
		var fields queued
		err := json.Unmarshal(data, &fields)
		*q = QueuedDeployment(fields)
		if wire.IsTypeMismatch(err) {
			return nil
		}
		return err
	}
	if err := read(data); err != nil {
		_ = read(wire.Salvage(data))
		return wire.Invalid("a queued deployment", err)
	}
	if q.ID == "" {
		return wire.Missing("statusId")
	}
	return nil
}

func (d *Deployment) decode(data []byte) error {
	if err := d.UnmarshalJSON(data); err != nil {
		_ = d.UnmarshalJSON(wire.Salvage(data))
		return wire.Invalid("a deployment", err)
	}
	if d.Status == "" {
		return wire.Missing("deployment status")
	}
	return nil
}

// redact removes the key from what a build may have printed.
func (d *Deployment) redact(key redact.Key) {
	d.Summary = key.Text(d.Summary, maxBody)
	for i := range d.Logs {
		d.Logs[i] = key.Text(d.Logs[i], maxBody)
	}
}

// MarshalJSON implements [json.Marshaler].
func (d Deployment) MarshalJSON() ([]byte, error) {
	type fields Deployment // without this method
	d.CreatedAt, d.EndedAt = d.CreatedAt.UTC(), d.EndedAt.UTC()
	return json.Marshal(fields(d))
}

// UnmarshalJSON implements [json.Unmarshaler]. It sets all fields of d. Only data that is not
// a JSON object is an error: a field of an unexpected type is left at its zero value.
func (d *Deployment) UnmarshalJSON(data []byte) error {
	type fields Deployment // without this method
	var read struct {
		fields
		Logs      wire.Optional[[]string] `json:"logs"`
		CreatedAt wire.Time               `json:"createdAt"`
		EndedAt   wire.Time               `json:"endedAt"`
		Author    author                  `json:"author"`
		Commit    struct {
			SHA          string `json:"sha"`
			Ref          string `json:"ref"`
			Message      string `json:"message"`
			FilesChanged struct {
				Added    wire.Optional[[]string] `json:"added"`
				Modified wire.Optional[[]string] `json:"modified"`
				Removed  wire.Optional[[]string] `json:"removed"`
			} `json:"filesChanged"`
		} `json:"commit"`
	}
	if err := json.Unmarshal(data, &read); err != nil && !wire.IsTypeMismatch(err) {
		return err
	}
	*d = Deployment(read.fields)
	d.Logs, d.CreatedAt, d.EndedAt, d.Author = read.Logs.Value, read.CreatedAt.Time, read.EndedAt.Time, DeploymentAuthor(read.Author)
	changed := read.Commit.FilesChanged
	d.Commit = DeploymentCommit{read.Commit.SHA, read.Commit.Ref, read.Commit.Message, FilesChanged{changed.Added.Value, changed.Modified.Value, changed.Removed.Value}}
	return nil
}

// author is a DeploymentAuthor that the service may give as text.
type author DeploymentAuthor

// UnmarshalJSON implements [json.Unmarshaler].
func (a *author) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &a.Name) == nil {
		return nil
	}
	var fields struct {
		Name         string                 `json:"name"`
		AvatarURL    string                 `json:"avatarUrl"`
		GitHubUserID wire.Optional[float64] `json:"githubUserId"`
	}
	_ = json.Unmarshal(data, &fields) // an odd author never costs the deployment
	*a = author{fields.Name, fields.AvatarURL, new(wire.Counts).Round(fields.GitHubUserID.Value)}
	return nil
}

// DeploymentFailedError ends a wait for a deployment that failed. It matches
// [ErrDeploymentFailed].
type DeploymentFailedError struct {
	Deployment *Deployment // as last seen, status failure
}

func (e *DeploymentFailedError) Error() string {
	message := "mintlify: deployment"
	if e.Deployment != nil {
		message += " " + redact.OneLine(e.Deployment.ID, 100)
	}
	message += " failed"
	if e.Deployment != nil && strings.TrimSpace(e.Deployment.Summary) != "" {
		message += ": " + redact.OneLine(e.Deployment.Summary, redact.MaxServiceText)
	}
	return redact.OneLine(message, maxMessage)
}

// Is reports whether target is [ErrDeploymentFailed].
func (e *DeploymentFailedError) Is(target error) bool { return target == ErrDeploymentFailed }
