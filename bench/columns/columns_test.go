package columns

import (
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
	for _, column := range Exporting {
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
	for _, column := range Exporting {
		client := column.New(url, svc)
		got, err := client.Get(t.Context(), "job_1")
		require.NoError(t, err, column.Name)
		assert.Equal(t, want, got, column.Name)
		created, err := client.Create(t.Context(), "Fix the typos")
		require.NoError(t, err, column.Name)
		assert.Equal(t, want, created, column.Name)
	}
}

func TestAllColumnsReadTheSameSearches(t *testing.T) {
	svc := service.New(0)
	for _, column := range All {
		i := 0
		err := column.New(url, svc).Searches(t.Context(), bench.SearchesLimit, func(row bench.Search) {
			want := service.Search(i)
			assert.InDelta(t, want.CTR, row.CTR, 0.001, column.Name) // of oapi-codegen's it is a float32
			row.CTR = want.CTR
			assert.Equal(t, want, row, column.Name)
			i++
		})
		require.NoError(t, err, column.Name)
		assert.Equal(t, bench.SearchesLimit, i, column.Name)
	}
}

func TestAllColumnsReadTheSameConversations(t *testing.T) {
	svc := service.New(0)
	for _, column := range All {
		i := 0
		err := column.New(url, svc).Conversations(t.Context(), bench.ConversationsLimit, func(row bench.Conversation) {
			assert.Equal(t, service.Conversation(i), row, column.Name)
			i++
		})
		require.NoError(t, err, column.Name)
		assert.Equal(t, bench.ConversationsLimit, i, column.Name)
	}
}

func TestAColumnReturnsAnErrorWhereTheServiceDoes(t *testing.T) {
	missing := service.Fixed{Status: 404, Body: []byte(`{"error":"no such thing"}`)}
	for _, column := range Exporting {
		client := column.New(url, missing)
		_, err := client.Get(t.Context(), "job_1")
		assert.Error(t, err, column.Name)
		_, err = client.Create(t.Context(), "Fix the typos")
		assert.Error(t, err, column.Name)
		assert.Error(t, client.Export(t.Context(), 0, func(bench.Row) {}), column.Name)
		assert.Error(t, client.Searches(t.Context(), 1, func(bench.Search) {}), column.Name)
		assert.Error(t, client.Conversations(t.Context(), 1, func(bench.Conversation) {}), column.Name)
	}
}
