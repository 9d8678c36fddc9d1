package mintlify_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the documents show works: Go compiles, and shell lines name programs, tests, flags and
// folders that there are. Demos of the root module run.

const modulePath = "github.com/mintlify-community/mintlify-go"

// notRun has the commands that no test can run, and the reasons.
var notRun = map[string]string{
	"export":  "sets a key or an address for the lines after it",
	"git":     "clones from a forge",
	"gh":      "asks a forge, with a token",
	"xargs":   "calls gh",
	"sort":    "sorts what gh or git lists",
	"sed":     "reads what git lists",
	"curl":    "posts to a chat",
	"go tool": "downloads a tool and runs for minutes",
}

var (
	fence       = regexp.MustCompile("(?ms)^ *```(\\w*)\n(.*?)^ *```")
	command     = regexp.MustCompile("(?m)^    \\S.*$|`(?:(?:cd|go) \\w+ [^`]+|[\\w.]+/run)`") // outside blocks
	quoted      = regexp.MustCompile(`"[^"]*"|'[^']*'`)
	comment     = regexp.MustCompile(`(^|\s)#.*`)
	separator   = regexp.MustCompile(`&&|[|;()]`)
	declaration = regexp.MustCompile(`^(//.*\n)*(type|func) `)
	declared    = regexp.MustCompile(`(?m)^([a-z]\w*(?:, \w+)*) :=`)
)

func documents(t *testing.T) (paths []string) {
	for _, pattern := range []string{"*.md", "docs/*.md", "cmd/*/README.md"} {
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
	var packages []string
	for _, block := range fence.FindAllStringSubmatch(readFiles(t, documents(t)...), -1) {
		if block[1] == "go" {
			name := fmt.Sprintf("snippet%d", len(packages))
			file := filepath.Join(temp, name+".go")
			require.NoError(t, os.WriteFile(file, []byte(source(block[2])), 0o600))
			replace[filepath.Join(root, name, name+".go")] = file
			packages = append(packages, "./"+name)
		}
	}
	require.NotEmpty(t, packages)
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	overlayFile := filepath.Join(temp, "overlay.json")
	require.NoError(t, os.WriteFile(overlayFile, overlay, 0o600))
	output, err := exec.Command("go", append([]string{"build", "-overlay", overlayFile}, packages...)...).CombinedOutput()
	require.NoError(t, err, "%s", output)
}

func TestShellLinesOfTheDocsWork(t *testing.T) {
	demos := map[string]bool{}
	for _, document := range documents(t) {
		text := strings.ReplaceAll(readFiles(t, document), "\\\n", " ")
		lines := command.FindAllString(fence.ReplaceAllString(text, ""), -1)
		for _, block := range fence.FindAllStringSubmatch(text, -1) {
			switch block[1] {
			case "sh":
				lines = append(lines, strings.Split(block[2], "\n")...)
			case "sql":
				assert.Equal(t, "cmd/docs-report/README.md", filepath.ToSlash(document), "the tests of docs-report run the SQL of its own README alone")
			default:
				assert.Contains(t, []string{"", "go", "yaml", "mermaid"}, block[1], "%s: nothing tests such a block", document)
			}
		}
		for _, line := range lines {
			err := checkLine(".", line, demos)
			if err != nil && checkLine(filepath.Dir(document), line, demos) != nil {
				t.Errorf("%s: %s: %v", document, line, err)
			}
		}
	}
	require.Len(t, demos, 4)
	for demo := range demos {
		t.Run(demo, func(t *testing.T) {
			t.Parallel()
			run := exec.CommandContext(t.Context(), "go", strings.Fields("run "+demo)...)
			run.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MINTLIFY_") })
			output, err := run.CombinedOutput()
			require.NoError(t, err, "%s", output)
		})
	}
}

func TestShellLineThatDoesNotWorkIsFound(t *testing.T) {
	for _, line := range strings.Split("go run ./cmd/nothing -demo;go run ./internal/wire;go run ./cmd/publish -bogus;go run -C cmd/fleet . bogus;go test -run TestNonesuch .;"+
		"go test . -bogus;go get example.com/other;go bogus x;cd nothing && go test ./...;bogus -h;X=1 publish -bogus;curl x | publish -bogus", ";") {
		assert.Error(t, checkLine(".", line, map[string]bool{}), line)
	}
}

// checkLine returns what is wrong with a shell line that starts in dir. If it runs a
// demo of the root module, it adds the arguments of go run to demos.
func checkLine(dir, line string, demos map[string]bool) (err error) {
	for _, part := range separator.Split(comment.ReplaceAllString(quoted.ReplaceAllString(strings.Trim(line, "`"), "TEXT"), ""), -1) {
		words := strings.Fields(part)
		for len(words) > 0 && strings.Contains(words[0], "=") {
			words = words[1:]
		}
		if len(words) > 1 && words[0] == "go" {
			words = slices.Replace(words, 0, 2, "go "+words[1])
		}
		if len(words) == 0 || notRun[words[0]] != "" {
			continue
		}
		name, args := words[0], words[1:]
		if slices.Contains(args, "-C") {
			dir, args = filepath.Join(dir, strings.TrimPrefix(args[1], "mintlify-go/")), args[2:]
		}
		pkg, _, _ := strings.Cut(strings.Replace(strings.Join(args[:min(1, len(args))], ""), modulePath, ".", 1), "@")
		var problem error
		switch name {
		case "cd":
			dir = filepath.Join(dir, pkg)
		case "go run", "go install":
			if slices.Contains(args, "-demo") && dir == "." || strings.HasPrefix(pkg, "./examples") {
				demos[strings.Join(append([]string{pkg}, args[1:]...), " ")] = true
			}
			problem = expect(filepath.Join(dir, pkg), args[1:], program)
		case "go build":
			problem = expect(dir, nil, program)
		case "go get":
			problem = expect(pkg, nil, `^package mintlify$`)
		case "go test":
			problem = expect(dir, args, `^package `)
		case "bench/run", ".ci/run":
			_, problem = os.Stat(name)
		default: // a program that is installed
			problem = expect(filepath.Join("cmd", name), args, program)
		}
		err = errors.Join(err, problem)
	}
	return err
}

const program = `^package main$`

// expect returns an error unless the Go files and the usage in dir match all patterns, and
// have the command and flags of args.
func expect(dir string, args []string, patterns ...string) (err error) {
	files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	shared, _ := filepath.Glob(filepath.Join(dir, "../internal/ci/*.go"))
	var all []byte
	for _, file := range append(slices.Concat(files, shared), filepath.Join(dir, "usage.txt")) {
		text, _ := os.ReadFile(file)
		all = append(all, text...)
	}
	for i, arg := range args {
		name, isFlag := strings.CutPrefix(arg, "-")
		switch {
		case arg == "-run":
			patterns = append(patterns, `^func \w*`+args[i+1])
		case isFlag && !slices.Contains([]string{"h", "v", "timeout"}, name):
			patterns = append(patterns, `[(,] ?"`+name+`", `)
		case i == 0 && patterns[0] == program && !isFlag:
			patterns = append(patterns, filepath.Base(dir)+" "+arg)
		}
	}
	for _, pattern := range patterns {
		if !regexp.MustCompile("(?m)" + pattern).Match(all) {
			err = errors.Join(err, fmt.Errorf("%q is not in %q", pattern, dir))
		}
	}
	return err
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
		"cmp": "cmp", "context": "context", "errors": "errors", "fmt": "fmt", "http": "net/http", "httptest": "net/http/httptest", "log": "log", "strings": "strings",
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
