package test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The SDK stands on internal/, so nothing there may import it, except what tests and records it.
func TestInternalImportsNothingOfTheSDK(t *testing.T) {
	isAbove := map[string]bool{"internal/test": true, "internal/recording": true}
	checked := 0

	err := filepath.WalkDir("internal", func(path string, entry fs.DirEntry, err error) error {
		if isAbove[filepath.ToSlash(path)] {
			return fs.SkipDir
		}
		isSource := strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go")
		if err != nil || !isSource {
			return err
		}

		checked++
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			own, isOurs := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), modulePath)
			own = strings.TrimPrefix(own, "/")
			isGround := strings.HasPrefix(own, "internal/") && !isAbove[strings.Join(strings.Split(own, "/")[:2], "/")]
			assert.True(t, !isOurs || isGround, "%s imports %s", path, spec.Path.Value)
		}
		return nil
	})
	require.NoError(t, err)
	assert.Greater(t, checked, 10)
}
