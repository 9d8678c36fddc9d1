package oncetest_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
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
	// caught are the checks of TestStore that find the fault.
	caught []string
	fault  fault
}

// harmlessStore is a store with a fault that TestStore need not find.
type harmlessStore struct {
	name string
	// why it does no harm
	why   string
	fault fault
}

// wrongStores has a store for each kind of fault. Each check of TestStore finds one of them.
var wrongStores = []wrongStore{
	{"has an error for no record", []string{"knows no record of a key"}, getting(
		func(_ string, r record, err error) (record, error) {
			if r.Version == 0 && err == nil {
				return r, errors.New("no rows in result set")
			}
			return r, err
		})},
	{"has the key of no record", []string{"knows no record of a key"}, getting(
		func(key string, r record, err error) (record, error) {
			r.Key = key
			return r, err
		})},

	{"sorts versions as text", []string{"keeps a record"}, sortsVersionsAsText},
	{"keeps the JobID of the version before", []string{"keeps only the last version"}, merging(func(old, r *record) {
		r.JobID = cmp.Or(r.JobID, old.JobID)
	})},
	{"cuts a prompt at 64 KiB", []string{"keeps text as it is"}, changing(func(r *record) {
		r.Prompt = cut(r.Prompt, 64<<10-1)
	})},
	{"leaves out Thread", []string{"keeps a follow-up", "lists every state", "lists a thread"}, changing(
		func(r *record) { r.Thread = "" })},

	{"begins with any version", []string{"puts the next version"}, taking(func(old, version int) bool {
		return old == 0 || version == old+1
	})},
	{"says nothing of a conflict", []string{"puts the next version", "lets one of many win"}, failing(
		func(err error) error {
			if errors.Is(err, once.ErrConflict) {
				return nil
			}
			return err
		})},
	{"has another error for a conflict", []string{"puts the next version", "lets one of many win"}, failing(
		func(err error) error {
			if errors.Is(err, once.ErrConflict) {
				return errors.New("duplicate key value violates unique constraint")
			}
			return err
		})},
	{"loses updates", []string{"lets one of many win"}, losesUpdates},
	{"ignores the case of keys", []string{"tells keys apart"}, naming(strings.ToLower)},
	{"keeps all records in one value", []string{"keeps keys that are put at once"}, keepsOneValue},

	{"lists the newest first", []string{"lists by state", "lists every record"}, listing(
		func(all records, _ states) records {
			slices.Reverse(all)
			return all
		})},
	{"lists the first state", []string{"lists by state"}, choosing(
		func(in states) states { return in[:min(len(in), 1)] })},
	{"lists a page of 1,000 by state", []string{"lists every record"}, listing(func(all records, in states) records {
		if len(in) == 0 {
			return all
		}
		return all[:min(len(all), 1000)]
	})},
	{"takes each ended record for reported", []string{"lists what was not reported"}, func(w *wrong) {
		w.unreported = func(records) records { return nil }
	}},
	{"lists from a cache", []string{
		"lists what was put before",
		"lists what was put into a thread before",
		"lists what was put before and not reported",
	}, listsFromACache},
	{"lists one state after the other", []string{"lists a record that changes meanwhile"}, listsStateByState},
	{"returns its own list", []string{"returns lists of its own"}, returnsItsOwnList},
	{"pays no attention to contexts", []string{"heeds an ended context"}, func(w *wrong) {
		w.get = func(ctx context.Context, key string) (record, error) {
			return w.right.Get(context.WithoutCancel(ctx), key)
		}
		w.list = func(ctx context.Context, in states) (records, error) {
			return w.right.List(context.WithoutCancel(ctx), in...)
		}
	}},
}

var (
	// TestPublicStore tests these.
	wrongPublicStores = []wrongStore{
		{"shows others the prompt", []string{"keeps a record"}, changing(func(r *record) {
			r.ProjectID = ""
			r.Problem = ""
		})},
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
			slices.SortStableFunc(all, func(a, b record) int { return a.UpdatedAt.Compare(b.UpdatedAt) })
			return all
		})},
	{"puts in spite of an ended context", "the SDK itself compares the deadline of a claim", func(w *wrong) {
		w.put = func(ctx context.Context, r record) error { return w.right.Put(context.WithoutCancel(ctx), r) }
	}},
	{"cannot list", "Resume and Run say so, and Step and Do work", cannotList},
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

// listsFromACache lists each way from a cache of its own.
func listsFromACache(w *wrong) {
	all := fromACache()
	listing(func(in records, _ states) records { return all(in) })(w)
	w.thread = fromACache()
	w.unreported = fromACache()
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
		return once.Select(all, nil), nil
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
		return once.Select(slices.Clone(own), in), err
	}
}

func cannotList(w *wrong) {
	w.list = func(context.Context, states) (records, error) { return nil, errors.ErrUnsupported }
}

// cut returns the first n bytes of text.
func cut(text string, n int) string { return text[:min(len(text), n)] }

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
		assert.Subset(t, failed[store.name], store.caught, "a store that %s", store.name)
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
