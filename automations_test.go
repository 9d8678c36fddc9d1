package mintlify_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
)

func TestAutomationsTrigger(t *testing.T) {
	rt := newRecording(respondWith(202, `{"schemaId":"s","instanceId":"i","jobId":"j"}`))
	run, err := newClient(t, rt).Automations.Trigger(t.Context(), "a/1", mintlify.TriggerAutomationParams{})
	require.NoError(t, err)
	assert.Equal(t, &mintlify.AutomationRun{SchemaID: "s", InstanceID: "i", JobID: "j"}, run)
	assert.Equal(t, "POST /v1/workflow/proj/a%2F1/trigger", rt.last().Method+" "+rt.last().URL.EscapedPath())
	assert.Zero(t, rt.last().ContentLength)
	assertRoundTrip(t, run)

	for _, id := range []string{"", " ", ".", ".."} {
		_, err = newClient(t, rt).Automations.Trigger(t.Context(), id, mintlify.TriggerAutomationParams{})
		requireArgumentError(t, err, "id")
	}

	list := newClient(t, respondWith(202, "[]"))
	run, err = list.Automations.Trigger(t.Context(), "a", mintlify.TriggerAutomationParams{})
	assert.Nil(t, run)
	require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
}
