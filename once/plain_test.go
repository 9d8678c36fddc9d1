package once_test

import (
	"context"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/once"
	"github.com/mintlify-community/mintlify-go/once/oncetest"
)

// Calls as one writes them without reading: each does what its author expects, or does not compile,
// or its error says why.
func TestPlainCalls(t *testing.T) {
	t.Run("another project for a known key", func(t *testing.T) {
		inWorld(t, func(t *testing.T, w *world) {
			first := once.Task{Key: key, Prompt: "x", ProjectID: "project-1"}
			second := once.Task{Key: key, Prompt: "x", ProjectID: "project-2"}
			w.add(first)
			record, added, err := w.Add(t.Context(), second)
			require.NoError(t, err, "it is pending still")
			assert.False(t, added)
			assert.Equal(t, "project-1", record.ProjectID)

			record, err = w.Do(t.Context(), second)
			require.NoError(t, err, "a wrong project can be mended")
			assert.Equal(t, "project-2", record.ProjectID)

			_, err = w.Do(t.Context(), first)
			require.ErrorIs(t, err, mintlify.ErrInvalidArgument)
			require.ErrorContains(t, err, "project-2")
			_, _, err = w.Add(t.Context(), first)
			require.ErrorIs(t, err, mintlify.ErrInvalidArgument)

			_, err = w.Do(t.Context(), once.Task{Key: key, Prompt: "x"})
			require.NoError(t, err, "no project is the record's")

			w.add(comment)
			_, err = w.Do(t.Context(), once.Task{Key: commentKey, Prompt: "x", After: key, ProjectID: "project-3"})
			require.NoError(t, err, "a follow-up's is ignored")
			assert.Equal(t, "project-2", w.get(commentKey).ProjectID)
		})
	})

	t.Run("another prompt for a key that is done", func(t *testing.T) {
		inWorld(t, func(t *testing.T, w *world) {
			record := w.do(task)
			again := w.do(once.Task{Key: key, Prompt: "worded anew"})
			assert.Equal(t, record, again, "a webhook that is delivered again words it anew")
			assert.Equal(t, 1, w.posts())
		})
	})

	t.Run("a nil ctx", func(t *testing.T) {
		var none context.Context
		w := newWorld(t, oncetest.NewStore())
		for name, call := range map[string]func() error{
			"Do":        func() error { _, err := w.Do(none, task); return err },
			"Add":       func() error { _, _, err := w.Add(none, task); return err },
			"Step":      func() error { _, err := w.Step(none, key); return err },
			"Resume":    func() error { return w.Resume(none) },
			"Run":       func() error { return w.Run(none) },
			"Adopt":     func() error { _, err := w.Adopt(none, key, "job_1"); return err },
			"MarkDone":  func() error { _, err := w.MarkDone(none, key, ""); return err },
			"SendAgain": func() error { _, err := w.SendAgain(none, key); return err },
			"Cancel":    func() error { _, err := w.Cancel(none, key); return err },
		} {
			var bad *mintlify.ArgumentError
			if assert.ErrorAs(t, call(), &bad, name) {
				assert.Equal(t, "ctx", bad.Name, name)
			}
		}
	})
}

// An option that a user writes as a function would be called with a Runner in use.
func TestFunctionIsNotAnOption(t *testing.T) {
	const head = `package p; import "github.com/mintlify-community/mintlify-go/once"; `
	for source, compiles := range map[string]bool{
		`var _ once.Option = once.WithSendTime(1)`:             true,
		`var _ once.Option = func(*once.Runner) {}`:            false,
		`var _, _ = once.New(nil, nil, func(*once.Runner) {})`: false,
	} {
		err := typeCheck(t, head+source)
		assert.Equal(t, compiles, err == nil, "%s: %v", source, err)
	}
}

// typeCheck returns why source does not compile. It imports what the go command has compiled.
func typeCheck(t *testing.T, source string) error {
	t.Helper()
	lookup := func(path string) (io.ReadCloser, error) {
		out, err := exec.Command("go", "list", "-export", "-f", "{{.Export}}", path).Output()
		if err != nil {
			return nil, err
		}
		return os.Open(strings.TrimSpace(string(out)))
	}

	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "plain.go", source, 0)
	require.NoError(t, err)

	config := types.Config{Importer: importer.ForCompiler(files, "gc", lookup)}
	_, err = config.Check("p", files, []*ast.File{file}, nil)
	return err
}
