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
	"github.com/mintlify-community/mintlify-go/internal/safetext"
	"github.com/mintlify-community/mintlify-go/internal/wire"
)

// DeploymentsService publishes the documentation site. It is [Client.Deployments].
type DeploymentsService struct {
	client *Client
}

// TriggerUpdateParams is what [DeploymentsService.TriggerUpdate] sends: nothing so far.
type TriggerUpdateParams struct{}

// TriggerPreviewParams is what [DeploymentsService.TriggerPreview] sends.
type TriggerPreviewParams struct {
	// Branch is a branch of the documentation's repository. It is required.
	Branch string `json:"branch"`
}

// QueuedDeployment is a deployment that was triggered. It marshals to JSON under the service's
// own field names, and reads back to an equal value.
type QueuedDeployment struct {
	// ID names the deployment, for [DeploymentsService.WaitUntilDone].
	ID string `json:"statusId"`
	// PreviewURL is the address of a preview once it is built. It is "" for an update.
	PreviewURL string `json:"previewUrl,omitempty"`
}

// Deployment is one build of the documentation site. It marshals to JSON under the service's own
// field names, and reads back to an equal value. The SDK's times are in UTC; a value with local
// times keeps their zone. To read the service's own JSON use [DeploymentsService.Get], which
// accepts a null, an odd time or a field of an unexpected type.
type Deployment struct {
	// ID names the deployment. If the service sends none, it is the id of the call.
	ID string `json:"_id"`
	// ProjectID is the project that the deployment belongs to.
	ProjectID string `json:"projectId,omitempty"`
	// Status is never empty in a response of the service.
	Status DeploymentStatus `json:"status"`
	// Summary is what the service says about how the deployment went.
	Summary string `json:"summary,omitempty"`
	// Logs are the lines of the build. If a wait ends with a response that is truncated or
	// larger than 10 MiB, the last lines are missing.
	Logs []string `json:"logs,omitzero"`
	// Subdomain is the subdomain of the site.
	Subdomain string `json:"subdomain,omitempty"`
	// Source is what triggered the deployment, as received: api, github, dashboard …
	Source string `json:"source,omitempty"`
	// Commit is the commit that was built.
	Commit DeploymentCommit `json:"commit,omitzero"`
	// Author is who made the commit.
	Author DeploymentAuthor `json:"author,omitzero"`
	// Screenshot is the URL of a picture of the site.
	Screenshot string `json:"screenshot,omitempty"`
	// ScreenshotLight is the URL of a picture of the site in the light theme.
	ScreenshotLight string `json:"screenshotLight,omitempty"`
	// ScreenshotDark is the URL of a picture of the site in the dark theme.
	ScreenshotDark string `json:"screenshotDark,omitempty"`
	// CreatedAt is in UTC. It is zero if it is absent or not a time.
	CreatedAt time.Time `json:"createdAt,omitzero"`
	// EndedAt is in UTC. It is zero until the deployment ends, or if it is not a time.
	EndedAt time.Time `json:"endedAt,omitzero"`
}

// DeploymentCommit is the commit that was built.
type DeploymentCommit struct {
	// SHA is the hash of the commit.
	SHA string `json:"sha,omitempty"`
	// Ref is a branch or the like.
	Ref string `json:"ref,omitempty"`
	// Message is the message of the commit.
	Message string `json:"message,omitempty"`
	// FilesChanged are the changes against the commit before.
	FilesChanged DeploymentFiles `json:"filesChanged,omitzero"`
}

// DeploymentFiles are the files that a commit changed.
type DeploymentFiles struct {
	// Added are the paths of new files.
	Added []string `json:"added,omitzero"`
	// Modified are the paths of files whose content changed.
	Modified []string `json:"modified,omitzero"`
	// Removed are the paths of files that are gone.
	Removed []string `json:"removed,omitzero"`
}

// DeploymentAuthor is who made the commit.
type DeploymentAuthor struct {
	// Name is the author's name as the forge or the service knows it.
	Name string `json:"name,omitempty"`
	// AvatarURL is the URL of a picture.
	AvatarURL string `json:"avatarUrl,omitempty"`
	// GitHubUserID is the author's number on GitHub. It is 0 if there is none.
	GitHubUserID int64 `json:"githubUserId,omitempty"`
}

// DeploymentStatus is a deployment's status. Unknown values are kept as received. A value that differs
// from a status below in case alone is that status.
type DeploymentStatus string

// The statuses of a deployment.
const (
	DeploymentQueued     DeploymentStatus = "queued"
	DeploymentInProgress DeploymentStatus = "in_progress"
	DeploymentSucceeded  DeploymentStatus = "success"
	// DeploymentFailed can mean that the content is live and only another step failed: see
	// Summary and Logs.
	DeploymentFailed DeploymentStatus = "failure"
	// DeploymentSkipped means that the service built nothing. Its changelog names this status, its
	// interface does not.
	DeploymentSkipped DeploymentStatus = "skipped"
)

// IsTerminal reports whether a deployment with this status has ended. An unknown status is
// not terminal.
func (s DeploymentStatus) IsTerminal() bool {
	return s == DeploymentSucceeded || s == DeploymentFailed || s == DeploymentSkipped
}

// TriggerUpdate deploys the branch that is set up for deployment:
// POST /v1/project/update/{projectId}. It returns once the service has queued the build;
// [DeploymentsService.WaitUntilDone] waits for the end. The quota is 10 per organization and
// 10 seconds, shared with [AutomationsService.Trigger].
//
// It is safe to call again, also after [ErrOutcomeUnknown]. That may cost a second build. A gateway
// that renews its HTTP/2 connections can cause this error although nothing was queued.
//
// One user saw a project's deployments stay queued for good after an update was triggered while
// another deployment was in progress.
//
// Errors: [*APIError], [*MalformedResponseError], or the network's or context's error. If it
// returns a deployment with the error, that deployment was queued: wait for it by its id.
func (s *DeploymentsService) TriggerUpdate(ctx context.Context, _ TriggerUpdateParams) (*QueuedDeployment, error) {
	return s.trigger(ctx, request{
		operation: OpTriggerUpdate,
		url:       s.client.url("/v1/project/update", s.client.projectID),
	})
}

// TriggerPreview deploys a branch as a preview: POST /v1/project/preview/{projectId}. If the
// branch has a preview, it is built anew at the same URL. The quota is 5 per organization and
// minute.
//
// It is safe to call again, also after [ErrOutcomeUnknown]. That may cost a second build.
//
// Errors: [*ArgumentError] for a branch that is blank or has a control character or white space at
// an end, [*APIError] ([ErrForbidden] also if the plan
// has no previews), [*MalformedResponseError], or the network's or context's error. If it returns a
// deployment with the error, that deployment was queued: wait for it by its id.
func (s *DeploymentsService) TriggerPreview(
	ctx context.Context, params TriggerPreviewParams,
) (*QueuedDeployment, error) {
	if err := checkBranch(params.Branch); err != nil {
		return nil, err
	}

	return s.trigger(ctx, request{
		operation: OpTriggerPreview,
		url:       s.client.url("/v1/project/preview", s.client.projectID),
		body:      params,
	})
}

// trigger returns the deployment along with an error if it could read its id.
func (s *DeploymentsService) trigger(ctx context.Context, r request) (*QueuedDeployment, error) {
	queued := new(QueuedDeployment)
	r.method = http.MethodPost
	r.into = queued
	r.outcome = func() string {
		if queued.ID != "" {
			return "deployment " + safetext.Name(queued.ID, 100) + " was queued: wait for it"
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
// Errors: [*ArgumentError] for an id that is empty, . or .., or has a control character or
// white space at an end; [*APIError], [*MalformedResponseError], or the network's or context's error.
func (s *DeploymentsService) Get(ctx context.Context, id string) (*Deployment, error) {
	return s.get(ctx, id, false)
}

func (s *DeploymentsService) poll(ctx context.Context, id string) (*Deployment, error) {
	return s.get(ctx, id, true)
}

func (s *DeploymentsService) urlOf(id string) string {
	return s.client.url("/v1/project/update-status", id)
}

func (s *DeploymentsService) target(id string) target[*Deployment] {
	return target[*Deployment]{id: id, url: s.urlOf(id), get: s.poll}
}

// get gets the deployment. A poll also accepts a truncated or too large response if it says that the
// deployment has ended: long logs can make it so.
func (s *DeploymentsService) get(ctx context.Context, id string, isPoll bool) (*Deployment, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}

	deployment := new(Deployment)
	err := s.client.do(ctx, request{
		operation: OpGetDeployment,
		method:    http.MethodGet,
		url:       s.urlOf(id),
		noRetry:   isPoll,
		into:      deployment,
	})
	deployment.ID = cmp.Or(deployment.ID, id)

	hasEnded := isPoll && errors.Is(err, ErrMalformedResponse) && deployment.isDone()
	if err != nil && !hasEnded {
		return nil, err
	}
	return deployment, nil
}

// WaitUntilDone polls the deployment until its status is terminal, as [JobsService.WaitUntilDone]
// polls a job: by the same schedule, and with the same errors. A poll is one GET
// /v1/project/update-status/{id}. Give ctx a deadline.
//
// It returns the deployment and nil for status success or skipped, and the deployment with a
// [*DeploymentFailedError] for failure: Summary and Logs say why, and whether the content is
// live.
func (s *DeploymentsService) WaitUntilDone(ctx context.Context, id string, opts ...WaitOption) (*Deployment, error) {
	return waitUntilDone(ctx, s.client.config, s.target(id), opts)
}

// Poll makes one poll of a [DeploymentsService.WaitUntilDone], by the rules of
// [JobsService.Poll].
func (s *DeploymentsService) Poll(
	ctx context.Context, id string, waited time.Duration, opts ...WaitOption,
) (Poll, error) {
	return pollOnce(ctx, s.client.config, s.target(id), waited, opts)
}

func (d *Deployment) kind() string   { return "deployment" }
func (d *Deployment) status() string { return string(d.Status) }
func (d *Deployment) isDone() bool   { return d.Status.IsTerminal() }

func (d *Deployment) isKnown() bool {
	return d.Status == DeploymentQueued || d.Status == DeploymentInProgress || d.Status.IsTerminal()
}

func (d *Deployment) failure() error {
	if d.Status == DeploymentFailed {
		return &DeploymentFailedError{Deployment: d}
	}
	return nil
}

// decode reads the deployment from a response, or on an error as much of it as it can.
func (q *QueuedDeployment) decode(data []byte) error {
	if err := wire.Recover(data, "a queued deployment", q); err != nil {
		return err
	}
	if q.ID == "" {
		return wire.Missing("statusId")
	}
	return nil
}

func (d *Deployment) decode(data []byte) error {
	err := wire.Recover(data, "a deployment", d)
	d.Status = known(d.Status,
		DeploymentQueued, DeploymentInProgress, DeploymentSucceeded, DeploymentFailed, DeploymentSkipped)

	if d.Author == (DeploymentAuthor{}) { // the service may send the name alone
		var named struct {
			Author string `json:"author"`
		}
		_ = json.Unmarshal(data, &named)
		d.Author.Name = named.Author
	}

	if err == nil && d.Status == "" {
		return wire.Missing("deployment status")
	}
	return err
}

// redact removes the key from what a build may have printed.
func (d *Deployment) redact(key redact.Key) {
	d.Summary = key.Text(d.Summary, maxBody)
	for i := range d.Logs {
		d.Logs[i] = key.Text(d.Logs[i], maxBody)
	}
}

// DeploymentFailedError ends a wait for a deployment that failed. It matches
// [ErrDeploymentFailed].
type DeploymentFailedError struct {
	// Deployment is the deployment as last seen. Its status is failure.
	Deployment *Deployment
}

func (e *DeploymentFailedError) Error() string {
	message := "mintlify: deployment"
	if e.Deployment != nil {
		message += " " + safetext.Name(e.Deployment.ID, 100)
	}

	message += " failed"
	if e.Deployment != nil && strings.TrimSpace(e.Deployment.Summary) != "" {
		message += ": " + safetext.OneLine(e.Deployment.Summary, safetext.MaxServiceText)
	}

	return safetext.OneLine(message, maxMessage)
}

// Is reports whether target is [ErrDeploymentFailed].
func (e *DeploymentFailedError) Is(target error) bool { return target == ErrDeploymentFailed }
