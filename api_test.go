package mintlify_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/doc"
	"go/printer"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var updateAPI = flag.Bool("update-api", false, "write api/go.txt from the source")

// A change of the public surface is seen in the diff of api/go.txt.
func TestExportedAPIIsTheOneWrittenDown(t *testing.T) {
	var lines []string
	for _, dir := range []string{".", "mintlifytest", "once"} {
		lines = append(lines, exportedAPI(t, parsePackage(t, dir))...)
	}
	api := strings.Join(lines, "\n") + "\n"
	if *updateAPI {
		require.NoError(t, os.WriteFile("api/go.txt", []byte(api), 0o644))
	}
	written, err := os.ReadFile("api/go.txt")
	require.NoError(t, err)
	if changes := changes(string(written), api); len(changes) > 0 {
		t.Errorf("the exported API has changed; if it is to: go test -run API . -update-api\n%s", strings.Join(changes, "\n"))
	}
}

// changes lists the lines that only one of the texts has: with a - those of the
// old one, with a + those of the new one, each change beside what it replaces.
func changes(old, updated string) (lines []string) {
	before, after := strings.Split(old, "\n"), strings.Split(updated, "\n")
	for _, line := range before {
		if !slices.Contains(after, line) {
			lines = append(lines, "- "+line)
		}
	}
	for _, line := range after {
		if !slices.Contains(before, line) {
			lines = append(lines, "+ "+line)
		}
	}
	slices.SortStableFunc(lines, func(a, b string) int { return strings.Compare(a[2:], b[2:]) })
	return lines
}

func TestOnlyTheLinesThatDifferAreShown(t *testing.T) {
	assert.Empty(t, changes("a\nb\n", "a\nb\n"))
	assert.Equal(t, []string{"- func F()", "+ func F() error", "+ func G()"},
		changes("const C\nfunc F()\nvar V\n", "const C\nfunc F() error\nfunc G()\nvar V\n"))
}

// exportedAPI is the exported API of a package, one line per name.
func exportedAPI(t *testing.T, pkg *doc.Package) (lines []string) {
	add := func(format string, args ...any) {
		lines = append(lines, "pkg "+pkg.Name+", "+fmt.Sprintf(format, args...))
	}
	values := func(groups []*doc.Value) {
		for _, group := range groups {
			for _, spec := range group.Decl.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					if name.IsExported() {
						add("%s %s", group.Decl.Tok, source1(t, spec))
					}
				}
			}
		}
	}
	funcs := func(funcs []*doc.Func) {
		for _, f := range funcs {
			f.Decl.Doc, f.Decl.Body = nil, nil
			add("%s", source1(t, f.Decl))
		}
	}
	values(pkg.Consts)
	values(pkg.Vars)
	funcs(pkg.Funcs)
	for _, typ := range pkg.Types {
		spec := typ.Decl.Specs[0].(*ast.TypeSpec)
		if structure, ok := spec.Type.(*ast.StructType); ok {
			add("type %s struct", typ.Name)
			for _, field := range structure.Fields.List {
				for _, name := range field.Names {
					if name.IsExported() {
						tag := ""
						if field.Tag != nil {
							tag = " " + field.Tag.Value
						}
						add("type %s struct, %s %s%s", typ.Name, name.Name, source1(t, field.Type), tag)
					}
				}
			}
		} else {
			add("type %s %s", typ.Name, source1(t, spec.Type))
		}
		values(typ.Consts)
		values(typ.Vars)
		funcs(typ.Funcs)
		funcs(typ.Methods)
	}
	slices.Sort(lines)
	return lines
}

// source1 is the source of a node on one line, without its comments.
func source1(t *testing.T, node any) string {
	t.Helper()
	switch node := node.(type) {
	case *ast.ValueSpec:
		node.Doc, node.Comment = nil, nil
	case *ast.InterfaceType:
		for _, method := range node.Methods.List {
			method.Doc, method.Comment = nil, nil
		}
	}
	var b strings.Builder
	require.NoError(t, printer.Fprint(&b, token.NewFileSet(), node))
	return strings.Join(strings.Fields(b.String()), " ")
}
