package test

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
	for _, dir := range []string{".", "mintlifytest", "once", "once/oncetest"} {
		lines = append(lines, exportedAPI(t, parsePackage(t, dir))...)
	}

	api := strings.Join(lines, "\n") + "\n"
	if *updateAPI {
		require.NoError(t, os.WriteFile("api/go.txt", []byte(api), 0o644))
	}

	written, err := os.ReadFile("api/go.txt")
	require.NoError(t, err)
	assert.True(t, string(written) == api,
		"the exported API has changed: go test ./internal/test -run API -update-api, and see whether git diff is what you meant")
}

// exportedAPI is the exported API of a package, one line per name.
func exportedAPI(t *testing.T, pkg *doc.Package) []string {
	lines := declarations(t, slices.Concat(pkg.Consts, pkg.Vars), pkg.Funcs)
	for _, typ := range pkg.Types {
		lines = append(lines, typeAPI(t, typ)...)
		values := slices.Concat(typ.Consts, typ.Vars)
		funcs := slices.Concat(typ.Funcs, typ.Methods)
		lines = append(lines, declarations(t, values, funcs)...)
	}

	for i := range lines {
		lines[i] = "pkg " + pkg.Name + ", " + lines[i]
	}
	slices.Sort(lines)
	return lines
}

// declarations returns a line for each exported constant, variable and function.
func declarations(t *testing.T, values []*doc.Value, funcs []*doc.Func) []string {
	var lines []string
	for _, group := range values {
		for _, spec := range group.Decl.Specs {
			for _, name := range spec.(*ast.ValueSpec).Names {
				if name.IsExported() {
					lines = append(lines, group.Decl.Tok.String()+" "+source1(t, spec))
				}
			}
		}
	}

	for _, f := range funcs {
		f.Decl.Doc = nil
		f.Decl.Body = nil
		lines = append(lines, source1(t, f.Decl))
	}
	return lines
}

// typeAPI returns a line for a type, and one for each exported field if it is a struct.
func typeAPI(t *testing.T, typ *doc.Type) []string {
	spec := typ.Decl.Specs[0].(*ast.TypeSpec)
	structure, isStruct := spec.Type.(*ast.StructType)
	if !isStruct {
		return []string{fmt.Sprintf("type %s %s", typ.Name, source1(t, spec.Type))}
	}

	lines := []string{fmt.Sprintf("type %s struct", typ.Name)}
	for _, field := range structure.Fields.List {
		text := source1(t, field.Type)
		if field.Tag != nil {
			text += " " + field.Tag.Value
		}
		for _, name := range field.Names {
			if name.IsExported() {
				lines = append(lines, fmt.Sprintf("type %s struct, %s %s", typ.Name, name.Name, text))
			}
		}
	}
	return lines
}

// source1 is the source of a node on one line, without its comments.
func source1(t *testing.T, node any) string {
	t.Helper()
	switch node := node.(type) {
	case *ast.ValueSpec:
		node.Doc = nil
		node.Comment = nil
	case *ast.InterfaceType:
		for _, method := range node.Methods.List {
			method.Doc = nil
			method.Comment = nil
		}
	}

	var b strings.Builder
	require.NoError(t, printer.Fprint(&b, token.NewFileSet(), node))
	return strings.Join(strings.Fields(b.String()), " ")
}
