package oncetest_test

import (
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

// wrongStore is a store with one fault.
type wrongStore struct {
	fault string
	open  func() once.Store
	// isPublic has TestPublicStore test it.
	isPublic bool
	// caught is the check of TestStore that finds the fault, "" if none does.
	caught string
	// harmless says why the fault does no harm if no check finds it.
	harmless string
}

type (
	record  = once.Record
	records = []once.Record
	states  = []once.State // of a List
)

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
	listsPuts  = "lists what was put before"
	listsMoves = "lists a record that changes meanwhile"
	listsOwn   = "returns lists of its own"
	endsWith   = "heeds an ended context"
	knowsNone  = "knows no record of a key"
)

var wrongStores = slices.Concat(forgetfulStores, cuttingStores, versionStores, keyStores, listStores, otherStores)

// These keep fields that a new version leaves out, as a merge of documents does.
var forgetfulStores = []wrongStore{
	{fault: "keeps all omitted fields", caught: replaces, open: merging(func(old once.Record, r *once.Record) {
		keepOmitted(&r.Prompt, old.Prompt)
		keepOmitted(&r.ProjectID, old.ProjectID)
		keepOmitted(&r.After, old.After)
		keepOmitted(&r.Sends, old.Sends)
		keepOmitted(&r.Sender, old.Sender)
		keepOmitted(&r.Deadline, old.Deadline)
		keepOmitted(&r.JobID, old.JobID)
		keepOmitted(&r.PRLink, old.PRLink)
		keepOmitted(&r.Problem, old.Problem)
		keepOmitted(&r.AddedAt, old.AddedAt)
		keepOmitted(&r.Thread, old.Thread)
		keepOmitted(&r.Reported, old.Reported)
	})},
	{fault: "keeps an omitted Reported", caught: replaces, open: merging(func(old once.Record, r *once.Record) {
		keepOmitted(&r.Reported, old.Reported)
	})},
	{fault: "keeps an omitted AddedAt", caught: replaces, open: merging(func(old once.Record, r *once.Record) {
		keepOmitted(&r.AddedAt, old.AddedAt)
	})},
	{fault: "keeps an omitted Prompt", caught: replaces, open: merging(func(old once.Record, r *once.Record) {
		keepOmitted(&r.Prompt, old.Prompt)
	})},
	{fault: "keeps an omitted JobID", caught: replaces, open: merging(func(old once.Record, r *once.Record) {
		keepOmitted(&r.JobID, old.JobID)
	})},
	{fault: "keeps an omitted PRLink", caught: replaces, open: merging(func(old once.Record, r *once.Record) {
		keepOmitted(&r.PRLink, old.PRLink)
	})},
	{fault: "keeps an omitted Problem", caught: replaces, open: merging(func(old once.Record, r *once.Record) {
		keepOmitted(&r.Problem, old.Problem)
	})},
	{fault: "keeps an omitted Deadline", caught: replaces, open: merging(func(old once.Record, r *once.Record) {
		keepOmitted(&r.Deadline, old.Deadline)
	})},
	{fault: "keeps an omitted Sender", caught: replaces, open: merging(func(old once.Record, r *once.Record) {
		keepOmitted(&r.Sender, old.Sender)
	})},
}

// These change what they store.
var cuttingStores = []wrongStore{
	{fault: "cuts a prompt at 1,000 bytes", caught: keepsText, open: changing(func(r *once.Record) {
		r.Prompt = cut(r.Prompt, 1000)
	})},
	{fault: "cuts a prompt at 64 KiB", caught: keepsText, open: changing(func(r *once.Record) {
		r.Prompt = cut(r.Prompt, 64<<10-1)
	})},
	{fault: "cuts a Problem at 255", caught: keepsText, open: changing(func(r *once.Record) {
		r.Problem = cut(r.Problem, 255)
	})},
	{fault: "cuts a PRLink at 255", caught: keepsText, open: changing(func(r *once.Record) {
		r.PRLink = cut(r.PRLink, 255)
	})},
	{fault: "trims a prompt", caught: keepsText, open: changing(func(r *once.Record) {
		r.Prompt = strings.TrimSpace(r.Prompt)
	})},
	{fault: "trims the end of a prompt", caught: keepsText, open: changing(func(r *once.Record) {
		r.Prompt = strings.TrimRight(r.Prompt, " ")
	})},
	{fault: "changes line breaks", caught: keepsText, open: changing(func(r *once.Record) {
		r.Prompt = strings.ReplaceAll(r.Prompt, "\r\n", "\n")
	})},
	{fault: "loses characters of four bytes", caught: keeps, open: changing(func(r *once.Record) {
		r.Prompt = strings.ReplaceAll(r.Prompt, "\U0001F680", "?")
	})},
	{fault: "composes letters", caught: keepsText, open: changing(func(r *once.Record) {
		r.Prompt = strings.ReplaceAll(r.Prompt, "e\u0301", "\u00e9")
	})},
	{fault: "escapes HTML", caught: keeps, open: changing(func(r *once.Record) {
		r.PRLink = strings.ReplaceAll(r.PRLink, "&", "&amp;")
	})},
	{fault: "keeps seconds", caught: keeps, open: changing(func(r *once.Record) {
		r.UpdatedAt = r.UpdatedAt.Truncate(time.Second)
	})},
	{fault: "keeps milliseconds", caught: keeps, open: changing(func(r *once.Record) {
		r.Deadline = r.Deadline.Truncate(time.Millisecond)
	})},
	{fault: "returns times in another zone", caught: keeps, open: changing(func(r *once.Record) {
		r.UpdatedAt = r.UpdatedAt.In(time.FixedZone("CET", 3600))
	})},
	{fault: "leaves out Sends", caught: keeps, open: changing(func(r *once.Record) { r.Sends = 0 })},
	{fault: "leaves out Sender", caught: keeps, open: changing(func(r *once.Record) { r.Sender = "" })},
	{fault: "leaves out Deadline", caught: keeps, open: changing(func(r *once.Record) { r.Deadline = time.Time{} })},
	{fault: "leaves out AddedAt", caught: keeps, open: changing(func(r *once.Record) { r.AddedAt = time.Time{} })},
	{fault: "leaves out Reported", caught: keeps, open: changing(func(r *once.Record) { r.Reported = "" })},
	{fault: "leaves out Thread", caught: keepsAfter, open: changing(func(r *once.Record) { r.Thread = "" })},
	{fault: "leaves out After", caught: keepsAfter, open: changing(func(r *once.Record) { r.After = "" })},
	{fault: "has a default for JobID", caught: keeps, open: changing(func(r *once.Record) {
		if r.JobID == "" {
			r.JobID = "none"
		}
	})},
	{fault: "knows no canceled", caught: keeps, open: changing(func(r *once.Record) {
		if r.State == once.Canceled {
			r.State = once.Done
		}
	})},
	{
		fault: "keeps microseconds", harmless: "nothing compares times that are closer",
		open: changing(func(r *once.Record) { r.Deadline = r.Deadline.Truncate(time.Microsecond) }),
	},
	{
		fault: "cuts a prompt at 1 MiB", harmless: "no prompt is as long: it is an instruction in words",
		open: changing(func(r *once.Record) { r.Prompt = cut(r.Prompt, 1<<20) }),
	},
}

// These do not compare and swap.
var versionStores = []wrongStore{
	{fault: "stores what comes last", caught: conflicts, open: unchecked(func(_, _ once.Record) error { return nil })},
	{fault: "stores any newer version", caught: conflicts, open: unchecked(func(old, r once.Record) error {
		return conflictUnless(r.Version > old.Version)
	})},
	{fault: "stores any version that is there", caught: conflicts, open: unchecked(func(old, r once.Record) error {
		return conflictUnless(r.Version == old.Version+1 || old.Version > 0 && r.Version == old.Version)
	})},
	{fault: "replaces with version 1", caught: conflicts, open: unchecked(func(old, r once.Record) error {
		return conflictUnless(r.Version == 1 || r.Version == old.Version+1)
	})},
	{fault: "begins with any version", caught: conflicts, open: unchecked(func(old, r once.Record) error {
		return conflictUnless(old.Version == 0 || r.Version == old.Version+1)
	})},
	{fault: "says nothing of a conflict", caught: conflicts, open: putting(func(put putFunc, r once.Record) error {
		err := put(r)
		if errors.Is(err, once.ErrConflict) {
			return nil
		}
		return err
	})},
	{fault: "has another error for a conflict", caught: conflicts, open: putting(func(put putFunc, r record) error {
		err := put(r)
		if err != nil {
			return errors.New("duplicate key value violates unique constraint")
		}
		return nil
	})},
	{fault: "loses updates", caught: races, open: func() once.Store { return new(lostUpdates) }},
	{fault: "counts versions by itself", caught: conflicts, open: func() once.Store {
		var mu sync.Mutex
		versions := map[string]int{}
		return &wrong{Store: oncetest.NewStore(), put: func(put putFunc, r once.Record) error {
			mu.Lock()
			defer mu.Unlock()
			versions[r.Key]++
			r.Version = versions[r.Key]
			return put(r)
		}}
	}},
	{fault: "has versions that do not grow", caught: keeps, open: getting(func(r record, err error) (record, error) {
		r.Version = min(r.Version, 1)
		return r, err
	})},
	{fault: "sorts versions as text", caught: keeps, open: func() once.Store {
		return &textVersions{records: map[string]record{}}
	}},
	{fault: "returns before it has stored", caught: keeps, open: func() once.Store {
		return &wrong{Store: oncetest.NewStore(), put: func(put putFunc, r once.Record) error {
			time.AfterFunc(5*time.Millisecond, func() { _ = put(r) })
			return nil
		}}
	}},
	{fault: "reads from a cache", caught: keeps, open: func() once.Store { return &cache{Store: oncetest.NewStore()} }},
	{fault: "keeps all records in one value", caught: keepsKeys, open: func() once.Store { return new(oneValue) }},
}

// These mix up keys.
var keyStores = []wrongStore{
	{fault: "ignores the case of keys", caught: tellsKeys, open: mapping(strings.ToLower)},
	{fault: "cleans keys as paths", caught: tellsKeys, open: mapping(path.Clean)},
	{fault: "makes slashes dashes", caught: tellsKeys, open: mapping(func(key string) string {
		return strings.ReplaceAll(key, "/", "-")
	})},
	{fault: "unescapes keys", caught: tellsKeys, open: mapping(func(key string) string {
		return strings.ReplaceAll(key, "%2F", "/")
	})},
	{fault: "cuts keys at 255", caught: tellsKeys, open: mapping(func(key string) string { return cut(key, 255) })},
	{fault: "composes the letters of keys", caught: tellsKeys, open: mapping(func(key string) string {
		return strings.ReplaceAll(key, "e\u0301", "\u00e9")
	})},
	{fault: "has an error for no record", caught: knowsNone, open: getting(func(r record, err error) (record, error) {
		if r.Version == 0 && err == nil {
			return r, errors.New("no rows in result set")
		}
		return r, err
	})},
	{fault: "has the key of no record", caught: knowsNone, open: func() once.Store {
		return &wrong{Store: oncetest.NewStore(), getKey: func(key string, r once.Record) once.Record {
			r.Key = key
			return r
		}}
	}},
}

// These list too little, too much or too late.
var listStores = []wrongStore{
	{fault: "lists a page of 100", caught: listsAll, open: listing(func(all records, _ states) records {
		return all[:min(len(all), 100)]
	})},
	{fault: "lists a page of 1,000", caught: listsAll, open: listing(func(all records, _ states) records {
		return all[:min(len(all), 1000)]
	})},
	{fault: "lists a page of 1,000 by state", caught: listsAll, open: listing(func(all records, in states) records {
		if len(in) == 0 {
			return all
		}
		return all[:min(len(all), 1000)]
	})},
	{fault: "chooses the states within a page of 1,000", caught: listsAll, open: func() once.Store {
		return &wrong{Store: oncetest.NewStore(), list: func(list listFunc, in states) (records, error) {
			all, err := list(nil)
			return inStates(all[:min(len(all), 1000)], in), err
		}}
	}},
	{fault: "lists the newest first", caught: lists, open: listing(func(all records, _ states) records {
		slices.Reverse(all)
		return all
	})},
	{fault: "lists in the order of keys", caught: lists, open: listing(func(all records, _ states) records {
		slices.SortFunc(all, func(a, b once.Record) int { return strings.Compare(a.Key, b.Key) })
		return all
	})},
	{fault: "ignores the states", caught: lists, open: listingStates(func(states) states { return nil })},
	{fault: "lists the first state", caught: lists, open: listingStates(func(in states) states {
		return in[:min(len(in), 1)]
	})},
	{fault: "lists open records if no states are given", caught: lists, open: listingStates(func(in states) states {
		if len(in) == 0 {
			return states{once.Pending, once.Sending, once.Running}
		}
		return in
	})},
	{fault: "lists without the prompts", caught: lists, open: listing(func(all records, _ states) records {
		for i := range all {
			all[i].Prompt = ""
		}
		return all
	})},
	{fault: "lists the first version", caught: lists, open: func() once.Store {
		first := oncetest.NewStore()
		return &wrong{
			Store: oncetest.NewStore(),
			put: func(put putFunc, r once.Record) error {
				if r.Version == 1 {
					_ = first.Put(context.Background(), r)
				}
				return put(r)
			},
			list: func(_ listFunc, in states) (records, error) {
				return first.List(context.Background(), in...)
			},
		}
	}},
	{fault: "lists every version", caught: lists, open: func() once.Store {
		var mu sync.Mutex
		var versions records
		return &wrong{
			Store: oncetest.NewStore(),
			put: func(put putFunc, r once.Record) error {
				mu.Lock()
				defer mu.Unlock()
				err := put(r)
				if err == nil {
					versions = append(versions, r)
				}
				return err
			},
			list: func(_ listFunc, in states) (records, error) {
				mu.Lock()
				defer mu.Unlock()
				return inStates(slices.Clone(versions), in), nil
			},
		}
	}},
	{fault: "lists nothing if it cannot", caught: lists, open: listing(func(records, states) records { return nil })},
	{fault: "lists from an index that is updated later", caught: listsPuts, open: func() once.Store {
		return &lateIndex{Store: oncetest.NewStore(), index: oncetest.NewStore()}
	}},
	{fault: "lists from a cache", caught: listsPuts, open: func() once.Store {
		return &listCache{Store: oncetest.NewStore()}
	}},
	{fault: "lists one state after the other", caught: listsMoves, open: func() once.Store {
		return &wrong{Store: oncetest.NewStore(), list: func(list listFunc, in states) (records, error) {
			if len(in) == 0 {
				return list(nil)
			}
			var all records
			for _, state := range in {
				records, err := list(states{state})
				if err != nil {
					return nil, err
				}
				all = append(all, records...)
				time.Sleep(time.Millisecond)
			}
			slices.SortFunc(all, func(a, b once.Record) int { return a.UpdatedAt.Compare(b.UpdatedAt) })
			return all, nil
		}, put: func(put putFunc, r once.Record) error {
			time.Sleep(100 * time.Microsecond)
			return put(r)
		}}
	}},
	{fault: "returns its own list", caught: listsOwn, open: func() once.Store { return new(sharedList) }},
	{
		fault: "lists records of one time in any order", harmless: "the order of such records decides nothing",
		open: listing(func(all records, _ states) records {
			slices.Reverse(all)
			slices.SortStableFunc(all, func(a, b once.Record) int { return a.UpdatedAt.Compare(b.UpdatedAt) })
			return all
		}),
	},
}

var otherStores = []wrongStore{
	{fault: "gets in spite of an ended context", caught: endsWith, open: func() once.Store {
		return &endless{Store: oncetest.NewStore(), gets: true}
	}},
	{fault: "lists in spite of an ended context", caught: endsWith, open: func() once.Store {
		return &endless{Store: oncetest.NewStore()}
	}},
	{fault: "has no record if ctx has ended", caught: endsWith, open: getting(func(r record, _ error) (record, error) {
		return r, nil
	})},
	{
		fault: "puts in spite of an ended context", open: func() once.Store { return endlessPut{oncetest.NewStore()} },
		harmless: "the SDK itself compares the deadline of a claim before it sends",
	},
	{fault: "shows others the prompt", isPublic: true, caught: keeps, open: changing(func(r *once.Record) {
		r.ProjectID = ""
		r.Problem = ""
	})},
	{fault: "shows others the problem", isPublic: true, caught: keeps, open: changing(func(r *once.Record) {
		r.Prompt = ""
		r.ProjectID = ""
	})},
	{fault: "leaves out Thread, too", isPublic: true, caught: keepsAfter, open: changing(func(r *once.Record) {
		*r = public(*r)
		r.Thread = ""
	})},
	{fault: "has an AddedAt of its own", isPublic: true, caught: keeps, open: changing(func(r *once.Record) {
		*r = public(*r)
		r.AddedAt = r.UpdatedAt
	})},
	{
		fault: "leaves out what it may", isPublic: true, harmless: "the comment of Store says so",
		open: changing(func(r *once.Record) {
			*r = public(*r)
			r.AddedAt = time.Time{}
			r.Reported = ""
		}),
	},
	{fault: "leaves out After, too", isPublic: true, caught: keepsAfter, open: changing(func(r *once.Record) {
		*r = public(*r)
		r.After = ""
	})},
	{
		fault: "cannot list", open: func() once.Store { return unlisted{oncetest.NewStore()} },
		harmless: "Resume and Run say so, and Step and Do work",
	},
}

// TestStore must find each fault that does harm.
func TestStoreFindsWrongStores(t *testing.T) {
	if os.Getenv("WRONG_STORES") != "" {
		for _, store := range wrongStores {
			t.Run(store.fault, func(t *testing.T) {
				test := oncetest.TestStore
				if store.isPublic {
					test = oncetest.TestPublicStore
				}
				test(t, func(*testing.T) once.Store { return store.open() })
			})
		}
		return
	}

	failed := failedChecks(t)
	caught := 0
	for _, store := range wrongStores {
		require.NotEqual(t, store.caught == "", store.harmless == "", store.fault)
		checks := failed[store.fault]
		if store.caught == "" {
			assert.Empty(t, checks, "a store that %s: %s", store.fault, store.harmless)
			continue
		}

		caught++
		assert.Contains(t, checks, store.caught, "a store that %s", store.fault)
	}
	t.Logf("TestStore finds %d of %d wrong stores; the others do no harm", caught, len(wrongStores))
}

var failedCheck = regexp.MustCompile(`(?m)^\s+--- FAIL: [^/]+/([^/]+)/([^/ ]+) `)

// failedChecks runs TestStore on each wrong store in another process, and returns the checks that
// failed, by the fault.
func failedChecks(t *testing.T) map[string][]string {
	t.Helper()
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestStoreFindsWrongStores$", "-test.timeout=2m")
	again.Env = append(os.Environ(), "WRONG_STORES=1")
	output, err := again.CombinedOutput()
	require.Error(t, err, "wrong stores pass")

	failed := map[string][]string{}
	for _, match := range failedCheck.FindAllStringSubmatch(string(output), -1) {
		fault := strings.ReplaceAll(match[1], "_", " ")
		failed[fault] = append(failed[fault], strings.ReplaceAll(match[2], "_", " "))
	}
	require.NotEmpty(t, failed, string(output))
	return failed
}

// cut returns the first n bytes of text.
func cut(text string, n int) string { return text[:min(len(text), n)] }

func keepOmitted[T comparable](field *T, old T) {
	var zero T
	if *field == zero {
		*field = old
	}
}

func conflictUnless(ok bool) error {
	if !ok {
		return once.ErrConflict
	}
	return nil
}

func inStates(records records, in states) records {
	if len(in) == 0 {
		return records
	}
	return slices.DeleteFunc(records, func(r once.Record) bool { return !slices.Contains(in, r.State) })
}

type (
	putFunc  func(r once.Record) error
	listFunc func(in states) (records, error)
)

// wrong is a store with functions between.
type wrong struct {
	once.Store
	get    func(r once.Record, err error) (once.Record, error)
	getKey func(key string, r once.Record) once.Record
	put    func(put putFunc, r once.Record) error
	list   func(list listFunc, in states) (records, error)
}

func (w *wrong) Get(ctx context.Context, key string) (once.Record, error) {
	r, err := w.Store.Get(ctx, key)
	if w.get != nil {
		return w.get(r, err)
	}
	if w.getKey != nil {
		return w.getKey(key, r), err
	}
	return r, err
}

func (w *wrong) Put(ctx context.Context, r once.Record) error {
	if w.put == nil {
		return w.Store.Put(ctx, r)
	}
	return w.put(func(r once.Record) error { return w.Store.Put(ctx, r) }, r)
}

func (w *wrong) List(ctx context.Context, in ...once.State) (records, error) {
	if w.list == nil || ctx.Err() != nil {
		return w.Store.List(ctx, in...)
	}
	return w.list(func(in states) (records, error) { return w.Store.List(ctx, in...) }, in)
}

// getting is a store whose Get returns what f makes of it.
func getting(f func(r once.Record, err error) (once.Record, error)) func() once.Store {
	return func() once.Store { return &wrong{Store: oncetest.NewStore(), get: f} }
}

// putting is a store whose Put is f.
func putting(f func(put putFunc, r once.Record) error) func() once.Store {
	return func() once.Store { return &wrong{Store: oncetest.NewStore(), put: f} }
}

// changing is a store that stores what f makes of a record.
func changing(f func(r *once.Record)) func() once.Store {
	return putting(func(put putFunc, r once.Record) error {
		f(&r)
		return put(r)
	})
}

// merging is a store that stores what f makes of a record and the version before it.
func merging(f func(old once.Record, r *once.Record)) func() once.Store {
	return func() once.Store {
		memory := oncetest.NewStore()
		return &wrong{Store: memory, put: func(put putFunc, r once.Record) error {
			old, err := memory.Get(context.Background(), r.Key)
			if err != nil {
				return err
			}
			f(old, &r)
			return put(r)
		}}
	}
}

// listing is a store whose List returns what f makes of it.
func listing(f func(all records, in states) records) func() once.Store {
	return func() once.Store {
		return &wrong{Store: oncetest.NewStore(), list: func(list listFunc, in states) (records, error) {
			all, err := list(in)
			return f(all, in), err
		}}
	}
}

// listingStates is a store that lists other states.
func listingStates(f func(in states) states) func() once.Store {
	return func() once.Store {
		return &wrong{Store: oncetest.NewStore(), list: func(list listFunc, in states) (records, error) {
			return list(f(in))
		}}
	}
}

// rows is a store whose Put stores what check lets pass.
type rows struct {
	mu      sync.Mutex
	records map[string]once.Record
	check   func(old, r once.Record) error
}

// unchecked is a store with a check of its own.
func unchecked(check func(old, r once.Record) error) func() once.Store {
	return func() once.Store { return &rows{records: map[string]once.Record{}, check: check} }
}

func (s *rows) Get(ctx context.Context, key string) (once.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.records[key], ctx.Err()
}

func (s *rows) Put(_ context.Context, r once.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.check(s.records[r.Key], r)
	if err == nil {
		s.records[r.Key] = r
	}
	return err
}

func (s *rows) List(context.Context, ...once.State) (records, error) {
	return nil, errors.ErrUnsupported
}

// mapping is a store that stores a record under what f makes of its key.
func mapping(f func(key string) string) func() once.Store {
	return func() once.Store {
		s := &rows{records: map[string]once.Record{}}
		s.check = func(_, r once.Record) error {
			old := s.records[f(r.Key)]
			if old.Version != r.Version-1 {
				return once.ErrConflict
			}
			s.records[f(r.Key)] = r
			return nil
		}
		return mapped{s, f}
	}
}

type mapped struct {
	*rows
	key func(string) string
}

func (m mapped) Get(ctx context.Context, key string) (once.Record, error) {
	return m.rows.Get(ctx, m.key(key))
}

// lostUpdates reads, then writes.
type lostUpdates struct {
	mu      sync.Mutex
	records map[string]once.Record
}

func (s *lostUpdates) Get(ctx context.Context, key string) (once.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.records[key], ctx.Err()
}

func (s *lostUpdates) Put(ctx context.Context, r once.Record) error {
	old, err := s.Get(ctx, r.Key)
	if err != nil || old.Version != r.Version-1 {
		return errors.Join(err, conflictUnless(err != nil))
	}
	time.Sleep(time.Millisecond)

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.records == nil {
		s.records = map[string]once.Record{}
	}
	s.records[r.Key] = r
	return nil
}

func (s *lostUpdates) List(context.Context, ...once.State) (records, error) {
	return nil, errors.ErrUnsupported
}

// textVersions has a file for each version, and reads the last in the order of names.
type textVersions struct {
	mu      sync.Mutex
	records map[string]once.Record
}

func (s *textVersions) newest(key string) once.Record {
	names := slices.Sorted(maps.Keys(s.records))
	for _, name := range slices.Backward(names) {
		if s.records[name].Key == key {
			return s.records[name]
		}
	}
	return once.Record{}
}

func (s *textVersions) Get(ctx context.Context, key string) (once.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.newest(key), ctx.Err()
}

func (s *textVersions) Put(_ context.Context, r once.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.newest(r.Key).Version != r.Version-1 {
		return once.ErrConflict
	}
	s.records[fmt.Sprintf("%s/%d", r.Key, r.Version)] = r
	return nil
}

func (s *textVersions) List(context.Context, ...once.State) (records, error) {
	return nil, errors.ErrUnsupported
}

// cache reads a record once.
type cache struct {
	once.Store
	read sync.Map
}

func (c *cache) Get(ctx context.Context, key string) (once.Record, error) {
	known, ok := c.read.Load(key)
	if ok && ctx.Err() == nil {
		return known.(once.Record), nil
	}
	r, err := c.Store.Get(ctx, key)
	if err == nil {
		c.read.Store(key, r)
	}
	return r, err
}

// oneValue keeps all records in one value, which it reads, changes and writes.
type oneValue struct {
	mu  sync.Mutex
	all map[string]once.Record
}

func (s *oneValue) read() map[string]once.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := maps.Clone(s.all)
	if all == nil {
		all = map[string]once.Record{}
	}
	return all
}

func (s *oneValue) Get(ctx context.Context, key string) (once.Record, error) {
	return s.read()[key], ctx.Err()
}

func (s *oneValue) Put(_ context.Context, r once.Record) error {
	all := s.read()
	if all[r.Key].Version != r.Version-1 {
		return once.ErrConflict
	}
	all[r.Key] = r
	time.Sleep(time.Millisecond)

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[r.Key].Version == r.Version {
		return once.ErrConflict
	}
	s.all = all
	return nil
}

func (s *oneValue) List(context.Context, ...once.State) (records, error) {
	return nil, errors.ErrUnsupported
}

// lateIndex lists from an index.
type lateIndex struct {
	once.Store
	index once.Store
}

func (s *lateIndex) Put(ctx context.Context, r once.Record) error {
	err := s.Store.Put(ctx, r)
	if err == nil && r.State == once.Sending {
		time.AfterFunc(5*time.Millisecond, func() { _ = s.index.Put(context.Background(), r) })
	} else if err == nil {
		err = s.index.Put(ctx, r)
	}
	return err
}

func (s *lateIndex) List(ctx context.Context, in ...once.State) (records, error) {
	return s.index.List(ctx, in...)
}

// listCache lists what it has listed within the last 50 ms.
type listCache struct {
	once.Store
	mu    sync.Mutex
	lists map[string]records
	since time.Time
}

func (c *listCache) List(ctx context.Context, in ...once.State) (records, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.since) > 50*time.Millisecond || c.lists == nil {
		c.lists = map[string]records{}
		c.since = time.Now()
	}

	query := fmt.Sprint(in)
	known, ok := c.lists[query]
	if ok && ctx.Err() == nil {
		return slices.Clone(known), nil
	}
	records, err := c.Store.List(ctx, in...)
	if err == nil {
		c.lists[query] = records
	}
	return slices.Clone(records), err
}

// sharedList keeps its records in a slice, in the order of UpdatedAt, and returns it.
type sharedList struct {
	mu  sync.Mutex
	all records
}

func (s *sharedList) place(key string) int {
	return slices.IndexFunc(s.all, func(r once.Record) bool { return r.Key == key })
}

func (s *sharedList) Get(ctx context.Context, key string) (once.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.place(key)
	if i < 0 {
		return once.Record{}, ctx.Err()
	}
	return s.all[i], ctx.Err()
}

func (s *sharedList) Put(ctx context.Context, r once.Record) error {
	old, err := s.Get(ctx, r.Key)
	if err != nil {
		return err
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if old.Version != r.Version-1 {
		return once.ErrConflict
	}
	if i := s.place(r.Key); i >= 0 {
		s.all = slices.Delete(slices.Clone(s.all), i, i+1)
	}
	s.all = append(s.all, r)
	slices.SortStableFunc(s.all, func(a, b once.Record) int { return a.UpdatedAt.Compare(b.UpdatedAt) })
	return nil
}

func (s *sharedList) List(ctx context.Context, in ...once.State) (records, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(in) == 0 {
		return s.all, ctx.Err()
	}
	return inStates(slices.Clone(s.all), in), ctx.Err()
}

// endless ignores the end of a context in Get or in List.
type endless struct {
	once.Store
	gets bool
}

func (e *endless) Get(ctx context.Context, key string) (once.Record, error) {
	if e.gets {
		ctx = context.WithoutCancel(ctx)
	}
	return e.Store.Get(ctx, key)
}

func (e *endless) List(ctx context.Context, in ...once.State) (records, error) {
	if !e.gets {
		ctx = context.WithoutCancel(ctx)
	}
	return e.Store.List(ctx, in...)
}

type endlessPut struct{ once.Store }

func (e endlessPut) Put(ctx context.Context, r once.Record) error {
	return e.Store.Put(context.WithoutCancel(ctx), r)
}

type unlisted struct{ once.Store }

func (unlisted) List(context.Context, ...once.State) (records, error) {
	return nil, errors.ErrUnsupported
}
