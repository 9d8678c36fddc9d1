package oncetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mintlify-community/mintlify-go/once"
)

const racers = 8 // goroutines that put at the same time

func (s storeTest) conflicts(t *testing.T, store once.Store) {
	refused := func(version int) {
		t.Helper()
		err := store.Put(t.Context(), storeRecord("k", version, once.Done))
		if !errors.Is(err, once.ErrConflict) {
			t.Fatalf("Put of version %d returned %v, want ErrConflict", version, err)
		}
	}

	refused(2)
	first := storeRecord("k", 1, once.Pending)
	mustPut(t, store, first)
	refused(1)
	refused(3)
	s.mustHave(t, store, first)

	second := storeRecord("k", 2, once.Sending)
	mustPut(t, store, second)
	for _, version := range []int{1, 2, 4} {
		refused(version)
	}
	s.mustHave(t, store, second)
}

// Two that both think that they have put a version would both send.
func (s storeTest) races(t *testing.T, store once.Store) {
	const rounds = 5
	for version := 1; version <= rounds; version++ {
		claim := func(i int) once.Record {
			r := storeRecord("k", version, once.Sending)
			r.Sender = fmt.Sprint("sender-", i)
			return r
		}

		errs := atOnce(func(i int) error { return store.Put(t.Context(), claim(i)) })

		winner := slices.Index(errs, nil)
		if winner < 0 {
			t.Fatalf("of %d that put version %d at once, nobody won: %v", racers, version, errs[0])
		}

		for i, err := range errs {
			if i != winner && !errors.Is(err, once.ErrConflict) {
				t.Fatalf("of %d that put version %d at once, number %d got %v: "+
					"want nil for one and ErrConflict for the others", racers, version, i, err)
			}
		}
		s.mustHave(t, store, claim(winner))
	}
}

// atOnce calls f with 0, 1 and so on at the same time, and returns the errors.
func atOnce(f func(i int) error) []error {
	errs := make([]error, racers)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = f(i) })
	}
	all.Wait()
	return errs
}

func (s storeTest) tellsKeysApart(t *testing.T, store once.Store) {
	long := strings.Repeat("k", 300)
	keys := []string{
		"acme/api@1", "acme/api@10", "ACME/api@1", "acme/api@1#2", "acme/api", "acme-api", "acme_api", "acme", "acme/",
		"acme//api", "../acme", ".", "..", "NUL", "a%2Fb", "a/b", "a+b", "a?b", "a'b\"c", "a\\b", "%", "_", "*",
		"ключ", "КЛЮЧ", "e\u0301", "\u00e9", long, long[:299] + "x",
	}

	for i, key := range keys {
		mustPut(t, store, storeRecord(key, 1, once.Pending))
		for _, later := range keys[i+1:] {
			got, err := store.Get(t.Context(), later)
			if err != nil || got != (once.Record{}) {
				t.Fatalf("after a Put of %q, Get of %q returned %+v, %v", key, later, got, err)
			}
		}
	}

	for _, key := range keys {
		s.mustHave(t, store, storeRecord(key, 1, once.Pending))
	}
}

// A store that keeps all records in one place must not lose one to another.
func (s storeTest) keepsKeysPutAtOnce(t *testing.T, store once.Store) {
	const versions = 3
	key := func(i int) string { return fmt.Sprint("acme/api@", i) }
	for version := 1; version <= versions; version++ {
		errs := atOnce(func(i int) error {
			r := storeRecord(key(i), version, once.Pending)
			return store.Put(t.Context(), r)
		})

		for i, err := range errs {
			if err != nil {
				t.Fatalf("of %d Puts at once, each of another key, that of %s returned %v", racers, key(i), err)
			}
		}
	}

	for i := range racers {
		s.mustHave(t, store, storeRecord(key(i), versions, once.Pending))
	}
}
