package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/bench/figures"
)

func TestChangesNameWhatIsNotAsItWas(t *testing.T) {
	before := []committed{{"page bytes", 0.21, 0.20, 0.22}, {"get cpu", 1.2, 1.0, 1.5}, {"create cpu", 1.2, 1.1, 1.5}, {"size", 1.1, 1.1, 1.1}, {"old", 1, 1, 1}}
	now := []committed{{"page bytes", 0.25, 0.25, 0.25}, {"get cpu", 1.3, 1.0, 1.5}, {"create cpu", 1.0, 1.0, 1.0}, {"size", 1.1, 1.1, 1.1}, {"fresh", 2, 2, 2}}
	assert.Equal(t, `| SDK to loop | committed | now | |
|---|---|---|---|
| page bytes | 0.21 (0.20 to 0.22) | 0.25 | **more than ever before** |
| get cpu | 1.20 (1.00 to 1.50) | 1.30 | as far as runs differ |
| create cpu | 1.20 (1.10 to 1.50) | 1.00 | less than ever before |
| fresh | | 2.00 | new |
| old | 1.00 | | gone |
`, changes(before, now))
	assert.Equal(t, "Nothing has changed since the committed figures.\n", changes(before, before))
}

func TestCommittedFiguresAreReadAsTheyWereWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "figures.json")
	none, err := readCommitted(path)
	require.NoError(t, err)
	assert.Empty(t, none)
	list := []committed{{"page bytes", 0.21, 0.2, 0.22}, {"get cpu", 1.2, 1, 1.5}}
	require.NoError(t, writeCommitted(path, list))
	got, err := readCommitted(path)
	require.NoError(t, err)
	assert.Equal(t, list, got)
}

func TestSummaryTellsRowsApart(t *testing.T) {
	set := figures.Set{}
	for _, r := range rows {
		for _, column := range []string{"loop", "sdk", "prefetch", "prefetch4"} {
			set.Add(figures.Figure{Row: r.figure, Column: column, Value: 2})
			set.Add(figures.Figure{Row: r.base.figure, Column: r.base.column, Value: 2})
		}
	}
	names := map[string]bool{}
	for _, row := range summary(set) {
		assert.False(t, names[row.Row], row.Row)
		names[row.Row] = true
	}
	assert.NotEmpty(t, names)
}

func TestARowThatMissesItsAimIsNamed(t *testing.T) {
	set := figures.Set{}
	for column, bytes := range map[string]float64{"loop": 100, "sdk": 23} {
		set.Add(figures.Figure{Row: "page bytes", Column: column, Value: bytes})
	}
	require.Len(t, misses(set), 1)
	assert.Contains(t, misses(set)[0], "a page of 250 rows: bytes allocated")
	set["page bytes"]["sdk"] = []float64{22}
	assert.Empty(t, misses(set))
}
