package mintlify_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	goBlock     = regexp.MustCompile("(?s)```go\n(.*?)```")
	declaration = regexp.MustCompile(`^(//.*\n)*(type|func) `)
	declared    = regexp.MustCompile(`(?m)^([a-z]\w*(?:, \w+)*) :=`)
)

// Each Go block of the README and of docs/once.md is compiled: a program as it stands,
// declarations and statements with the imports that they use.
func TestGoBlocksOfTheReadmeCompile(t *testing.T) {
	text := readFiles(t, "README.md", "docs/once.md")
	root, err := os.Getwd()
	require.NoError(t, err)
	temp := t.TempDir()
	replace := map[string]string{} // files that only the overlay has
	var packages []string
	for i, block := range goBlock.FindAllStringSubmatch(text, -1) {
		name := fmt.Sprintf("readme%d", i)
		file := filepath.Join(temp, name+".go")
		require.NoError(t, os.WriteFile(file, []byte(source(block[1])), 0o600))
		replace[filepath.Join(root, name, name+".go")] = file
		packages = append(packages, "./"+name)
	}
	require.NotEmpty(t, packages)
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	overlayFile := filepath.Join(temp, "overlay.json")
	require.NoError(t, os.WriteFile(overlayFile, overlay, 0o600))
	build := exec.Command("go", append([]string{"build", "-overlay", overlayFile}, packages...)...)
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)
}

func readFiles(t *testing.T, paths ...string) string {
	t.Helper()
	var all strings.Builder
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		all.Write(text)
	}
	return all.String()
}

func source(block string) string {
	if strings.HasPrefix(block, "package ") {
		return block
	}
	if !declaration.MatchString(block) {
		var used strings.Builder
		if !strings.Contains(block, "client :=") && !strings.Contains(block, "client, err :=") {
			used.WriteString("var client *mintlify.Client\n")
		}
		if !strings.Contains(block, "svc :=") {
			used.WriteString("svc := mintlifytest.NewService()\n_ = svc\n")
		}
		used.WriteString(block)
		for _, names := range declared.FindAllStringSubmatch(block, -1) {
			for _, name := range strings.Split(names[1], ", ") {
				fmt.Fprintf(&used, "_ = %s\n", name)
			}
		}
		block = "func _(t *testing.T, ctx context.Context) error {\n" + used.String() + "return nil\n}\n"
	}
	var imports strings.Builder
	for name, path := range map[string]string{
		"context": "context", "errors": "errors", "fmt": "fmt", "http": "net/http", "httptest": "net/http/httptest", "log": "log",
		"synctest": "testing/synctest", "testing": "testing", "time": "time", "httpmock": "github.com/jarcoal/httpmock",
		"mintlify":     "github.com/mintlify-community/mintlify-go",
		"mintlifytest": "github.com/mintlify-community/mintlify-go/mintlifytest",
	} {
		if regexp.MustCompile(`\b` + name + `\.`).MatchString(block) {
			fmt.Fprintf(&imports, "import %s %q\n", name, path)
		}
	}
	return "package readme\n" + imports.String() + block
}
