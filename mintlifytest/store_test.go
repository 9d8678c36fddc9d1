package mintlifytest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
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

// forgetful is a store that leaves out what a follow-up follows: it would become a new job.
type forgetful struct{ once.Store }

func (f forgetful) Put(ctx context.Context, r once.Record) error {
	r.After = ""
	return f.Store.Put(ctx, r)
}

// noFollowUps is a store that refuses follow-ups.
type noFollowUps struct{ once.Store }

func (n noFollowUps) Put(ctx context.Context, r once.Record) error {
	if r.After != "" {
		return errors.ErrUnsupported
	}
	return n.Store.Put(ctx, r)
}

func TestStoreKeepsOrRefusesAfter(t *testing.T) {
	if os.Getenv("FORGETFUL_STORE") != "" {
		public := mintlifytest.WithPublicRecords()
		mintlifytest.TestStore(t, func(*testing.T) once.Store { return forgetful{once.NewMemory()} }, public)
		return
	}

	mintlifytest.TestStore(t, func(*testing.T) once.Store { return noFollowUps{once.NewMemory()} })

	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestStoreKeepsOrRefusesAfter$")
	again.Env = append(os.Environ(), "FORGETFUL_STORE=1")
	output, err := again.CombinedOutput()
	if err == nil || !strings.Contains(string(output), "keeps_a_follow-up") {
		t.Errorf("a store that leaves out After passes: %v\n%s", err, output)
	}
}
