package mintlify_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/kit"
)

func TestAutomationsTrigger(t *testing.T) {
	rt := kit.NewRecording(kit.RespondWith(202, `{"schemaId":"s","instanceId":"i","jobId":"j"}`))
	run, err := kit.NewClient(t, rt).Automations.Trigger(t.Context(), "a/1", mintlify.TriggerAutomationParams{})
	require.NoError(t, err)
	assert.Equal(t, &mintlify.AutomationRun{SchemaID: "s", InstanceID: "i", JobID: "j"}, run)
	assert.Equal(t, "POST /v1/workflow/proj/a%2F1/trigger", rt.Last().Method+" "+rt.Last().URL.EscapedPath())
	assert.Zero(t, rt.Last().ContentLength)
	kit.AssertRoundTrip(t, run)

	for _, id := range []string{"", " ", ".", ".."} {
		_, err = kit.NewClient(t, rt).Automations.Trigger(t.Context(), id, mintlify.TriggerAutomationParams{})
		kit.RequireArgumentError(t, err, "id")
	}

	list := kit.NewClient(t, kit.RespondWith(202, "[]"))
	run, err = list.Automations.Trigger(t.Context(), "a", mintlify.TriggerAutomationParams{})
	assert.Nil(t, run)
	require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
}
