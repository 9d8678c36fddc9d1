package mintlifytest_test

import (
	"context"
	"testing"

	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
)

func TestStoresOfPackageOnce(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		mintlifytest.TestStore(t, func(*testing.T) once.Store { return once.NewMemory() })
	})
	t.Run("directory", func(t *testing.T) {
		mintlifytest.TestStore(t, func(t *testing.T) once.Store {
			dir, err := once.NewDir(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			return dir
		})
	})
	t.Run("public", func(t *testing.T) {
		open := func(*testing.T) once.Store { return public{once.NewMemory()} }
		mintlifytest.TestStore(t, open, mintlifytest.WithPublicRecords())
	})
}

// public is a store that leaves out what others must not read.
type public struct{ once.Store }

func (p public) Put(ctx context.Context, r once.Record) error {
	r.Prompt = ""
	r.Project = ""
	r.Problem = ""
	return p.Store.Put(ctx, r)
}
