package oncetest_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/once"
	"github.com/mintlify-community/mintlify-go/once/oncetest"
)

type (
	record  = once.Record
	records = []once.Record
	states  = []once.State // of a List
)

// wrong is a store that does what right does, unless it has a function for it.
type wrong struct {
	right once.Store
	get   func(ctx context.Context, key string) (record, error)
	put   func(ctx context.Context, r record) error
	list  func(ctx context.Context, in states) (records, error)

	thread     func(all records) records // what ListThread returns of the thread
	unreported func(all records) records // what ListUnreported returns of all that was not reported
}

func (w *wrong) ListThread(ctx context.Context, thread string) (records, error) {
	all, err := w.right.List(ctx)
	of := slices.DeleteFunc(all, func(r record) bool { return r.Thread != thread && r.Key != thread })
	if w.thread != nil {
		of = w.thread(of)
	}
	return of, err
}

func (w *wrong) ListUnreported(ctx context.Context) (records, error) {
	all, err := w.right.List(ctx)
	of := slices.DeleteFunc(all, func(r record) bool {
		isOver := !r.State.IsOpen() && r.State != once.Canceled
		hasProblem := r.Problem != "" && (r.State == once.Running || r.State == once.Sending)
		return r.Reported == r.State || !isOver && !hasProblem
	})
	if w.unreported != nil {
		of = w.unreported(of)
	}
	return of, err
}

func (w *wrong) Get(ctx context.Context, key string) (record, error) {
	if w.get != nil {
		return w.get(ctx, key)
	}
	return w.right.Get(ctx, key)
}

func (w *wrong) Put(ctx context.Context, r record) error {
	if w.put != nil {
		return w.put(ctx, r)
	}
	return w.right.Put(ctx, r)
}

func (w *wrong) List(ctx context.Context, in ...once.State) (records, error) {
	if w.list != nil {
		return w.list(ctx, in)
	}
	return w.right.List(ctx, in...)
}

// fault gives w, which is a right store, its fault.
type fault func(w *wrong)

// wrongStore is a store with one fault.
type wrongStore struct {
	name string
	// caught is the check of TestStore that finds the fault.
	caught string
	fault  fault
}

// harmlessStore is a store with a fault that TestStore need not find.
type harmlessStore struct {
	name string
	// why it does no harm
	why   string
	fault fault
}

const (
	keeps      = "keeps a record"
	replaces   = "keeps only the last version"
	keepsText  = "keeps text as it is"
	keepsAfter = "keeps a follow-up"
	conflicts  = "puts the next version"
	races      = "lets one of many win"
	tellsKeys  = "tells keys apart"
	keepsKeys  = "keeps keys that are put at once"
	lists      = "lists by state"
	listsAll   = "lists every record"
	listsState = "lists every state"
	listsOf    = "lists a thread"
	listsNews  = "lists what was not reported"
	listsPuts  = "lists what was put before"
	putsInto   = "lists what was put into a thread before"
	putsNews   = "lists what was put before and not reported"
	listsMoves = "lists a record that changes meanwhile"
	listsOwn   = "returns lists of its own"
	endsWith   = "heeds an ended context"
	knowsNone  = "knows no record of a key"
)

var (
	wrongStores = slices.Concat(forgetfulStores, cuttingStores, versionStores, keyStores, listStores, otherStores)

	// TestPublicStore tests these.
	wrongPublicStores = []wrongStore{
		{"shows others the prompt", keeps, changing(func(r *record) { r.ProjectID, r.Problem = "", "" })},
		{"shows others the problem", keeps, changing(func(r *record) { r.ProjectID, r.Prompt = "", "" })},
		{"leaves out Thread, too", keepsAfter, publishing(func(r *record) { r.Thread = "" })},
		{"leaves out After, too", keepsAfter, publishing(func(r *record) { r.After = "" })},
		{"has an AddedAt of its own", keeps, publishing(func(r *record) { r.AddedAt = r.UpdatedAt })},
	}
	harmlessPublicStores = []harmlessStore{
		{"leaves out AddedAt", "the comment of Store says so", publishing(func(r *record) { r.AddedAt = time.Time{} })},
		{"leaves out Reported", "the comment of Store says so", publishing(func(r *record) { r.Reported = "" })},
	}
)

var harmlessStores = []harmlessStore{
	{"keeps microseconds", "nothing compares times that are closer", changing(func(r *record) {
		r.Deadline = r.Deadline.Truncate(time.Microsecond)
	})},
	{"cuts a prompt at 1 MiB", "no prompt is as long: it is an instruction in words", changing(func(r *record) {
		r.Prompt = cut(r.Prompt, 1<<20)
	})},
	{"lists records of one time in any order", "the order of such records decides nothing", listing(
		func(all records, _ states) records {
			slices.Reverse(all)
			slices.SortStableFunc(all, byUpdate)
			return all
		})},
	{"puts in spite of an ended context", "the SDK itself compares the deadline of a claim", func(w *wrong) {
		w.put = func(ctx context.Context, r record) error { return w.right.Put(context.WithoutCancel(ctx), r) }
	}},
	{"cannot list", "Resume and Run say so, and Step and Do work", cannotList},
}

// These keep fields that a new version leaves out, as a merge of documents does.
var forgetfulStores = []wrongStore{
	{"keeps its Reported", replaces, merging(func(old, r *record) { r.Reported = cmp.Or(r.Reported, old.Reported) })},
	{"keeps its AddedAt", replaces, merging(func(old, r *record) { r.AddedAt = cmp.Or(r.AddedAt, old.AddedAt) })},
	{"keeps its Prompt", replaces, merging(func(old, r *record) { r.Prompt = cmp.Or(r.Prompt, old.Prompt) })},
	{"keeps its JobID", replaces, merging(func(old, r *record) { r.JobID = cmp.Or(r.JobID, old.JobID) })},

	{"keeps its PRLink", replaces, merging(func(old, r *record) { r.PRLink = cmp.Or(r.PRLink, old.PRLink) })},
	{"keeps its Problem", replaces, merging(func(old, r *record) { r.Problem = cmp.Or(r.Problem, old.Problem) })},
	{"keeps its Deadline", replaces, merging(func(old, r *record) { r.Deadline = cmp.Or(r.Deadline, old.Deadline) })},
	{"keeps its Sender", replaces, merging(func(old, r *record) { r.Sender = cmp.Or(r.Sender, old.Sender) })},
}

// These change what they store.
var cuttingStores = []wrongStore{
	{"cuts a prompt at 1,000 bytes", keepsText, changing(func(r *record) { r.Prompt = cut(r.Prompt, 1000) })},
	{"cuts a prompt at 64 KiB", keepsText, changing(func(r *record) { r.Prompt = cut(r.Prompt, 64<<10-1) })},
	{"cuts a Problem at 255", keepsText, changing(func(r *record) { r.Problem = cut(r.Problem, 255) })},
	{"cuts a PRLink at 255", keepsText, changing(func(r *record) { r.PRLink = cut(r.PRLink, 255) })},

	{"trims a prompt", keepsText, changing(func(r *record) { r.Prompt = strings.TrimSpace(r.Prompt) })},
	{"trims the end of a prompt", keepsText, changing(func(r *record) { r.Prompt = strings.TrimRight(r.Prompt, " ") })},
	{"changes line breaks", keepsText, changing(func(r *record) { r.Prompt = without(r.Prompt, "\r") })},
	{"loses characters of four bytes", keeps, changing(func(r *record) { r.Prompt = without(r.Prompt, "\U0001F680") })},
	{"composes letters", keepsText, changing(func(r *record) { r.Prompt = composed(r.Prompt) })},
	{"loses ampersands", keeps, changing(func(r *record) { r.PRLink = without(r.PRLink, "&") })},

	{"keeps seconds", keeps, changing(func(r *record) { r.UpdatedAt = r.UpdatedAt.Truncate(time.Second) })},
	{"keeps milliseconds", keeps, changing(func(r *record) { r.Deadline = r.Deadline.Truncate(time.Millisecond) })},
	{"returns local times", keeps, changing(func(r *record) { r.UpdatedAt = r.UpdatedAt.In(cet) })},

	{"leaves out Sends", keeps, changing(func(r *record) { r.Sends = 0 })},
	{"leaves out Sender", keeps, changing(func(r *record) { r.Sender = "" })},
	{"leaves out Deadline", keeps, changing(func(r *record) { r.Deadline = time.Time{} })},
	{"leaves out AddedAt", keeps, changing(func(r *record) { r.AddedAt = time.Time{} })},
	{"leaves out Reported", keeps, changing(func(r *record) { r.Reported = "" })},
	{"leaves out Thread", keepsAfter, changing(func(r *record) { r.Thread = "" })},
	{"leaves out After", keepsAfter, changing(func(r *record) { r.After = "" })},

	{"has a default for JobID", keeps, changing(func(r *record) { r.JobID = cmp.Or(r.JobID, "none") })},
	{"knows no canceled", keeps, changing(func(r *record) {
		if r.State == once.Canceled {
			r.State = once.Done
		}
	})},
}

// These do not compare and swap.
var versionStores = []wrongStore{
	{"stores what comes last", conflicts, taking(func(_, _ int) bool { return true })},
	{"stores any newer version", conflicts, taking(func(old, version int) bool { return version > old })},
	{"stores a version that is there", conflicts, taking(func(old, version int) bool {
		return version == old+1 || old > 0 && version == old
	})},

	{"replaces with version 1", conflicts, taking(func(old, version int) bool {
		return version == 1 || version == old+1
	})},
	{"begins with any version", conflicts, taking(func(old, version int) bool {
		return old == 0 || version == old+1
	})},

	{"says nothing of a conflict", conflicts, failing(func(err error) error {
		if errors.Is(err, once.ErrConflict) {
			return nil
		}
		return err
	})},
	{"has another error for a conflict", conflicts, failing(func(err error) error {
		if errors.Is(err, once.ErrConflict) {
			return errors.New("duplicate key value violates unique constraint")
		}
		return err
	})},

	{"loses updates", races, losesUpdates},
	{"has versions that do not grow", keeps, getting(func(_ string, r record, err error) (record, error) {
		r.Version = min(r.Version, 1)
		return r, err
	})},
	{"sorts versions as text", keeps, sortsVersionsAsText},
	{"returns before it has stored", keeps, func(w *wrong) {
		w.put = func(_ context.Context, r record) error {
			time.AfterFunc(5*time.Millisecond, func() { _ = w.right.Put(context.Background(), r) })
			return nil
		}
	}},
	{"reads from a cache", keeps, readsFromACache},
	{"keeps all records in one value", keepsKeys, keepsOneValue},
}

// These mix up keys.
var keyStores = []wrongStore{
	{"ignores the case of keys", tellsKeys, naming(strings.ToLower)},
	{"cleans keys as paths", tellsKeys, naming(path.Clean)},
	{"makes slashes dashes", tellsKeys, naming(func(key string) string { return strings.ReplaceAll(key, "/", "-") })},
	{"unescapes keys", tellsKeys, naming(func(key string) string { return strings.ReplaceAll(key, "%2F", "/") })},
	{"cuts keys at 255", tellsKeys, naming(func(key string) string { return cut(key, 255) })},
	{"composes the letters of keys", tellsKeys, naming(composed)},
	{"has an error for no record", knowsNone, getting(func(_ string, r record, err error) (record, error) {
		if r.Version == 0 && err == nil {
			return r, errors.New("no rows in result set")
		}
		return r, err
	})},
	{"has the key of no record", knowsNone, getting(func(key string, r record, err error) (record, error) {
		r.Key = key
		return r, err
	})},
}

// These list too little, too much or too late.
var listStores = []wrongStore{
	{"lists a page of 100", listsAll, listing(func(all records, _ states) records { return all[:min(len(all), 100)] })},
	{"lists a page of 1,000", listsAll, listing(func(all records, _ states) records { return page(all) })},
	{"lists a page of 1,000 by state", listsAll, listing(func(all records, in states) records {
		if len(in) == 0 {
			return all
		}
		return page(all)
	})},
	{"chooses the states within a page of 1,000", listsAll, func(w *wrong) {
		w.list = func(ctx context.Context, in states) (records, error) {
			all, err := w.right.List(ctx)
			return inStates(page(all), in), err
		}
	}},

	{"lists the newest first", lists, listing(func(all records, _ states) records {
		slices.Reverse(all)
		return all
	})},
	{"lists in the order of keys", lists, listing(func(all records, _ states) records {
		slices.SortFunc(all, func(a, b record) int { return strings.Compare(a.Key, b.Key) })
		return all
	})},
	{"lists without the prompts", lists, listing(func(all records, _ states) records {
		for i := range all {
			all[i].Prompt = ""
		}
		return all
	})},
	{"lists without After", listsState, listing(func(all records, _ states) records {
		for i := range all {
			all[i].After = ""
		}
		return all
	})},
	{"lists without Thread", listsState, listing(func(all records, _ states) records {
		for i := range all {
			all[i].Thread = ""
		}
		return all
	})},
	{"lists no follow-ups", listsState, listing(func(all records, _ states) records {
		return slices.DeleteFunc(all, func(r record) bool { return r.After != "" })
	})},
	{"lists no unknown ones", listsState, listing(leavingOut(once.Unknown))},
	{"lists no refused ones", listsState, listing(leavingOut(once.Refused))},
	{"lists no canceled ones", listsState, listing(leavingOut(once.Canceled))},

	{"leaves the first record out of a thread", listsOf, func(w *wrong) {
		w.thread = func(all records) records {
			return slices.DeleteFunc(all, func(r record) bool { return r.After == "" })
		}
	}},
	{"leaves what has ended out of a thread", listsOf, func(w *wrong) {
		w.thread = func(all records) records {
			return slices.DeleteFunc(all, func(r record) bool { return !r.State.IsOpen() })
		}
	}},
	{"has a thread without its states", listsOf, func(w *wrong) {
		w.thread = func(all records) records {
			for i := range all {
				all[i].State = once.Pending
			}
			return all
		}
	}},
	{"takes each ended record for reported", listsNews, func(w *wrong) {
		w.unreported = func(records) records { return nil }
	}},
	{"leaves out problems of what runs", listsNews, func(w *wrong) { w.unreported = leaving(once.Running) }},
	{"leaves out problems of what is sent", listsNews, func(w *wrong) { w.unreported = leaving(once.Sending) }},
	{"leaves out unknown ones", listsNews, func(w *wrong) { w.unreported = leaving(once.Unknown) }},
	{"has a thread from a cache", putsInto, func(w *wrong) { w.thread = fromACache() }},
	{"has what was not reported from a cache", putsNews, func(w *wrong) { w.unreported = fromACache() }},

	{"lists nothing if it cannot", lists, listing(func(records, states) records { return nil })},

	{"ignores the states", lists, choosing(func(states) states { return nil })},
	{"lists the first state", lists, choosing(func(in states) states { return in[:min(len(in), 1)] })},
	{"lists open records if no states are given", lists, choosing(func(in states) states {
		if len(in) == 0 {
			return states{once.Pending, once.Sending, once.Running}
		}
		return in
	})},

	{"lists the first version", lists, indexing(func(index records, r record) records {
		if r.Version > 1 {
			return index
		}
		return append(index, r)
	})},
	{"lists every version", lists, indexing(func(index records, r record) records { return append(index, r) })},
	{"lists from an index that is updated later", listsPuts, updatesItsIndexLater},
	{"lists from a cache", listsPuts, listsFromACache},
	{"lists one state after the other", listsMoves, listsStateByState},
	{"returns its own list", listsOwn, returnsItsOwnList},
}

var otherStores = []wrongStore{
	{"gets in spite of an ended context", endsWith, func(w *wrong) {
		w.get = func(ctx context.Context, key string) (record, error) {
			return w.right.Get(context.WithoutCancel(ctx), key)
		}
	}},
	{"lists in spite of an ended context", endsWith, func(w *wrong) {
		w.list = func(ctx context.Context, in states) (records, error) {
			return w.right.List(context.WithoutCancel(ctx), in...)
		}
	}},
	{"has no record if ctx has ended", endsWith, getting(func(_ string, r record, _ error) (record, error) {
		return r, nil
	})},
}

// changing stores what f makes of a record.
func changing(f func(r *record)) fault {
	return func(w *wrong) {
		w.put = func(ctx context.Context, r record) error {
			f(&r)
			return w.right.Put(ctx, r)
		}
	}
}

// publishing stores what f makes of what a public store keeps.
func publishing(f func(r *record)) fault {
	return changing(func(r *record) {
		*r = public(*r)
		f(r)
	})
}

// merging stores what f makes of a record and the version before it.
func merging(f func(old, r *record)) fault {
	return func(w *wrong) {
		w.put = func(ctx context.Context, r record) error {
			old, err := w.right.Get(ctx, r.Key)
			if err != nil {
				return err
			}
			f(&old, &r)
			return w.right.Put(ctx, r)
		}
	}
}

// failing returns what f makes of the error of a Put.
func failing(f func(err error) error) fault {
	return func(w *wrong) {
		w.put = func(ctx context.Context, r record) error { return f(w.right.Put(ctx, r)) }
	}
}

// getting returns what f makes of a record.
func getting(f func(key string, r record, err error) (record, error)) fault {
	return func(w *wrong) {
		w.get = func(ctx context.Context, key string) (record, error) {
			r, err := w.right.Get(ctx, key)
			return f(key, r, err)
		}
	}
}

// listing returns what f makes of a list.
func listing(f func(all records, in states) records) fault {
	return func(w *wrong) {
		w.list = func(ctx context.Context, in states) (records, error) {
			all, err := w.right.List(ctx, in...)
			return f(all, in), err
		}
	}
}

// choosing lists other states.
func choosing(f func(in states) states) fault {
	return func(w *wrong) {
		w.list = func(ctx context.Context, in states) (records, error) { return w.right.List(ctx, f(in)...) }
	}
}

// indexing lists from an index, which f updates with each record that is put.
func indexing(f func(index records, r record) records) fault {
	return func(w *wrong) {
		var mu sync.Mutex
		var index records
		w.put = func(ctx context.Context, r record) error {
			mu.Lock()
			defer mu.Unlock()

			err := w.right.Put(ctx, r)
			if err == nil {
				index = f(index, r)
			}
			return err
		}
		w.list = func(ctx context.Context, in states) (records, error) {
			mu.Lock()
			defer mu.Unlock()

			return inStates(slices.Clone(index), in), ctx.Err()
		}
	}
}

// rows are the records of a store that takes what its put lets pass.
type rows struct {
	mu     sync.Mutex
	byName map[string]record
}

// taking stores the versions for which f returns true.
func taking(f func(old, version int) bool) fault {
	return onRows(func(all *rows, r record) bool { return f(all.byName[r.Key].Version, r.Version) }, nil)
}

// naming stores a record under what name makes of its key.
func naming(name func(key string) string) fault {
	return onRows(func(all *rows, r record) bool { return all.byName[name(r.Key)].Version == r.Version-1 }, name)
}

// onRows stores the records that isNext lets pass under the name of their key, nil for the key itself.
func onRows(isNext func(all *rows, r record) bool, name func(key string) string) fault {
	if name == nil {
		name = func(key string) string { return key }
	}
	return func(w *wrong) {
		cannotList(w)
		all := &rows{byName: map[string]record{}}
		w.get = func(ctx context.Context, key string) (record, error) {
			all.mu.Lock()
			defer all.mu.Unlock()

			return all.byName[name(key)], ctx.Err()
		}
		w.put = func(_ context.Context, r record) error {
			all.mu.Lock()
			defer all.mu.Unlock()

			if !isNext(all, r) {
				return once.ErrConflict
			}
			all.byName[name(r.Key)] = r
			return nil
		}
	}
}

// losesUpdates reads, then writes.
func losesUpdates(w *wrong) {
	onRows(func(all *rows, r record) bool {
		isNext := all.byName[r.Key].Version == r.Version-1
		all.mu.Unlock()
		time.Sleep(time.Millisecond)
		all.mu.Lock()
		return isNext
	}, nil)(w)
}

// sortsVersionsAsText has a file for each version, and reads the last in the order of names.
func sortsVersionsAsText(w *wrong) {
	w.put = func(ctx context.Context, r record) error {
		if fmt.Sprint(r.Version) < fmt.Sprint(r.Version-1) {
			return nil // it is stored, and the one before it is read
		}
		return w.right.Put(ctx, r)
	}
}

// readsFromACache reads a record once.
func readsFromACache(w *wrong) {
	var read sync.Map
	w.get = func(ctx context.Context, key string) (record, error) {
		known, ok := read.Load(key)
		if ok && ctx.Err() == nil {
			return known.(record), nil
		}

		r, err := w.right.Get(ctx, key)
		if err == nil {
			read.Store(key, r)
		}
		return r, err
	}
}

// keepsOneValue keeps all records in one value, which it reads, changes and writes.
func keepsOneValue(w *wrong) {
	cannotList(w)
	var mu sync.Mutex
	value := map[string]record{}
	read := func() map[string]record {
		mu.Lock()
		defer mu.Unlock()

		return maps.Clone(value)
	}

	w.get = func(ctx context.Context, key string) (record, error) { return read()[key], ctx.Err() }
	w.put = func(_ context.Context, r record) error {
		all := read()
		if all[r.Key].Version != r.Version-1 {
			return once.ErrConflict
		}
		all[r.Key] = r
		time.Sleep(time.Millisecond)

		mu.Lock()
		defer mu.Unlock()

		if value[r.Key].Version == r.Version {
			return once.ErrConflict
		}
		value = all
		return nil
	}
}

func updatesItsIndexLater(w *wrong) {
	index := oncetest.NewStore()
	w.put = func(ctx context.Context, r record) error {
		err := w.right.Put(ctx, r)
		switch {
		case err != nil:
			return err
		case r.State == once.Sending:
			time.AfterFunc(5*time.Millisecond, func() { _ = index.Put(context.Background(), r) })
			return nil
		}
		return index.Put(ctx, r)
	}

	w.list = func(ctx context.Context, in states) (records, error) { return index.List(ctx, in...) }
}

// listsFromACache lists what it has listed within the last 50 ms.
func listsFromACache(w *wrong) {
	var mu sync.Mutex
	var cached map[string]records
	var since time.Time
	w.list = func(ctx context.Context, in states) (records, error) {
		mu.Lock()
		defer mu.Unlock()

		if time.Since(since) > 50*time.Millisecond {
			cached = map[string]records{}
			since = time.Now()
		}

		query := fmt.Sprint(in)
		known, ok := cached[query]
		if ok && ctx.Err() == nil {
			return slices.Clone(known), nil
		}

		all, err := w.right.List(ctx, in...)
		if err == nil {
			cached[query] = slices.Clone(all)
		}
		return all, err
	}
}

// fromACache returns what it got first within the last 50 ms.
func fromACache() func(all records) records {
	var mu sync.Mutex
	var cached records
	var since time.Time
	return func(all records) records {
		mu.Lock()
		defer mu.Unlock()

		if time.Since(since) > 50*time.Millisecond {
			cached = all
			since = time.Now()
		}
		return slices.Clone(cached)
	}
}

func listsStateByState(w *wrong) {
	w.put = func(ctx context.Context, r record) error {
		time.Sleep(100 * time.Microsecond)
		return w.right.Put(ctx, r)
	}
	w.list = func(ctx context.Context, in states) (records, error) {
		if len(in) == 0 {
			return w.right.List(ctx)
		}

		var all records
		for _, state := range in {
			some, err := w.right.List(ctx, state)
			if err != nil {
				return nil, err
			}
			all = append(all, some...)
			time.Sleep(time.Millisecond)
		}
		slices.SortFunc(all, byUpdate)
		return all, nil
	}
}

// returnsItsOwnList returns the same list until a record is put.
func returnsItsOwnList(w *wrong) {
	var mu sync.Mutex
	var own records
	w.put = func(ctx context.Context, r record) error {
		mu.Lock()
		defer mu.Unlock()

		own = nil
		return w.right.Put(ctx, r)
	}
	w.list = func(ctx context.Context, in states) (records, error) {
		mu.Lock()
		defer mu.Unlock()

		all, err := w.right.List(ctx)
		if own == nil {
			own = all
		}
		if len(in) == 0 {
			return own, err
		}
		return inStates(slices.Clone(own), in), err
	}
}

func cannotList(w *wrong) {
	w.list = func(context.Context, states) (records, error) { return nil, errors.ErrUnsupported }
}

var cet = time.FixedZone("CET", 3600)

// cut returns the first n bytes of text.
func cut(text string, n int) string { return text[:min(len(text), n)] }

func without(text, part string) string { return strings.ReplaceAll(text, part, "") }

func composed(text string) string { return strings.ReplaceAll(text, "e\u0301", "\u00e9") }

func page(all records) records { return all[:min(len(all), 1000)] }

func byUpdate(a, b record) int { return a.UpdatedAt.Compare(b.UpdatedAt) }

func inStates(all records, in states) records {
	if len(in) == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(r record) bool { return !slices.Contains(in, r.State) })
}

// testFault runs the tests of a store that has a fault.
func testFault(t *testing.T, name string, f fault, test func(*testing.T, func(*testing.T) once.Store)) {
	t.Run(name, func(t *testing.T) {
		test(t, func(*testing.T) once.Store {
			w := &wrong{right: oncetest.NewStore()}
			f(w)
			return w
		})
	})
}

// TestStore must not find a fault that does no harm.
func TestStoreToleratesHarmlessFaults(t *testing.T) {
	for _, store := range harmlessStores {
		testFault(t, store.name+": "+store.why, store.fault, oncetest.TestStore)
	}
	for _, store := range harmlessPublicStores {
		testFault(t, "public, "+store.name+": "+store.why, store.fault, oncetest.TestPublicStore)
	}
}

// TestStore must find each fault that does harm.
func TestStoreFindsWrongStores(t *testing.T) {
	if os.Getenv("WRONG_STORES") != "" {
		for _, store := range wrongStores {
			testFault(t, store.name, store.fault, oncetest.TestStore)
		}
		for _, store := range wrongPublicStores {
			testFault(t, store.name, store.fault, oncetest.TestPublicStore)
		}
		return
	}

	failed := failedChecks(t)
	for _, store := range slices.Concat(wrongStores, wrongPublicStores) {
		assert.Contains(t, failed[store.name], store.caught, "a store that %s", store.name)
	}
}

var failedCheck = regexp.MustCompile(`(?m)^\s+--- FAIL: [^/]+/([^/]+)/([^/ ]+) `)

// failedChecks runs TestStore on each wrong store in another process, and returns the checks that
// failed, by the name of the store.
func failedChecks(t *testing.T) map[string][]string {
	t.Helper()
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestStoreFindsWrongStores$", "-test.timeout=2m")
	again.Env = append(os.Environ(), "WRONG_STORES=1")
	output, err := again.CombinedOutput()
	require.Error(t, err, "wrong stores pass")

	failed := map[string][]string{}
	for _, match := range failedCheck.FindAllStringSubmatch(string(output), -1) {
		name := strings.ReplaceAll(match[1], "_", " ")
		failed[name] = append(failed[name], strings.ReplaceAll(match[2], "_", " "))
	}
	require.NotEmpty(t, failed, string(output))
	return failed
}

// leavingOut is a List without the records in a state.
func leavingOut(state once.State) func(all records, _ states) records {
	return func(all records, _ states) records { return leaving(state)(all) }
}

func leaving(state once.State) func(all records) records {
	return func(all records) records {
		return slices.DeleteFunc(all, func(r record) bool { return r.State == state })
	}
}
