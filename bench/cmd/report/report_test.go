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
	measured, err := read(strings.NewReader(`{"row":"cpu","column":"loop","value":1000}
{"row":"cpu","column":"sdk","value":1500}
{"row":"cpu","column":"sdk","value":1999.96}
{"row":"cpu","column":"loop","value":4000}
{"row":"failures","column":"loop","value":0}
{"row":"failures","column":"sdk","value":3}
`))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "figures.json")
	require.NoError(t, summarize(measured, 2).write(path))
	got, err := load(path)
	require.NoError(t, err)
	assert.Equal(t, 2, got.Runs)
	assert.Equal(t, []summary{
		{"cpu", "loop", 2500, &ratio{1, 1, 1}},
		{"cpu", "sdk", 1750, &ratio{1, 0.5, 1.5}},
		{"failures", "loop", 0, nil},
		{"failures", "sdk", 3, nil},
	}, got.Figures)
}

func TestARowNamesAMissedAim(t *testing.T) {
	var f figures
	for _, column := range []string{"loop", "retryable", "oapi", "ogen"} {
		f.Figures = append(f.Figures, summary{"peak", column, 10 << 20, nil}, summary{"failures", column, 0, nil})
	}
	f.Figures = append(f.Figures, summary{"peak", "sdk", 11 << 20, &ratio{1.1, 1, 1.125}}, summary{"failures", "sdk", 3, nil})
	for want, call := range map[string][5]string{
		"| peak: MiB | 10 | 10 | 10 | 10 | 11 | 1.10 (1.00–1.12) | 1.10 |":            {"peak", "sdk", "peak: MiB", "MiB", "1.10"},
		"| peak: MiB | 10 | 10 | 10 | 10 | 11 | 1.10 (1.00–1.12) | 1.09 **missed** |": {"peak", "sdk", "peak: MiB", "MiB", "1.09"},
		"| failed | 0 | 0 | 0 | 0 | 3 |  | 0 **missed** |":                            {"failures", "sdk", "failed", "", "0"},
		"| failed | 0 | 0 | 0 | 0 | 3 |  |  |":                                        {"failures", "sdk", "failed", "", ""},
	} {
		got, err := f.row(call[0], call[1], call[2], call[3], call[4])
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	_, err := f.row("no such row", "sdk", "", "", "")
	assert.ErrorContains(t, err, "no such row")
}
