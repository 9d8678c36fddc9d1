package mintlify_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEveryExportedNameIsDocumented(t *testing.T) {
	for _, dir := range []string{".", "mintlifytest", "once", "once/oncetest"} {
		pkg := parsePackage(t, dir)
		assert.NotEmpty(t, pkg.Doc, dir)
		for _, name := range undocumented(pkg) {
			t.Errorf("%s: %s has no doc comment", dir, name)
		}
	}
}

func TestMissingDocCommentIsFound(t *testing.T) {
	const source = `package x
type T struct { F, g int }
func (T) M() {}
func F() {}
const C = 1
var V int
type t struct { F int }
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "x.go", source, parser.ParseComments)
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
// comment describes. One comment may describe a group.
func undocumented(pkg *doc.Package) []string {
	names := undocumentedValues(slices.Concat(pkg.Consts, pkg.Vars))
	names = append(names, undocumentedFuncs("", pkg.Funcs)...)
	for _, typ := range pkg.Types {
		if typ.Doc == "" {
			names = append(names, typ.Name)
		}
		names = append(names, undocumentedValues(slices.Concat(typ.Consts, typ.Vars))...)
		names = append(names, undocumentedFuncs("", typ.Funcs)...)
		names = append(names, undocumentedFuncs(typ.Name+".", typ.Methods)...)
		names = append(names, undocumentedFields(typ)...)
	}
	return names
}

func undocumentedValues(groups []*doc.Value) []string {
	var names []string
	for _, group := range groups {
		if group.Doc != "" {
			continue
		}
		for _, spec := range group.Decl.Specs {
			spec := spec.(*ast.ValueSpec)
			if spec.Doc == nil && spec.Comment == nil {
				names = append(names, exportedNames(spec.Names)...)
			}
		}
	}
	return names
}

func undocumentedFuncs(prefix string, funcs []*doc.Func) []string {
	var names []string
	for _, f := range funcs {
		if f.Doc == "" && f.Name != "Error" {
			names = append(names, prefix+f.Name)
		}
	}
	return names
}

func undocumentedFields(typ *doc.Type) []string {
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
			for _, name := range exportedNames(field.Names) {
				names = append(names, typ.Name+"."+name)
			}
		}
	}
	return names
}

func exportedNames(idents []*ast.Ident) []string {
	var names []string
	for _, ident := range idents {
		if ident.IsExported() {
			names = append(names, ident.Name)
		}
	}
	return names
}
