//go:build !race

package mintlifytest_test

const (
	manyJobs        = 100_000
	pageAllocations = 7_500 // of 20 pages of 250 rows
)
