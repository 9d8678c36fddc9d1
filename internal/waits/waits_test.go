package waits_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/waits"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func TestSilent(t *testing.T) {
	called := 0
	counting := mintlify.WithOnPoll(func(mintlify.Poll) { called++ })
	svc := mintlifytest.NewService()
	svc.AddJob("j")
	jobs := svc.Client(mintlify.WithWaitDefaults(counting)).Jobs

	_, err := jobs.Poll(t.Context(), "j", 0, waits.Silent, counting)
	require.NoError(t, err)
	assert.Zero(t, called)

	_, err = jobs.Poll(t.Context(), "j", 0, counting)
	require.NoError(t, err)
	assert.Equal(t, 2, called, "the next poll is not silent")
}

func TestReveal(t *testing.T) {
	svc := mintlifytest.NewService()
	client := svc.Client(mintlify.WithWaitDefaults(mintlify.WithSettleTime(time.Minute)))

	_, err := client.Jobs.WaitUntilDone(t.Context(), "j", waits.Reveal)
	want := &waits.Revealed{Settings: waits.Settings{SettleTime: time.Minute, HasSettleTime: true, Instant: true}}
	assert.Equal(t, want, err)
	assert.NotEmpty(t, err.Error())
	assert.Empty(t, svc.Requests())
}
