package test

import (
	"net"
	"net/http"
	"syscall"
	"testing"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/kit"
)

// Each way to test code that uses the SDK, as docs show it.

const jobURL = "https://api.mintlify.com/v2/agent/proj/job"

func TestMockWithHTTPMockOnAClient(t *testing.T) {
	for name, activateFirst := range map[string]bool{"before NewClient": true, "after NewClient": false} {
		t.Run(name, func(t *testing.T) {
			hc := &http.Client{}
			t.Cleanup(httpmock.DeactivateAndReset)
			if activateFirst {
				httpmock.ActivateNonDefault(hc)
			}
			client, err := mintlify.NewClient("mint_test", "proj", mintlify.WithHTTPClient(hc))
			require.NoError(t, err)
			if !activateFirst {
				httpmock.ActivateNonDefault(hc)
			}

			httpmock.RegisterResponder("POST", jobURL, httpmock.NewStringResponder(201, kit.JobJSON))
			job, err := kit.Create(t.Context(), client)
			require.NoError(t, err)
			assert.Equal(t, "job_1", job.ID)
			assert.Equal(t, 1, httpmock.GetTotalCallCount())
		})
	}
}

func TestMockWithPlainHTTPMock(t *testing.T) {
	client, err := mintlify.NewClient("mint_test", "proj")
	require.NoError(t, err)

	httpmock.Activate(t)
	httpmock.RegisterResponder("POST", jobURL, httpmock.NewStringResponder(201, kit.JobJSON))
	job, err := kit.Create(t.Context(), client)
	require.NoError(t, err)
	assert.Equal(t, "job_1", job.ID)
}

// The row of the reference's errors for the network.
func TestNetworkErrorIsTheNetworksOwn(t *testing.T) {
	lost := &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	for name, call := range kit.JobCalls {
		_, err := call(t.Context(), kit.NewClient(t, kit.FailWith(lost), mintlify.WithMaxRetries(0)))
		assert.ErrorAs(t, err, new(*net.OpError))
		assert.ErrorIs(t, err, syscall.ECONNRESET)
		assert.Equal(t, name != "Get", kit.IsOutcomeUnknown(err), "this transport gives no proof")
	}
}
