package mintlifytest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mintlify-community/mintlify-go/once"
)

// StoreOption changes what [TestStore] asks of a store.
type StoreOption func(*storeTest)

// WithPublicRecords is for a store that others can read, which leaves out a record's
// Prompt, Project and Problem. It keeps After, or its Put refuses a record that has one.
func WithPublicRecords() StoreOption { return func(s *storeTest) { s.public = true } }

// storeTest tests a store.
type storeTest struct {
	open   func(t *testing.T) once.Store
	public bool
}

// TestStore checks that a [once.Store] does what package once relies on. open returns an
// empty store, and is called once for each of the checks. A store that cannot list passes, and
// so does a store whose Put returns errors.ErrUnsupported for a record with After.
// It cannot check that a record survives a crash.
//
//	func TestMyStore(t *testing.T) {
//		mintlifytest.TestStore(t, func(t *testing.T) once.Store { return newMyStore(t) })
//	}
func TestStore(t *testing.T, open func(t *testing.T) once.Store, opts ...StoreOption) {
	s := storeTest{open: open}
	for _, opt := range opts {
		opt(&s)
	}

	for name, check := range map[string]func(*testing.T, once.Store){
		"keeps a record":           s.keeps,
		"keeps a follow-up":        s.keepsFollowUp,
		"puts the next version":    s.conflicts,
		"lets one of many win":     s.races,
		"tells keys apart":         s.tellsKeysApart,
		"lists by state":           s.lists,
		"heeds an ended context":   s.endsWithContext,
		"knows no record of a key": s.knowsNone,
	} {
		t.Run(name, func(t *testing.T) {
			t.Helper()
			check(t, s.open(t))
		})
	}
}

// storeRecord is a record with a value in every field.
func storeRecord(key string, version int, state once.State) once.Record {
	now := time.Date(2026, time.March, 1, 12, 0, version, 123456000, time.UTC)
	return once.Record{
		Task:     once.Task{Key: key, Prompt: "Document \"--json\" <b>\n\tü 文 \U0001F680", Project: "project-1"},
		Version:  version,
		State:    state,
		Sends:    2,
		Sender:   "SENDER",
		Deadline: now.Add(time.Minute),
		JobID:    "job_1",
		PRLink:   "https://example.com/pull/1?a=b&c=d",
		Problem:  "429: try 'later'",
		Updated:  now,
	}
}

// want returns what the store must return for r.
func (s storeTest) want(r once.Record) once.Record {
	if s.public {
		r.Prompt = ""
		r.Project = ""
		r.Problem = ""
	}
	return r
}

func mustPut(t *testing.T, store once.Store, records ...once.Record) {
	t.Helper()
	for _, r := range records {
		if err := store.Put(t.Context(), r); err != nil {
			t.Fatalf("Put of version %d of %s: %v", r.Version, r.Key, err)
		}
	}
}

func (s storeTest) mustHave(t *testing.T, store once.Store, r once.Record) {
	t.Helper()
	got, err := store.Get(t.Context(), r.Key)
	if err != nil {
		t.Fatalf("Get of %s: %v", r.Key, err)
	}
	if got != s.want(r) {
		t.Fatalf("Get of %s returned\n%+v\nwant\n%+v", r.Key, got, s.want(r))
	}
}

func (s storeTest) keeps(t *testing.T, store once.Store) {
	states := []once.State{
		once.Pending, once.Sending, once.Unknown, once.Pending, once.Canceled,
		once.Refused, once.Failed, once.Running, once.Done,
	}
	for version, state := range states {
		r := storeRecord("acme/api@1", version+1, state)
		mustPut(t, store, r)
		s.mustHave(t, store, r)
	}

	withZeroValues := once.Record{
		Task:    once.Task{Key: "acme/api@2", Prompt: "x"},
		Version: 1,
		State:   once.Pending,
		Updated: time.Unix(1, 0).UTC(),
	}
	mustPut(t, store, withZeroValues)
	s.mustHave(t, store, withZeroValues)
}

// A follow-up that is read back without After would become a new job.
func (s storeTest) keepsFollowUp(t *testing.T, store once.Store) {
	first := storeRecord("acme/api@1#comment-2", 1, once.Pending)
	first.After = "acme/api@1"
	err := store.Put(t.Context(), first)
	if errors.Is(err, errors.ErrUnsupported) {
		return
	}
	if err != nil {
		t.Fatalf("Put of a record with After: %v, want nil or errors.ErrUnsupported", err)
	}
	s.mustHave(t, store, first)

	second := storeRecord(first.Key, 2, once.Running)
	second.After = first.After
	mustPut(t, store, second)
	s.mustHave(t, store, second)
}

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

func (s storeTest) races(t *testing.T, store once.Store) {
	const rounds, racers = 5, 8
	for version := 1; version <= rounds; version++ {
		errs := make([]error, racers)
		var all sync.WaitGroup
		for i := range racers {
			all.Go(func() {
				r := storeRecord("k", version, once.Sending)
				r.Sender = fmt.Sprint("sender-", i)
				errs[i] = store.Put(t.Context(), r)
			})
		}
		all.Wait()

		winner := slices.Index(errs, nil)
		for i, err := range errs {
			if i != winner && !errors.Is(err, once.ErrConflict) {
				t.Fatalf("of %d that put version %d at once, number %d got %v: "+
					"want nil for one and ErrConflict for the others", racers, version, i, err)
			}
		}
		if winner < 0 {
			t.Fatalf("of %d that put version %d at once, nobody won", racers, version)
		}

		r := storeRecord("k", version, once.Sending)
		r.Sender = fmt.Sprint("sender-", winner)
		s.mustHave(t, store, r)
	}
}

func (s storeTest) tellsKeysApart(t *testing.T, store once.Store) {
	long := string(slices.Repeat([]byte("k"), 300))
	keys := []string{
		"acme/api@1", "acme/api@10", "ACME/api@1", "acme-api-1", "../acme", ".", "..", "NUL",
		"a%2Fb", "a'b\"c", "%", "ключ", long, long[:299] + "x",
	}

	for i, key := range keys {
		mustPut(t, store, storeRecord(key, 1, once.Pending))
		for _, later := range keys[i+1:] {
			if got, err := store.Get(t.Context(), later); err != nil || got != (once.Record{}) {
				t.Fatalf("after a Put of %q, Get of %q returned %+v, %v", key, later, got, err)
			}
		}
	}

	for _, key := range keys {
		s.mustHave(t, store, storeRecord(key, 1, once.Pending))
	}
}

func (s storeTest) lists(t *testing.T, store once.Store) {
	list := func(states ...once.State) []once.Record {
		t.Helper()
		records, err := store.List(t.Context(), states...)
		if errors.Is(err, errors.ErrUnsupported) {
			t.Skip("it cannot list")
		}
		if err != nil {
			t.Fatalf("List: %v", err)
		}
		return records
	}

	if records := list(); len(records) != 0 {
		t.Fatalf("List of an empty store returned %v", records)
	}

	newest := storeRecord("a", 1, once.Pending)
	newest.Updated = newest.Updated.Add(time.Hour)
	oldest := storeRecord("b", 1, once.Done)
	oldest.Updated = oldest.Updated.Add(-time.Hour)
	middle := storeRecord("c", 1, once.Pending)
	changed := storeRecord("c", 2, once.Running)
	mustPut(t, store, newest, oldest, middle, changed)

	all := []once.Record{s.want(oldest), s.want(changed), s.want(newest)}
	for _, test := range []struct {
		states []once.State
		want   []once.Record
	}{
		{nil, all},
		{[]once.State{once.Pending}, all[2:]},
		{[]once.State{once.Pending, once.Running, once.Unknown}, all[1:]},
		{[]once.State{once.Failed}, nil},
	} {
		if got := list(test.states...); !slices.Equal(got, test.want) {
			t.Fatalf("List of %v returned\n%+v\nwant\n%+v", test.states, got, test.want)
		}
	}
}

func (s storeTest) endsWithContext(t *testing.T, store once.Store) {
	mustPut(t, store, storeRecord("k", 1, once.Pending))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	if _, err := store.Get(ctx, "k"); err == nil {
		t.Error("Get with an ended context returned no error")
	}
	if _, err := store.List(ctx); err == nil {
		t.Error("List with an ended context returned no error")
	}
	s.mustHave(t, store, storeRecord("k", 1, once.Pending))
}

func (s storeTest) knowsNone(t *testing.T, store once.Store) {
	got, err := store.Get(t.Context(), "k")
	if err != nil || got != (once.Record{}) {
		t.Fatalf("Get of a key without a record returned %+v, %v: want the zero Record", got, err)
	}
}
