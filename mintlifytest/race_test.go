//go:build race

package mintlifytest_test

const (
	manyJobs        = 10_000 // the race detector is slow
	pageAllocations = 8_000  // and allocates, and empties pools
)
