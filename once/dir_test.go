package once_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/once"
)

// "not on record" would invite a person to add the task again.
func TestVanishedDirectoryIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records")
	store, err := once.NewDir(path)
	require.NoError(t, err)
	runner, err := once.New(nil, store)
	require.NoError(t, err)
	_, _, err = runner.Add(t.Context(), task)
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(path))

	_, getErr := store.Get(t.Context(), key)
	_, listErr := store.List(t.Context())
	_, _, addErr := runner.Add(t.Context(), task)
	_, cancelErr := runner.Cancel(t.Context(), key)
	putErr := store.Put(t.Context(), once.Record{Task: task, Version: 1, State: once.Pending})
	for name, err := range map[string]error{
		"Get": getErr, "List": listErr, "Put": putErr, "Add": addErr, "Cancel": cancelErr,
	} {
		require.ErrorContains(t, err, "the directory of the records has vanished", name)
		require.ErrorContains(t, err, path, name)
		require.ErrorIs(t, err, fs.ErrNotExist, name)
		require.NotErrorIs(t, err, once.ErrState, name)
	}
	assert.NoDirExists(t, path, "it is not made again, without its records")
}

func TestZeroStoresNameTheirConstructor(t *testing.T) {
	store := new(once.Dir)
	_, err := store.Get(t.Context(), key)
	require.ErrorContains(t, err, "NewDir")
	_, err = store.List(t.Context())
	require.ErrorContains(t, err, "NewDir")
	require.ErrorContains(t, store.Put(t.Context(), once.Record{Task: task, Version: 1}), "NewDir")

	require.ErrorContains(t, new(once.SQL).CreateTable(t.Context()), "NewSQL")
}

// docs/once.md says for how many records a Dir is meant, by what this measures.
func BenchmarkListOfADir(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			path := b.TempDir()
			store, err := once.NewDir(path)
			require.NoError(b, err)
			fillDir(b, path, n)

			for b.Loop() {
				records, err := store.List(b.Context(), once.Pending, once.Sending, once.Running)
				require.NoError(b, err)
				require.Empty(b, records)
			}
		})
	}
}

// fillDir writes n records that are done, each in four versions, without syncing them.
func fillDir(b *testing.B, path string, n int) {
	for i := range n {
		r := once.Record{
			Task:      once.Task{Key: fmt.Sprint("acme/api@", i), Prompt: strings.Repeat("Document it. ", 80)},
			State:     once.Done,
			JobID:     "job_1",
			UpdatedAt: time.Now().UTC(),
		}
		folder := filepath.Join(path, fmt.Sprintf("%x", sha256.Sum256([]byte(r.Key))))
		require.NoError(b, os.Mkdir(folder, 0o700))

		for r.Version = 1; r.Version <= 4; r.Version++ {
			text, err := json.Marshal(r)
			require.NoError(b, err)
			file := filepath.Join(folder, fmt.Sprintf("%09d.json", r.Version))
			require.NoError(b, os.WriteFile(file, text, 0o600))
		}
	}
}
