package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestThePageIsMadeFromTheFigures(t *testing.T) {
	figures, err := load("../../figures.json")
	require.NoError(t, err)
	want, err := figures.render()
	require.NoError(t, err)

	got, err := os.ReadFile("../../../docs/performance.md")
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got), "run in bench: go run ./cmd/report")
}

func TestRatiosAreTakenRunByRun(t *testing.T) {
	measured, err := read(strings.NewReader(`{"row":"cpu","column":"byhand","value":1000}
{"row":"cpu","column":"sdk","value":1500}
{"row":"cpu","column":"sdk","value":1999.96}
{"row":"cpu","column":"byhand","value":4000}
{"row":"failures","column":"byhand","value":0}
{"row":"failures","column":"sdk","value":3}
`))
	require.NoError(t, err)

	path := filepath.Join(t.TempDir(), "figures.json")
	require.NoError(t, summarize(measured, 2).write(path))
	got, err := load(path)
	require.NoError(t, err)

	assert.Equal(t, 2, got.Runs)
	assert.Equal(t, []summary{
		{Row: "cpu", Column: "byhand", Median: 2500, Ratio: &ratio{Median: 1, Least: 1, Most: 1}},
		{Row: "cpu", Column: "sdk", Median: 1750, Ratio: &ratio{Median: 1, Least: 0.5, Most: 1.5}},
		{Row: "failures", Column: "byhand"},
		{Row: "failures", Column: "sdk", Median: 3},
	}, got.Figures)
}

func TestARowNamesAMissedAim(t *testing.T) {
	f := figures{Figures: []summary{
		{Row: "peak", Column: "sdk", Median: 11 << 20, Ratio: &ratio{Median: 1.1, Least: 1, Most: 1.125}},
		{Row: "failures", Column: "sdk", Median: 3},
	}}
	for _, column := range []string{"byhand", "retryable", "oapi", "ogen"} {
		f.Figures = append(f.Figures,
			summary{Row: "peak", Column: column, Median: 10 << 20},
			summary{Row: "failures", Column: column})
	}

	for _, tc := range []struct {
		row, title, unit, aim string
		want                  string
	}{
		{
			row: "peak", title: "peak: MiB", unit: "MiB", aim: "1.10",
			want: "| peak: MiB | 10 | 10 | 10 | 10 | 11 | 1.10 (1.00–1.12) | 1.10 |",
		},
		{
			row: "peak", title: "peak: MiB", unit: "MiB", aim: "1.09",
			want: "| peak: MiB | 10 | 10 | 10 | 10 | 11 | 1.10 (1.00–1.12) | 1.09 **missed** |",
		},
		{
			row: "failures", title: "failed", aim: "0",
			want: "| failed | 0 | 0 | 0 | 0 | 3 |  | 0 **missed** |",
		},
		{
			row: "failures", title: "failed",
			want: "| failed | 0 | 0 | 0 | 0 | 3 |  |  |",
		},
	} {
		got, err := f.row(tc.row, "sdk", tc.title, tc.unit, tc.aim)
		require.NoError(t, err)
		assert.Equal(t, tc.want, got)
	}

	_, err := f.row("no such row", "sdk", "", "", "")
	assert.ErrorContains(t, err, "no such row")
}
