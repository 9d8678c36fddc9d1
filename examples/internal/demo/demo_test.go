package demo

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func TestConnectSaysWhereTo(t *testing.T) {
	t.Setenv("MINTLIFY_API_KEY", mintlifytest.APIKey)
	t.Setenv("MINTLIFY_PROJECT_ID", "acme")
	t.Setenv("MINTLIFY_BASE_URL", "")
	svc := mintlifytest.NewService()
	svc.SetVisitors(Visitors(3))

	var out bytes.Buffer
	client, err := Connect(&out, svc, "A whim")
	require.NoError(t, err)
	assert.Equal(t, "A whim: using a fake of the service inside this program (mintlifytest).\n", out.String())
	page, err := client.Analytics.GetVisitorPage(t.Context(), mintlify.VisitorsParams{})
	require.NoError(t, err)
	assert.Equal(t, Visitors(3), page.Visitors)

	out.Reset()
	_, err = Connect(&out, svc, "")
	require.NoError(t, err)
	assert.Equal(t, "Using the service, project acme.\n", out.String())
	assert.Len(t, svc.Requests(), 1)

	out.Reset()
	t.Setenv("MINTLIFY_PROJECT_ID", "")
	_, err = Connect(&out, svc, "")
	assert.ErrorContains(t, err, "MINTLIFY_PROJECT_ID")
	assert.Empty(t, out.String())
}
