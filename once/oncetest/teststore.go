// Package oncetest tests stores of package once, and has one in memory for tests.
package oncetest

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mintlify-community/mintlify-go/once"
)

// TestStore checks that a [once.Store] does what package once relies on. open returns an
// empty store, and is called once for each of the checks. A store that cannot list passes, and
// so does a store whose Put returns errors.ErrUnsupported for a record with After, or one that is not a
// [once.ThreadLister] or [once.UnreportedLister].
// One check lists 1,001 records; with -short, 101.
//
// It cannot check that a record survives a crash, or what a network in between does.
//
//	func TestMyStore(t *testing.T) {
//		oncetest.TestStore(t, func(t *testing.T) once.Store { return newMyStore(t) })
//	}
func TestStore(t *testing.T, open func(t *testing.T) once.Store) {
	t.Helper()
	storeTest{open: open}.run(t)
}

// TestPublicStore checks, as [TestStore] does, a store that others can read. It leaves out a
// record's Prompt, ProjectID and Problem. It may leave out AddedAt and Reported: the follow-ups of a
// thread are then sent one at a time, but in any order, and a program that calls Run with
// [once.WithReport] reports each record again whenever it starts. It keeps After and Thread, or its
// Put returns errors.ErrUnsupported for a record with After. WithReport does not tell of a pending or running
// record there, since it has no Problem.
func TestPublicStore(t *testing.T, open func(t *testing.T) once.Store) {
	t.Helper()
	storeTest{open: open, isPublic: true}.run(t)
}

type storeTest struct {
	open     func(t *testing.T) once.Store
	isPublic bool
}

func (s storeTest) run(t *testing.T) {
	t.Helper()
	for _, check := range s.checks() {
		t.Run(check.name, func(t *testing.T) {
			t.Helper()
			check.run(t, s.open(t))
		})
	}
}

// check is a test of an empty store.
type check struct {
	name string
	run  func(*testing.T, once.Store)
}

func (s storeTest) checks() []check {
	return []check{
		{"knows no record of a key", s.knowsNone},
		{"keeps a record", s.keeps},
		{"keeps only the last version", s.replaces},
		{"keeps text as it is", s.keepsText},
		{"keeps a follow-up", s.keepsFollowUp},

		{"puts the next version", s.conflicts},
		{"lets one of many win", s.races},
		{"tells keys apart", s.tellsKeysApart},
		{"keeps keys that are put at once", s.keepsKeysPutAtOnce},

		{"lists by state", s.lists},
		{"lists every record", s.listsAll},
		{"lists every state", s.listsStates},
		{"lists a thread", s.listsThread},
		{"lists what was not reported", s.listsUnreported},
		{"lists what was put before", s.listsPutsBefore},
		{"lists what was put into a thread before", s.listsThreadPutsBefore},
		{"lists what was put before and not reported", s.listsUnreportedPutsBefore},
		{"lists a record that changes meanwhile", s.listsChanging},
		{"returns lists of its own", s.returnsListsOfItsOwn},

		{"heeds an ended context", s.endsWithContext},
	}
}

// storeRecord is a record with a value in every field.
func storeRecord(key string, version int, state once.State) once.Record {
	now := time.Date(2026, time.March, 1, 12, 0, version, 123456000, time.UTC)
	task := once.Task{
		Key:       key,
		Prompt:    "Document \"--json\" <b>\n\tü 文 \U0001F680",
		ProjectID: "project-1",
	}

	return once.Record{
		Task:      task,
		Version:   version,
		State:     state,
		Sends:     2,
		Sender:    "SENDER",
		Deadline:  now.Add(time.Minute),
		JobID:     "job_1",
		PRLink:    "https://example.com/pull/1?a=b&c=d",
		Problem:   "429: try 'later'",
		UpdatedAt: now,
		AddedAt:   now.Add(-time.Hour),
		Reported:  once.Unknown,
	}
}

// want returns what the store must return for the record put, if it has returned got.
func (s storeTest) want(got, put once.Record) once.Record {
	want := put
	if !s.isPublic {
		return want
	}

	want.Prompt = ""
	want.ProjectID = ""
	want.Problem = ""
	if got.AddedAt.IsZero() {
		want.AddedAt = got.AddedAt
	}
	if got.Reported == "" {
		want.Reported = got.Reported
	}
	return want
}

func mustPut(t *testing.T, store once.Store, records ...once.Record) {
	t.Helper()
	for _, r := range records {
		err := store.Put(t.Context(), r)
		if err != nil {
			t.Fatalf("Put of version %d of %s: %v", r.Version, r.Key, err)
		}
	}
}

func (s storeTest) mustHave(t *testing.T, store once.Store, r once.Record) {
	t.Helper()
	got, err := store.Get(t.Context(), r.Key)
	if err != nil {
		t.Fatalf("Get of %s after Put of version %d: %v", r.Key, r.Version, err)
	}
	if different := s.differences(got, r); different != "" {
		t.Fatalf("Get of %s after Put of version %d:%s", r.Key, r.Version, different)
	}
}

// differences names the fields of a record that are not as the store must return them for put, a line for each.
func (s storeTest) differences(got, put once.Record) string {
	var lines strings.Builder
	gotFields := reflect.ValueOf(got)
	wantFields := reflect.ValueOf(s.want(got, put))
	for _, field := range reflect.VisibleFields(gotFields.Type()) {
		if field.Anonymous {
			continue
		}

		is := gotFields.FieldByIndex(field.Index).Interface()
		want := wantFields.FieldByIndex(field.Index).Interface()
		if is != want {
			fmt.Fprintf(&lines, "\n\t%s is %s, want %s", field.Name, short(is), short(want))
		}
	}
	return lines.String()
}

// short returns a value of a record for a message.
func short(value any) string {
	text, isText := value.(string)
	if !isText {
		return fmt.Sprint(value)
	}
	if len(text) > 100 {
		return fmt.Sprintf("%q... of %d bytes", text[:50], len(text))
	}
	return fmt.Sprintf("%q", text)
}
