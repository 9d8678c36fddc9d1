// Package test tests what ranges over the SDK's files, faults or documents, by public names only.
package test

import (
	"log"
	"os"
	"testing"
)

// TestMain runs the tests in the module's root, where the documents and the sources are. A worker
// of a fuzz target starts there.
func TestMain(m *testing.M) {
	if _, err := os.Stat("go.mod"); err != nil {
		if err := os.Chdir("../.."); err != nil {
			log.Fatal(err)
		}
	}
	os.Exit(m.Run())
}
