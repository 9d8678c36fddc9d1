package mintlify

import (
	"bytes"
	"context"
	"net/http"

	"github.com/mintlify-community/mintlify-go/internal/wire"
)

// AutomationsService runs automations of the agent. It is [Client.Automations].
type AutomationsService struct {
	client *Client
}

// TriggerAutomationParams is what [AutomationsService.Trigger] sends: nothing so far.
type TriggerAutomationParams struct{}

// AutomationRun is a run that was triggered. A field is "" if the service leaves it out. It
// marshals to JSON under the service's own field names, and reads back to an equal value.
type AutomationRun struct {
	// SchemaID names the automation.
	SchemaID string `json:"schemaId"`
	// InstanceID names this run.
	InstanceID string `json:"instanceId"`
	// JobID names the job of the run. The service does not document whether [JobsService.Get]
	// finds it.
	JobID string `json:"jobId"`
}

// Trigger runs an automation that has a custom schedule, now:
// POST /v1/workflow/{projectId}/{id}/trigger. It costs credits like a scheduled run, and
// covers what has changed since the last finished run. The service offers no way to query the
// run. The quota is 10 per organization and 10 seconds, shared with
// [DeploymentsService.TriggerUpdate]. One automation runs at most 500 times a day.
//
// It is NOT safe to call again after an error that matches [ErrOutcomeUnknown]: a second call may be
// a second run. After any other error nothing ran. A gateway that renews its HTTP/2 connections can
// cause [ErrOutcomeUnknown] although nothing ran.
//
// Errors: [*ArgumentError] for an id that is empty, . or .., or has a control character or
// white space at an end; [*APIError] ([ErrBadRequest] for an automation that is not active or has no
// custom schedule, [ErrNotFound] for an unknown one), [*MalformedResponseError], or the network's or
// context's error.
func (s *AutomationsService) Trigger(
	ctx context.Context, id string, _ TriggerAutomationParams,
) (*AutomationRun, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}

	return resultOf[AutomationRun](ctx, s.client, request{
		operation: OpTriggerAutomation,
		method:    http.MethodPost,
		url:       s.client.url("/v1/workflow", s.client.projectID, id, "trigger"),
		outcome:   func() string { return "the automation may have run: check before triggering it again" },
	})
}

func (r *AutomationRun) decode(data []byte) error {
	if string(bytes.TrimSpace(data)) == "null" {
		return wire.Missing("run")
	}
	if err := wire.Unmarshal(data, r); err != nil {
		return wire.Invalid("an automation's run", err)
	}
	return nil
}
