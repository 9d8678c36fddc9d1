package clients

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/bench"
	"github.com/mintlify-community/mintlify-go/bench/oapi"
	"github.com/mintlify-community/mintlify-go/bench/service"
)

func TestAllColumnsReadTheSameRows(t *testing.T) {
	for _, rows := range []int{1000, 1030} { // the last page is full, or is not
		svc := service.New(rows)
		for _, column := range Exporting {
			for _, limit := range []int{0, bench.DefaultLimit, bench.MaxLimit} {
				requireRows(t, svc, column, limit, rows)
			}
		}
	}
}

func requireRows(t *testing.T, svc *service.Service, column Column, limit, rows int) {
	client := column.New(service.Nowhere, svc)
	i := 0
	err := bench.Export(t.Context(), client, limit, column.Prefetch, func(row bench.Row) {
		require.Equal(t, service.Row(i), row, column.Name)
		i++
	})
	require.NoError(t, err, column.Name)
	assert.Equal(t, rows, i, column.Name)
}

func TestAllColumnsReadTheSameJob(t *testing.T) {
	svc := service.New(0)
	want, err := All[0].New(service.Nowhere, svc).Get(t.Context(), "job_1")
	require.NoError(t, err)
	assert.Equal(t, "job_1", want.ID)
	assert.Equal(t, "https://github.com/example/docs", want.Repository)

	for _, column := range All {
		client := column.New(service.Nowhere, svc)
		got, err := client.Get(t.Context(), "job_1")
		require.NoError(t, err, column.Name)
		assert.Equal(t, want, got, column.Name)
		created, err := client.Create(t.Context(), "Fix the typos")
		require.NoError(t, err, column.Name)
		assert.Equal(t, want, created, column.Name)
	}
}

func TestAllColumnsReturnTheServicesError(t *testing.T) {
	missing := service.Fixed{Status: http.StatusNotFound, Body: []byte(`{"error":"not found"}`)}
	for _, column := range All {
		client := column.New(service.Nowhere, missing)
		for _, call := range service.Calls {
			assert.Error(t, call.Do(t.Context(), client), "%s: %s", column.Name, call.Name)
		}
	}
}

// docs/performance.md says so. If this fails, delete the sentence there.
func TestOapiCodegenRoundsCountsBeyond24Bits(t *testing.T) {
	body := `{"totals":{"human":0,"ai":0,"total":0},"hasMore":false,` +
		`"visitors":[{"path":"/","human":16777217,"ai":0,"total":0}]}`
	client := oapi.New(service.Nowhere, service.Fixed{Status: http.StatusOK, Body: []byte(body)})
	_, err := client.Page(t.Context(), 0, bench.MaxLimit, func(row bench.Row) {
		assert.EqualValues(t, 16777216, row.Human)
	})
	require.NoError(t, err)
}
