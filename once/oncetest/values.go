package oncetest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mintlify-community/mintlify-go/once"
)

func (s storeTest) knowsNone(t *testing.T, store once.Store) {
	got, err := store.Get(t.Context(), "k")
	if err != nil || got != (once.Record{}) {
		t.Fatalf("Get of a key without a record returned %+v, %v: want the zero Record", got, err)
	}
}

// More than nine versions find a store that sorts their numbers as text.
func (s storeTest) keeps(t *testing.T, store once.Store) {
	states := []once.State{
		once.Pending, once.Sending, once.Unknown, once.Pending, once.Canceled, once.Pending,
		once.Sending, once.Refused, once.Pending, once.Sending, once.Failed, once.Running, once.Done,
	}
	for version, state := range states {
		r := storeRecord("acme/api@1", version+1, state)
		mustPut(t, store, r)
		s.mustHave(t, store, r)
	}
}

// bareRecord is a record with nothing but what each has.
func bareRecord(key string, version int) once.Record {
	return once.Record{
		Task:      once.Task{Key: key},
		Version:   version,
		State:     once.Pending,
		UpdatedAt: time.Unix(1, 0).UTC(),
	}
}

// A store that keeps fields of an earlier version, because JSON leaves out empty ones, gives a
// prompt that is sent again the job of the send before.
func (s storeTest) replaces(t *testing.T, store once.Store) {
	mustPut(t, store, storeRecord("k", 1, once.Running))
	bare := bareRecord("k", 2)
	mustPut(t, store, bare)
	s.mustHave(t, store, bare)

	full := storeRecord("k", 3, once.Running)
	mustPut(t, store, full)
	s.mustHave(t, store, full)
}

// A prompt may be as long as a file, and has more than ASCII. A Problem quotes the service.
func (s storeTest) keepsText(t *testing.T, store once.Store) {
	texts := []string{
		"  \n\tindented, with white space around\r\nand both line breaks\n\n ",
		"quotes ' \" ` \\ \\n %s %d $1 ? ; -- {\"a\":null} <b>&amp;&lt; \u2028 \u00a0 \U0001F680 e\u0301 \u00e9 文",
		strings.Repeat("ü", 150) + ".",
		strings.Repeat("ü", 600) + ".",
		strings.Repeat("ü", 40_000) + ".",
	}

	for version, text := range texts {
		r := storeRecord("k", version+1, once.Pending)
		r.Prompt = text
		if len(text) < 2000 {
			r.Problem = text
		}
		r.PRLink = "https://example.com/" + strings.Repeat("x", 300)

		mustPut(t, store, r)
		s.mustHave(t, store, r)
	}
}

// A follow-up that is read back without After would become a new job, and one without Thread
// would not see the others of its thread.
func (s storeTest) keepsFollowUp(t *testing.T, store once.Store) {
	first := storeRecord("acme/api@1#comment-2", 1, once.Pending)
	first.After = "acme/api@1#comment-1"
	first.Thread = "acme/api@1"
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
	second.Thread = first.Thread
	mustPut(t, store, second)
	s.mustHave(t, store, second)
}

func (s storeTest) endsWithContext(t *testing.T, store once.Store) {
	mustPut(t, store, storeRecord("k", 1, once.Pending))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	_, err := store.Get(ctx, "k")
	if err == nil {
		t.Error("Get with an ended context returned no error")
	}
	_, err = store.List(ctx)
	if err == nil {
		t.Error("List with an ended context returned no error")
	}
	s.mustHave(t, store, storeRecord("k", 1, once.Pending))
}
