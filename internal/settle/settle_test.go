package settle_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/settle"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func TestOf(t *testing.T) {
	settling := func(d time.Duration) mintlify.Option {
		return mintlify.WithWaitDefaults(mintlify.WithSettleTime(d))
	}
	svc := mintlifytest.NewService()
	sender := mintlify.WithHTTPClient(&http.Client{Transport: svc})

	for name, tc := range map[string]struct {
		opts      []mintlify.Option
		own       time.Duration
		isInstant bool
	}{
		"no option":        {opts: []mintlify.Option{sender}},
		"a time":           {opts: []mintlify.Option{sender, settling(time.Minute)}, own: time.Minute},
		"0":                {opts: []mintlify.Option{sender, settling(0)}},
		"the fake":         {opts: svc.Options(), isInstant: true},
		"the fake, slower": {opts: append(svc.Options(), settling(time.Minute)), own: time.Minute, isInstant: true},
		"the real times":   {opts: append(svc.Options(), mintlifytest.WithRealSchedule())},
	} {
		client, err := mintlify.NewClient(mintlifytest.APIKey, mintlifytest.ProjectID, tc.opts...)
		require.NoError(t, err)

		own, isInstant := settle.Of(client)
		assert.Equal(t, tc.own, own, name)
		assert.Equal(t, tc.isInstant, isInstant, name)
	}
	assert.Empty(t, svc.Requests())
}
