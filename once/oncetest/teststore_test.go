package oncetest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/mintlify-community/mintlify-go/once"
	"github.com/mintlify-community/mintlify-go/once/oncetest"
)

func TestStoresOfPackageOnce(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		oncetest.TestStore(t, func(*testing.T) once.Store { return oncetest.NewStore() })
	})

	t.Run("directory", func(t *testing.T) {
		oncetest.TestStore(t, func(t *testing.T) once.Store {
			dir, err := once.NewDir(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			return dir
		})
	})
	t.Run("public", func(t *testing.T) {
		open := func(*testing.T) once.Store { return publicStore{oncetest.NewStore()} }
		oncetest.TestPublicStore(t, open)
	})
}

// publicStore leaves out what others must not read.
type publicStore struct{ once.Store }

func (p publicStore) Put(ctx context.Context, r once.Record) error {
	return p.Store.Put(ctx, public(r))
}

func public(r once.Record) once.Record {
	r.Prompt = ""
	r.ProjectID = ""
	r.Problem = ""
	return r
}

// noFollowUps is a store that refuses follow-ups.
type noFollowUps struct{ once.Store }

func (n noFollowUps) Put(ctx context.Context, r once.Record) error {
	if r.After != "" {
		return errors.ErrUnsupported
	}
	return n.Store.Put(ctx, r)
}

func TestStoreMayRefuseFollowUps(t *testing.T) {
	oncetest.TestStore(t, func(*testing.T) once.Store { return noFollowUps{oncetest.NewStore()} })
}
