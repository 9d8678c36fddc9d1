package test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the documents show works: Go compiles, the demos of the root module run, and links lead
// somewhere.

const modulePath = "github.com/mintlify-community/mintlify-go"

var (
	fence       = regexp.MustCompile("(?ms)^ *```(\\w*)\n(.*?)^ *```")
	declaration = regexp.MustCompile(`^(//.*\n)*(type|func) `)
	declared    = regexp.MustCompile(`(?m)^([a-z]\w*(?:, \w+)*) :=`)
)

func documents(t *testing.T) []string {
	var paths []string
	for _, pattern := range []string{"*.md", "docs/*.md", "cmd/*/README.md", "examples/*/README.md"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		paths = append(paths, found...)
	}
	return paths
}

// Programs compile unchanged, declarations and statements with the imports that they use.
func TestGoBlocksOfTheDocsCompile(t *testing.T) {
	root, err := os.Getwd()
	require.NoError(t, err)

	temp := t.TempDir()
	replace := map[string]string{} // files that only the overlay has
	var snippets []string
	for _, block := range fence.FindAllStringSubmatch(readFiles(t, documents(t)...), -1) {
		if block[1] != "go" {
			continue
		}
		name := fmt.Sprintf("snippet%d", len(snippets))
		file := filepath.Join(temp, name+".go")
		require.NoError(t, os.WriteFile(file, []byte(fileOf(block[2])), 0o600))
		replace[filepath.Join(root, name, name+".go")] = file
		snippets = append(snippets, "./"+name)
	}
	require.NotEmpty(t, snippets)

	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	overlayFile := filepath.Join(temp, "overlay.json")
	require.NoError(t, os.WriteFile(overlayFile, overlay, 0o600))

	args := append([]string{"build", "-buildvcs=false", "-overlay", overlayFile}, snippets...)
	output, err := exec.Command("go", args...).CombinedOutput()
	require.NoError(t, err, "%s", output)
}

// The demos need no key and no network.
func TestDemosOfTheDocsRun(t *testing.T) {
	demo := regexp.MustCompile(`go run (\./examples/quickstart|\./cmd/[\w-]+ -demo)\b`)
	demos := map[string]bool{}
	for _, found := range demo.FindAllStringSubmatch(readFiles(t, documents(t)...), -1) {
		demos[found[1]] = true
	}
	require.NotEmpty(t, demos)

	isSetting := func(variable string) bool { return strings.HasPrefix(variable, "MINTLIFY_") }
	for demo := range demos {
		t.Run(demo, func(t *testing.T) {
			t.Parallel()
			run := exec.CommandContext(t.Context(), "go", strings.Fields("run "+demo)...)
			run.Env = slices.DeleteFunc(os.Environ(), isSetting)
			output, err := run.CombinedOutput()
			require.NoError(t, err, "%s", output)
		})
	}
}

// packages are those that a block may use without importing them.
var packages = []string{
	"cmp", "context", "errors", "fmt", "log", "os", "strings", "testing", "time",
	"database/sql", "net/http", "net/http/httptest", "testing/synctest", "github.com/jarcoal/httpmock",
	modulePath + "/mintlifytest", modulePath + "/once", modulePath + "/once/oncetest",
}

// fileOf returns the file of a block: itself if it is a program.
func fileOf(block string) string {
	if strings.HasPrefix(block, "package ") {
		return block
	}
	if !declaration.MatchString(block) {
		block = function(block)
	}

	var imports strings.Builder
	if strings.Contains(block, "mintlify.") {
		fmt.Fprintf(&imports, "import mintlify %q\n", modulePath)
	}
	for _, name := range packages {
		if regexp.MustCompile(`\b` + path.Base(name) + `\.`).MatchString(block) {
			fmt.Fprintf(&imports, "import %q\n", name)
		}
	}
	return "package readme\n" + imports.String() + block
}

// function returns a function of statements. It declares what they leave out, and uses what
// they declare.
func function(statements string) string {
	var body strings.Builder
	if !strings.Contains(statements, "client :=") && !strings.Contains(statements, "client, err :=") {
		body.WriteString("var client *mintlify.Client\n_ = client\n")
	}
	if !strings.Contains(statements, "svc :=") {
		body.WriteString("svc := mintlifytest.NewService()\n_ = svc\n")
	}

	body.WriteString(statements)
	for _, names := range declared.FindAllStringSubmatch(statements, -1) {
		for _, name := range strings.Split(names[1], ", ") {
			fmt.Fprintf(&body, "_ = %s\n", name)
		}
	}
	return "func _(t *testing.T, ctx context.Context) error {\n" + body.String() + "return nil\n}\n"
}

func TestLinksOfTheDocsLeadSomewhere(t *testing.T) {
	links := regexp.MustCompile(`\]\(([^)#]+)`)
	for _, document := range documents(t) {
		for _, link := range links.FindAllStringSubmatch(readFiles(t, document), -1) {
			if !strings.Contains(link[1], "://") {
				_, err := os.Stat(filepath.Join(filepath.Dir(document), link[1]))
				assert.NoError(t, err, document)
			}
		}
	}
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
