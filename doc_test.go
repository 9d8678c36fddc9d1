package mintlify_test

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

func TestEveryExportedNameIsDocumented(t *testing.T) {
	for _, dir := range []string{".", "mintlifytest", "once"} {
		pkg := parsePackage(t, dir)
		assert.NotEmpty(t, pkg.Doc, dir)
		for _, name := range undocumented(pkg) {
			t.Errorf("%s: %s has no doc comment", dir, name)
		}
	}
}

func TestMissingDocCommentIsFound(t *testing.T) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "x.go", `package x
type T struct { F, g int }
func (T) M() {}
func F() {}
const C = 1
var V int
type t struct { F int }
`, parser.ParseComments)
	require.NoError(t, err)
	pkg, err := doc.NewFromFiles(fset, []*ast.File{file}, "x")
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"T", "T.F", "T.M", "F", "C", "V"}, undocumented(pkg))
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

// undocumented lists the exported names of pkg, struct fields included, that no
// comment speaks of. One comment may speak for a group.
func undocumented(pkg *doc.Package) (names []string) {
	values := func(groups []*doc.Value) {
		for _, group := range groups {
			for _, spec := range group.Decl.Specs {
				spec := spec.(*ast.ValueSpec)
				for _, name := range spec.Names {
					if name.IsExported() && group.Doc == "" && spec.Doc == nil && spec.Comment == nil {
						names = append(names, name.Name)
					}
				}
			}
		}
	}
	funcs := func(prefix string, funcs []*doc.Func) {
		for _, f := range funcs {
			if f.Doc == "" && f.Name != "Error" {
				names = append(names, prefix+f.Name)
			}
		}
	}
	values(pkg.Consts)
	values(pkg.Vars)
	funcs("", pkg.Funcs)
	for _, typ := range pkg.Types {
		if typ.Doc == "" {
			names = append(names, typ.Name)
		}
		values(typ.Consts)
		values(typ.Vars)
		funcs("", typ.Funcs)
		funcs(typ.Name+".", typ.Methods)
		names = append(names, undocumentedFields(typ)...)
	}
	return names
}

func undocumentedFields(typ *doc.Type) (names []string) {
	for _, spec := range typ.Decl.Specs {
		structure, ok := spec.(*ast.TypeSpec).Type.(*ast.StructType)
		if !ok {
			continue
		}
		for _, field := range structure.Fields.List {
			for _, name := range field.Names {
				if name.IsExported() && field.Doc == nil && field.Comment == nil {
					names = append(names, typ.Name+"."+name.Name)
				}
			}
		}
	}
	return names
}
