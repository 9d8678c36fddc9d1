//go:build race

package once_test

const manyHistories = 200 // the race detector is slow
