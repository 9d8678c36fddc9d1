package oncetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mintlify-community/mintlify-go/once"
)

// list returns what the store lists. It skips the test if the store cannot list.
func list(t *testing.T, store once.Store, states ...once.State) []once.Record {
	t.Helper()
	records, err := store.List(t.Context(), states...)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("it cannot list")
	}
	if err != nil {
		t.Fatalf("List of %v: %v", states, err)
	}
	return records
}

// lister is a way to list, such as the List of a store.
type lister func(ctx context.Context, states ...once.State) ([]once.Record, error)

// firstKey is the key of the first record of the threads in these tests.
const firstKey = "acme/api@1"

// threadLister lists the thread of firstKey. It skips the test if the store cannot.
func threadLister(t *testing.T, store once.Store) lister {
	t.Helper()
	able, ok := store.(once.ThreadLister)
	if !ok {
		t.Skip("it is not a ThreadLister")
	}
	return func(ctx context.Context, _ ...once.State) ([]once.Record, error) {
		return able.ListThread(ctx, firstKey)
	}
}

// unreportedLister lists what was not reported. It skips the test if the store cannot.
func unreportedLister(t *testing.T, store once.Store) lister {
	t.Helper()
	able, ok := store.(once.UnreportedLister)
	if !ok {
		t.Skip("it is not an UnreportedLister")
	}
	return func(ctx context.Context, _ ...once.State) ([]once.Record, error) { return able.ListUnreported(ctx) }
}

// mustList checks that List returns the records, in this order.
func (s storeTest) mustList(t *testing.T, store once.Store, want []once.Record, states ...once.State) {
	t.Helper()
	name := fmt.Sprintf("List of %v, the oldest UpdatedAt first,", states)
	s.mustBe(t, name, list(t, store, states...), want)
}

// mustBe checks that a list has exactly these records, in this order.
func (s storeTest) mustBe(t *testing.T, name string, got, want []once.Record) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s returned %d records, want %d: %s", name, len(got), len(want), keysOf(got))
	}

	for i := range want {
		if different := s.differences(got[i], want[i]); different != "" {
			t.Fatalf("record %d of %s:%s", i, name, different)
		}
	}
}

// mustReturn checks that a lister returns exactly these records, in any order.
func (s storeTest) mustReturn(t *testing.T, name string, list lister, want []once.Record) {
	t.Helper()
	got, err := list(t.Context())
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}

	byKey := func(a, b once.Record) int { return strings.Compare(a.Key, b.Key) }
	slices.SortFunc(got, byKey)
	slices.SortFunc(want, byKey)
	s.mustBe(t, name, got, want)
}

// keysOf returns the first keys of a list.
func keysOf(records []once.Record) string {
	var keys []string
	for _, r := range records[:min(len(records), 10)] {
		keys = append(keys, fmt.Sprintf("%s in version %d", r.Key, r.Version))
	}
	return fmt.Sprint(keys)
}

func (s storeTest) lists(t *testing.T, store once.Store) {
	s.mustList(t, store, nil)

	newest := storeRecord("a", 1, once.Pending)
	newest.UpdatedAt = newest.UpdatedAt.Add(time.Hour)
	oldest := storeRecord("b", 1, once.Done)
	oldest.UpdatedAt = oldest.UpdatedAt.Add(-time.Hour)
	middle := storeRecord("c", 1, once.Pending)
	changed := storeRecord("c", 2, once.Running)
	mustPut(t, store, newest, oldest, middle, changed)

	all := []once.Record{oldest, changed, newest}
	s.mustList(t, store, all)
	s.mustList(t, store, all[2:], once.Pending)
	s.mustList(t, store, all[1:], once.Pending, once.Running, once.Unknown)
	s.mustList(t, store, all[:1], once.Done)
	s.mustList(t, store, nil, once.Failed)
}

// Databases and object storage list in pages, of 100 or 1,000. Before the pending records, which
// are more than that, and after them is one in another state.
func (s storeTest) listsAll(t *testing.T, store once.Store) {
	list(t, store)
	pending := 1001
	if testing.Short() {
		pending = 101
	}

	records := manyRecords(pending + 2)
	oldest := &records[0]
	oldest.State = once.Done
	newest := &records[pending+1]
	newest.State = once.Done
	putAll(t, store, records)

	s.mustList(t, store, records)
	s.mustList(t, store, records[1:pending+1], once.Pending)
	s.mustList(t, store, records[1:pending+1], once.Pending, once.Sending, once.Running)
	s.mustList(t, store, []once.Record{*oldest, *newest}, once.Done)
}

// manyRecords returns n records, the oldest first, which is not the order of their keys.
func manyRecords(n int) []once.Record {
	records := make([]once.Record, n)
	for i := range records {
		r := storeRecord(fmt.Sprint("acme/api@", i*7919%n), 1, once.Pending)
		r.UpdatedAt = r.UpdatedAt.Add(time.Duration(i) * time.Second)
		records[i] = r
	}
	return records
}

// putAll puts records, several at the same time.
func putAll(t *testing.T, store once.Store, records []once.Record) {
	t.Helper()
	errs := atOnce(func(i int) error {
		for ; i < len(records); i += racers {
			if err := store.Put(t.Context(), records[i]); err != nil {
				return fmt.Errorf("put of version 1 of %s: %w", records[i].Key, err)
			}
		}
		return nil
	})

	err := errors.Join(errs...)
	if err != nil {
		t.Fatal(err)
	}
}

// A List that leaves out a state, a follow-up or its thread hides what it is to be seen for.
func (s storeTest) listsStates(t *testing.T, store once.Store) {
	records := putOfEachState(t, store)
	s.mustList(t, store, records)

	for _, r := range records {
		of := slices.DeleteFunc(slices.Clone(records), func(other once.Record) bool { return other.State != r.State })
		s.mustList(t, store, of, r.State)
	}
}

// putOfEachState puts records of a thread in each state, the oldest first: reported or not, with a problem or
// without.
func putOfEachState(t *testing.T, store once.Store) []once.Record {
	t.Helper()
	first := storeRecord(firstKey, 1, once.Done)
	mustPut(t, store, first)

	records := []once.Record{first}
	for _, state := range []once.State{
		once.Pending, once.Sending, once.Running, once.Done, once.Failed, once.Refused, once.Unknown, once.Canceled,
	} {
		for _, reported := range []once.State{"", state} {
			r := storeRecord(comment(len(records)), 1, state)
			r.After = first.Key
			r.Thread = first.Key
			r.Reported = reported
			r.UpdatedAt = r.UpdatedAt.Add(time.Duration(len(records)) * time.Second)

			err := store.Put(t.Context(), r)
			if errors.Is(err, errors.ErrUnsupported) {
				r.After = ""
				r.Thread = ""
				err = store.Put(t.Context(), r)
			}
			if err != nil {
				t.Fatalf("Put of %s, which is %s: %v", r.Key, r.State, err)
			}

			records = append(records, r)
		}
	}
	return records
}

func (s storeTest) listsThread(t *testing.T, store once.Store) {
	list := threadLister(t, store)
	records := putOfEachState(t, store)
	mustPut(t, store, storeRecord("acme/api@2", 1, once.Pending))
	s.mustReturn(t, "ListThread", list, records)
}

func (s storeTest) listsUnreported(t *testing.T, store once.Store) {
	list := unreportedLister(t, store)
	records := putOfEachState(t, store)
	without := storeRecord("acme/api@2", 1, once.Running)
	without.Problem = ""
	mustPut(t, store, without)

	unreported := slices.DeleteFunc(records, func(r once.Record) bool {
		stored, err := store.Get(t.Context(), r.Key) // a store that others can read leaves fields out
		return err != nil || !isUnreported(stored)
	})
	s.mustReturn(t, "ListUnreported", list, unreported)
}

// isUnreported is what [once.UnreportedLister] says.
func isUnreported(r once.Record) bool {
	isTold := r.State == r.Reported || r.State == once.Pending || r.State == once.Canceled
	return !isTold && (!r.State.IsOpen() || r.Problem != "")
}

// A follow-up lists after its claim, to see whether another has one: each way to list must show each claim
// whose Put has returned.
func (s storeTest) listsPutsBefore(t *testing.T, store once.Store) {
	list(t, store)
	race{store: store, name: "List", states: atWork(), list: store.List}.run(t)
}

func (s storeTest) listsThreadPutsBefore(t *testing.T, store once.Store) {
	list := threadLister(t, store)
	race{store: store, name: "ListThread", thread: firstKey, states: atWork(), list: list}.run(t)
}

func (s storeTest) listsUnreportedPutsBefore(t *testing.T, store once.Store) {
	over := []once.State{once.Done, once.Failed}
	race{store: store, name: "ListUnreported", states: over, list: unreportedLister(t, store)}.run(t)
}

func comment(i int) string { return fmt.Sprint(firstKey, "#comment-", i) }

// race has several put a record of their own at the same time, and list right after it.
type race struct {
	store  once.Store
	name   string // of the method that lists
	thread string // of the records, or ""
	states []once.State
	list   lister
}

func atWork() []once.State { return []once.State{once.Sending, once.Running} }

// record has another state in each version than in the one before it.
func (r race) record(i, version int) once.Record {
	record := storeRecord(comment(i), version, r.states[version%len(r.states)])
	record.After = r.thread
	record.Thread = r.thread
	return record
}

// run checks that each Put that has returned is listed.
func (r race) run(t *testing.T) {
	t.Helper()
	const rounds = 5
	for version := 1; version <= rounds; version++ {
		seen := r.putAndList(t, version)
		for i := range seen {
			mustShow(t, r.name, seen[i], comment(i), version)
		}

		for i := range racers - 1 {
			isSeen := shows(seen[i+1], comment(i), version)
			if !isSeen && !shows(seen[i], comment(i+1), version) {
				t.Fatalf("two put version %d at the same time, then called %s, and neither saw the other",
					version, r.name)
			}
		}
	}
}

// putAndList puts a version of each record, and returns what each of those who put it listed then.
func (r race) putAndList(t *testing.T, version int) [][]once.Record {
	t.Helper()
	lists := make([][]once.Record, racers)
	errs := atOnce(func(i int) error {
		record := r.record(i, version)
		if err := r.store.Put(t.Context(), record); err != nil {
			return fmt.Errorf("put of version %d of %s: %w", version, record.Key, err)
		}

		list, err := r.list(t.Context(), record.State)
		lists[i] = list
		return err
	})

	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return lists
}

// shows reports whether a list has a record in this version or a newer one.
func shows(records []once.Record, key string, version int) bool {
	return slices.ContainsFunc(records, func(r once.Record) bool { return r.Key == key && r.Version >= version })
}

func mustShow(t *testing.T, name string, records []once.Record, key string, version int) {
	t.Helper()
	if !shows(records, key, version) {
		t.Fatalf("%s does not show version %d of %s, whose Put returned before it began; it shows %s",
			name, version, key, keysOf(records))
	}
}

// A store that lists one state after the other must not miss a record that changes its state
// meanwhile.
func (s storeTest) listsChanging(t *testing.T, store once.Store) {
	const changes = 30
	open := []once.State{once.Pending, once.Sending, once.Running}
	mustPut(t, store, storeRecord("k", 1, once.Pending))

	var all sync.WaitGroup
	defer all.Wait()

	changed := make(chan error, 1)
	all.Go(func() {
		var err error
		for version := 2; version <= changes && err == nil; version++ {
			err = store.Put(t.Context(), storeRecord("k", version, open[version%len(open)]))
		}
		changed <- err
	})

	for len(changed) == 0 {
		records := list(t, store, open...)
		mustShow(t, "List", records, "k", 1)
		if len(records) > 1 {
			t.Fatalf("List shows a record twice that changes meanwhile: %s", keysOf(records))
		}
	}

	err := <-changed
	if err != nil {
		t.Fatalf("Put while another lists: %v", err)
	}
}

// Who gets a list may sort it, or change it.
func (s storeTest) returnsListsOfItsOwn(t *testing.T, store once.Store) {
	records := []once.Record{storeRecord("a", 1, once.Pending), storeRecord("b", 2, once.Pending)}
	records[1].Version = 1
	mustPut(t, store, records...)

	for range 2 {
		got := list(t, store)
		clear(got)
		s.mustList(t, store, records)
		s.mustHave(t, store, records[0])
	}
}
