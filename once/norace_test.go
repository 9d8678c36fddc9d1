//go:build !race

package once_test

const manyHistories = 5000
