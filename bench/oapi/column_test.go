package oapi

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/bench"
	"github.com/mintlify-community/mintlify-go/bench/service"
)

// docs/performance.md says so. Where this fails, take the sentence out.
func TestGeneratedCountIsNotExactBeyond24Bits(t *testing.T) {
	body := `{"totals":{"human":0,"ai":0,"total":0},"visitors":[{"path":"/","human":16777217,"ai":0,"total":0}],"hasMore":false}`
	client := New("http://127.0.0.1:1", service.Fixed{Status: http.StatusOK, Body: []byte(body)})
	_, err := client.Page(t.Context(), 0, bench.MaxLimit, func(row bench.Row) { assert.EqualValues(t, 16777216, row.Human) })
	require.NoError(t, err)
}
