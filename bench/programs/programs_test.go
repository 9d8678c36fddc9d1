package programs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The README of examples/visitors says so too.
func TestAReportTakesAsManyRequestsAsItSays(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	rows, err := Measure(t.Context(), "../..")
	require.NoError(t, err)
	table := Table(rows)
	_, counts, _ := strings.Cut(table, "| visitors-report")
	assert.Equal(t, ` over 4 weeks, a site of 250 pages | 30 requests |
| the same report once more | 0 requests |
| visitors-report over 4 weeks, a site of 1000 pages | 36 requests |
| the same report once more | 0 requests |
`, counts)
	assert.Contains(t, table, "| docs-on-merge, from its start to its first request")
}
