// Package oncetest tests stores of package once, and has one in memory for tests.
package oncetest
