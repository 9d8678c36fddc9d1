package mintlifytest_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func TestClientPanicsOnABadOption(t *testing.T) {
	assert.Panics(t, func() { mintlifytest.NewService().Client(mintlify.WithMaxRetries(-1)) })
}

func TestServiceIsSafeForManyGoroutines(t *testing.T) {
	svc := mintlifytest.NewService()
	client := svc.Client()
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			job, err := client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "x"})
			if assert.NoError(t, err) {
				_, err = client.Jobs.WaitUntilDone(t.Context(), job.ID)
				assert.NoError(t, err)
			}
			svc.Requests()
			svc.Jobs()
		})
	}
	all.Wait()
	assert.Len(t, svc.Jobs(), 50)
}
