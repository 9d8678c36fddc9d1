package mintlifytest_test

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func TestEnforceQuotasSaysRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.EnforceQuotas()
		client := svc.Client(mintlify.WithMaxRetries(0))

		get := func() time.Duration {
			_, err := client.Analytics.GetVisitorPage(t.Context(), mintlify.VisitorsParams{})
			var apiErr *mintlify.APIError
			if !errors.As(err, &apiErr) {
				require.NoError(t, err)
				return 0
			}
			require.Equal(t, http.StatusTooManyRequests, apiErr.StatusCode)
			return apiErr.RetryAfter
		}

		for range 100 {
			require.Zero(t, get())
			time.Sleep(10*time.Second + 100*time.Millisecond)
		}

		// The first request is 1010 seconds old.
		assert.Equal(t, 2590*time.Second, get())
		time.Sleep(time.Millisecond)
		assert.Equal(t, 2590*time.Second, get(), "rounded up")
		time.Sleep(2590*time.Second - 2*time.Millisecond)
		assert.Equal(t, time.Second, get())
		time.Sleep(time.Millisecond)
		assert.Zero(t, get(), "as it said")
		assert.Equal(t, 11*time.Second, get(), "until the second request is an hour old")
	})
}

func TestEnforceQuotas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.EnforceQuotas()
		client := svc.Client(mintlify.WithMaxRetries(0))
		create := func(client *mintlify.Client) error {
			_, err := client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "x"})
			return err
		}

		for range 100 {
			require.NoError(t, create(client))
		}
		require.ErrorIs(t, create(client), mintlify.ErrRateLimited)
		_, err := client.Jobs.Message(t.Context(), "job_1", mintlify.MessageParams{Prompt: "x"})
		require.ErrorIs(t, err, mintlify.ErrRateLimited, "messages count too")
		poll(t, client, "job_1")

		other, err := client.ForProject("other")
		require.NoError(t, err)
		require.NoError(t, create(other), "of each project")
		for range 100 {
			_, err = other.Analytics.GetVisitorPage(t.Context(), mintlify.VisitorsParams{})
			require.NoError(t, err)
		}
		_, err = client.Analytics.GetVisitorPage(t.Context(), mintlify.VisitorsParams{})
		require.ErrorIs(t, err, mintlify.ErrRateLimited, "of the organization, whatever the project")

		time.Sleep(time.Hour)
		require.NoError(t, create(client), "of an hour")
		_, err = client.Analytics.GetVisitorPage(t.Context(), mintlify.VisitorsParams{})
		require.NoError(t, err)
		assert.Len(t, svc.Jobs(), 102)
	})
}

func TestA429IsPlainTextUnlessTheTestAsksForJSON(t *testing.T) {
	for _, inJSON := range []bool{false, true} {
		svc := mintlifytest.NewService()
		svc.EnforceQuotas()
		if inJSON {
			svc.EnforceQuotasInJSON()
		}

		var err error
		for range 6 {
			_, err = svc.Client(mintlify.WithMaxRetries(0)).Deployments.TriggerPreview(t.Context(),
				mintlify.TriggerPreviewParams{Branch: "b"})
		}
		var limited *mintlify.APIError
		require.ErrorAs(t, err, &limited)
		assert.ErrorIs(t, err, mintlify.ErrRateLimited)
		assert.Contains(t, err.Error(), "Too many requests, please try again later.")
		assert.Equal(t, inJSON, limited.Header.Get("Content-Type") == "application/json")
		assert.Equal(t, inJSON, string(limited.Body) == `{"error":"Too many requests, please try again later."}`)
		assert.NotZero(t, limited.RetryAfter)
	}
}
