// Package stores tests package once with real databases and real processes. It is a
// module of its own, so that the SDK requires no driver.
package stores
