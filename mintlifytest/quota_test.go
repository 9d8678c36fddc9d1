package mintlifytest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func TestQuotas(t *testing.T) {
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
			_, err = other.Analytics.GetVisitors(t.Context(), mintlify.VisitorsParams{})
			require.NoError(t, err)
		}
		_, err = client.Analytics.GetVisitors(t.Context(), mintlify.VisitorsParams{})
		require.ErrorIs(t, err, mintlify.ErrRateLimited, "of the organization, whatever the project")
		time.Sleep(time.Hour)
		require.NoError(t, create(client), "of an hour")
		_, err = client.Analytics.GetVisitors(t.Context(), mintlify.VisitorsParams{})
		require.NoError(t, err)
		assert.Len(t, svc.Jobs(), 102)
	})
}
