package mintlifytest_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A program that has a demo links this package: it must not get testing's flags and a database
// layer with it.
func TestPackageLinksLittle(t *testing.T) {
	const modulePath = "github.com/mintlify-community/mintlify-go"
	output, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").CombinedOutput()
	require.NoError(t, err, string(output))

	linked := strings.Fields(string(output))
	require.Contains(t, linked, modulePath)
	for _, path := range []string{"testing", "database/sql", modulePath + "/once", modulePath + "/once/oncetest"} {
		assert.NotContains(t, linked, path)
	}
}
