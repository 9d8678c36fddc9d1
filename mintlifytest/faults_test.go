package mintlifytest_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func TestFaults(t *testing.T) {
	svc := mintlifytest.NewService()
	server := httptest.NewServer(svc)
	defer server.Close()
	onSocket, err := mintlify.NewClient(mintlifytest.APIKey, mintlifytest.ProjectID, mintlify.WithBaseURL(server.URL), mintlify.WithMaxRetries(0))
	require.NoError(t, err)
	for where, client := range map[string]*mintlify.Client{"memory": svc.Client(mintlify.WithMaxRetries(0)), "socket": onSocket} {
		t.Run(where, func(t *testing.T) {
			svc.AddJob("j", mintlifytest.Step{}, mintlifytest.Step{Fault: &mintlifytest.Fault{Status: 503, Header: http.Header{"retry-after": {"7"}}, Body: "down"}}, mintlifytest.Step{Status: mintlify.JobCompleted})
			fail := func(f mintlifytest.Fault) error {
				svc.FailNext(mintlify.OpGetJob, 1, f)
				_, err := client.Jobs.Get(t.Context(), "j")
				return err
			}
			assert.ErrorIs(t, fail(mintlifytest.Fault{Status: 500}), mintlify.ErrServer)
			assert.ErrorIs(t, fail(mintlifytest.Fault{Body: "<html>"}), mintlify.ErrMalformedResponse)
			assert.ErrorIs(t, fail(mintlifytest.Fault{Truncate: true}), io.ErrUnexpectedEOF)
			assert.Error(t, fail(mintlifytest.Fault{Drop: true}))
			seen := len(svc.Requests())
			assert.Error(t, fail(mintlifytest.Fault{Refuse: true}))
			assert.Len(t, svc.Requests(), seen, "the service sees nothing of it")

			assert.Equal(t, mintlify.JobActive, poll(t, client, "j").Status, "the script did not go on")
			_, err := client.Jobs.Get(t.Context(), "j")
			var apiErr *mintlify.APIError
			require.ErrorAs(t, err, &apiErr)
			assert.Equal(t, 7*time.Second, apiErr.RetryAfter)
			assert.Equal(t, "down", apiErr.Message)
			assert.NoError(t, fail(mintlifytest.Fault{}), "the zero fault is none")
			assert.Equal(t, mintlify.JobCompleted, poll(t, client, "j").Status)
		})
	}
}

func TestFaultsComeInTheOrderTheyWereAskedFor(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.AddJob("j")
	svc.FailNext(mintlify.OpGetJob, 2, mintlifytest.Fault{Status: 500})
	svc.FailNext(mintlify.OpGetJob, 1, mintlifytest.Fault{Status: 404})
	svc.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Status: 409})
	client := svc.Client(mintlify.WithMaxRetries(0))
	for _, kind := range []error{mintlify.ErrServer, mintlify.ErrServer, mintlify.ErrNotFound, nil} {
		_, err := client.Jobs.Get(t.Context(), "j")
		assert.ErrorIs(t, err, kind)
	}
}

func TestDelayEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		svc.AddJob("j", mintlifytest.Step{Status: mintlify.JobCompleted})
		svc.FailNext(mintlify.OpGetJob, 2, mintlifytest.Fault{Delay: 10 * time.Second})
		client := svc.Client()
		start := time.Now()
		assert.Equal(t, mintlify.JobCompleted, poll(t, client, "j").Status, "late, but a success")
		assert.Equal(t, 10*time.Second, time.Since(start))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := client.Jobs.Get(ctx, "j")
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 11*time.Second, time.Since(start))
	})
}
