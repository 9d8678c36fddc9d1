//go:build !race

package mintlifytest_test

const manyJobs = 100_000
