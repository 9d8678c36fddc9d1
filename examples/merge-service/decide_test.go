package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
	"github.com/mintlify-community/mintlify-go/once/oncetest"
)

func TestAPersonDecides(t *testing.T) {
	fake := mintlifytest.NewService()
	fake.AddJob("job_found")
	store := oncetest.NewStore()
	runner, err := once.New(fake.Client(), store)
	require.NoError(t, err)

	put := func(key string, state once.State) {
		record := once.Record{Task: once.Task{Key: key, Prompt: "Document it."}, State: state, Version: 1, Problem: "why"}
		require.NoError(t, store.Put(t.Context(), record))
	}
	for _, key := range []string{"a@1", "a@2", "a@3"} {
		put(key, once.Unknown)
	}
	put("a@4", once.Refused)
	put("a@5", once.Refused)

	run := func(args ...string) (string, error) {
		var out bytes.Buffer
		err := decide(t.Context(), runner, store, args, &out)
		return out.String(), err
	}
	said, err := run()
	require.NoError(t, err)
	assert.Contains(t, said, "Docs for a@3: unknown why\nNext: wait an hour, and look for a pull request with the "+
		`line "docs-job: a@3".`)
	assert.Contains(t, said, "merge-service decide -refused for all")

	for _, tc := range []struct {
		args []string
		says string
	}{
		{[]string{"a@1", "-pull", "https://example.com/pull/1"}, "Docs for a@1: done https://example.com/pull/1\n"},
		{[]string{"a@2", "-job", "job_found"}, "Docs for a@2: running\n"},
		{[]string{"a@3", "-again"}, "Docs for a@3: pending\n"},
		{[]string{"-refused"}, "Docs for a@4: pending\nDocs for a@5: pending\n"},
	} {
		said, err := run(tc.args...)
		require.NoError(t, err, tc.args)
		assert.Equal(t, tc.says, said)
	}

	_, err = run("a@9", "-again")
	require.ErrorIs(t, err, once.ErrState)
	put("a@6", once.Unknown)
	_, err = run("a@6", "-job", "job_nobody_knows")
	require.Error(t, err, "the service does not know the job")

	for _, args := range [][]string{
		{"a@6"}, {"-again"}, {"a@6", "-refused"}, {"a@6", "-job", ""}, {"a@6", "-again", "-job", "x"}, {"a@6", "x", "-again"},
		{"a@6", "-nope"},
	} {
		_, err = run(args...)
		require.ErrorIs(t, err, errUsage, args)
	}
	record, err := store.Get(t.Context(), "a@6")
	require.NoError(t, err)
	assert.Equal(t, once.Unknown, record.State)
}
