package test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A linter requires the comments of packages' other names.
func TestEveryExportedFieldIsDocumented(t *testing.T) {
	for _, dir := range []string{".", "mintlifytest", "once", "once/oncetest"} {
		pkg := parsePackage(t, dir)
		assert.NotEmpty(t, pkg.Doc, dir)
		for _, typ := range pkg.Types {
			assert.Empty(t, undocumented(typ), dir)
		}
	}
}

func parsePackage(t *testing.T, dir string) *doc.Package {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)

	fset := token.NewFileSet()
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}

		source, err := os.ReadFile(path)
		require.NoError(t, err)
		file, err := parser.ParseFile(fset, path, source, parser.ParseComments)
		require.NoError(t, err)
		files = append(files, file)
	}

	pkg, err := doc.NewFromFiles(fset, files, "example.com/"+dir)
	require.NoError(t, err)
	return pkg
}

// undocumented lists the exported fields of a struct that no comment describes.
func undocumented(typ *doc.Type) []string {
	var names []string
	for _, spec := range typ.Decl.Specs {
		structure, isStruct := spec.(*ast.TypeSpec).Type.(*ast.StructType)
		if !isStruct {
			continue
		}
		for _, field := range structure.Fields.List {
			if field.Doc != nil || field.Comment != nil {
				continue
			}
			for _, name := range field.Names {
				if name.IsExported() {
					names = append(names, typ.Name+"."+name.Name)
				}
			}
		}
	}
	return names
}
