package columns

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/bench"
	"github.com/mintlify-community/mintlify-go/bench/service"
)

const url = "http://127.0.0.1:1" // nothing listens there: the transport is in memory

func TestAllColumnsReadTheSameRows(t *testing.T) {
	const rows = 1030 // the last page is not full
	svc := service.New(rows)
	for _, column := range append(slices.Clip(All), Prefetching) {
		t.Run(column.Name, func(t *testing.T) {
			for _, limit := range []int{0, bench.DefaultLimit, bench.MaxLimit} {
				i := 0
				err := column.New(url, svc).Export(t.Context(), limit, func(row bench.Row) {
					assert.Equal(t, service.Row(i), row)
					i++
				})
				require.NoError(t, err)
				assert.Equal(t, rows, i)
			}
		})
	}
}

func TestAllColumnsReadTheSameJob(t *testing.T) {
	svc := service.New(0)
	want, err := All[0].New(url, svc).Get(t.Context(), "job_1")
	require.NoError(t, err)
	assert.Equal(t, "job_1", want.ID)
	assert.Equal(t, "https://github.com/example/docs", want.Repository)
	for _, column := range append(slices.Clip(All), Prefetching) {
		client := column.New(url, svc)
		got, err := client.Get(t.Context(), "job_1")
		require.NoError(t, err, column.Name)
		assert.Equal(t, want, got, column.Name)
		created, err := client.Create(t.Context(), "Fix the typos")
		require.NoError(t, err, column.Name)
		assert.Equal(t, want, created, column.Name)
	}
}

func TestAColumnReturnsAnErrorWhereTheServiceDoes(t *testing.T) {
	missing := service.Fixed{Status: 404, Body: []byte(`{"error":"no such thing"}`)}
	for _, column := range append(slices.Clip(All), Prefetching) {
		client := column.New(url, missing)
		_, err := client.Get(t.Context(), "job_1")
		assert.Error(t, err, column.Name)
		_, err = client.Create(t.Context(), "Fix the typos")
		assert.Error(t, err, column.Name)
		assert.Error(t, client.Export(t.Context(), 0, func(bench.Row) {}), column.Name)
	}
}
