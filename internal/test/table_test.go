package test

import (
	"go/ast"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/kit"
	"github.com/mintlify-community/mintlify-go/internal/test/operations"
)

func TestKindsHasEveryKindOfError(t *testing.T) {
	var declared []string
	for _, group := range parsePackage(t, ".").Vars {
		for _, name := range group.Names {
			if strings.HasPrefix(name, "Err") {
				declared = append(declared, name)
			}
		}
	}
	assert.ElementsMatch(t, declared, slices.Collect(maps.Keys(kit.Kinds)), "add yours to kit.Kinds")
}

// operationNames returns the constants of type Operation, as the source has them.
func operationNames(t *testing.T) []mintlify.Operation {
	t.Helper()
	var names []mintlify.Operation
	for _, typ := range parsePackage(t, ".").Types {
		if typ.Name != "Operation" {
			continue
		}
		for _, spec := range typ.Consts[0].Decl.Specs {
			literal := spec.(*ast.ValueSpec).Values[0].(*ast.BasicLit)
			name, err := strconv.Unquote(literal.Value)
			require.NoError(t, err)
			names = append(names, mintlify.Operation(name))
		}
	}
	return names
}

func TestTableHasEveryOperation(t *testing.T) {
	var names []mintlify.Operation
	for _, op := range operations.All() {
		names = append(names, op.Name)
	}
	assert.ElementsMatch(t, operationNames(t), names,
		"internal/test/operations has each operation of client.go once: add yours")
}
