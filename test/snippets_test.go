package test

import (
	"encoding/json"
	"errors"
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

// What the documents show works: Go compiles, and shell lines name programs, tests, flags and
// folders that there are. Demos of the root module run.

const modulePath = "github.com/mintlify-community/mintlify-go"

// notRun has the commands that no test can run, and the reasons.
var notRun = map[string]string{
	"export":          "sets a key or an address for the lines after it",
	"git":             "clones from a forge",
	"gh":              "asks a forge, with a token",
	"./merge-service": "needs a key",
	"xargs":           "calls gh",
	"while":           "is the shell's, as are do and done",
	"do":              "is followed by gh",
	"done":            "ends a loop",
	"awk":             "counts what git lists",
	"jq":              "reads what gh lists",
	"sort":            "sorts what gh or git lists",
	"sed":             "reads what git lists",
	"curl":            "posts to a chat",
	"go tool":         "downloads a tool and runs for minutes",
}

var (
	fence       = regexp.MustCompile("(?ms)^ *```(\\w*)\n(.*?)^ *```")
	command     = regexp.MustCompile("(?m)^    \\S.*$|`(?:(?:cd|go) \\w+ [^`]+|[\\w.]+/run)`") // outside blocks
	quoted      = regexp.MustCompile(`"[^"]*"|'[^']*'`)
	installed   = regexp.MustCompile(`/usr/local/bin/([^|>\n]+)`)
	manyLines   = regexp.MustCompile(`'[^']*\n[^']*'`)
	comment     = regexp.MustCompile(`(?m)(^|[ \t])#.*`)
	separator   = regexp.MustCompile(`&&|[|;()]`)
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

	args := append([]string{"build", "-overlay", overlayFile}, snippets...)
	output, err := exec.Command("go", args...).CombinedOutput()
	require.NoError(t, err, "%s", output)
}

func TestShellLinesOfTheDocsWork(t *testing.T) {
	demos := map[string]bool{}
	for _, document := range documents(t) {
		for _, line := range shellLines(t, document) {
			err := checkLine(".", line, demos)
			if err != nil && checkLine(filepath.Dir(document), line, demos) != nil {
				t.Errorf("%s: %s: %v", document, line, err)
			}
		}
	}
	require.Len(t, demos, 4)

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

// shellLines returns the shell lines of a document, in blocks and outside them. It fails the
// test if the document has a block that nothing tests.
func shellLines(t *testing.T, document string) []string {
	t.Helper()
	text := strings.ReplaceAll(readFiles(t, document), "\\\n", " ")
	lines := command.FindAllString(fence.ReplaceAllString(text, ""), -1)
	for _, block := range fence.FindAllStringSubmatch(text, -1) {
		switch block[1] {
		case "sh":
			script := manyLines.ReplaceAllString(comment.ReplaceAllString(block[2], ""), "TEXT")
			lines = append(lines, strings.Split(script, "\n")...)
		case "cron", "ini":
			for _, line := range installed.FindAllStringSubmatch(block[2], -1) {
				lines = append(lines, line[1])
			}
		case "sql":
			assert.Equal(t, "cmd/docs-report/README.md", filepath.ToSlash(document),
				"the tests of docs-report run the SQL of its own README alone")
		default:
			known := []string{"", "go", "yaml", "mermaid"}
			assert.Contains(t, known, block[1], "%s: nothing tests such a block", document)
		}
	}
	return lines
}

func TestShellLineThatDoesNotWorkIsFound(t *testing.T) {
	for _, line := range []string{
		"go run ./cmd/nothing -demo",
		"go run ./internal/wire",
		"go run ./cmd/publish -bogus",
		"go run -C cmd/fleet . bogus",
		"go test -run TestNonesuch .",
		"go test . -bogus",
		"go get example.com/other",
		"go bogus x",
		"cd nothing && go test ./...",
		"bogus -h",
		"X=1 publish -bogus",
		"curl x | publish -bogus",
	} {
		assert.Error(t, checkLine(".", line, map[string]bool{}), line)
	}
}

// checkLine returns what is wrong with a shell line that starts in dir. If it runs a
// demo of the root module, it adds the arguments of go run to demos.
func checkLine(dir, line string, demos map[string]bool) error {
	line = strings.Trim(line, "`")
	line = quoted.ReplaceAllString(line, "TEXT")
	line = comment.ReplaceAllString(line, "")

	var problems error
	for _, part := range separator.Split(line, -1) {
		name, args := splitCommand(part)
		if name == "" || notRun[name] != "" {
			continue
		}
		if slices.Contains(args, "-C") {
			dir = filepath.Join(dir, strings.TrimPrefix(args[1], "mintlify-go/"))
			args = args[2:]
		}

		first := strings.Join(args[:min(1, len(args))], "")
		pkg, _, _ := strings.Cut(strings.Replace(first, modulePath, ".", 1), "@")
		var problem error
		switch name {
		case "cd":
			dir = filepath.Join(dir, pkg)
		case "go run", "go install":
			isQuickstart := pkg == "./examples/quickstart" && len(args) == 1
			if slices.Contains(args, "-demo") && dir == "." || isQuickstart {
				demos[strings.Join(append([]string{pkg}, args[1:]...), " ")] = true
			}
			problem = expect(filepath.Join(dir, pkg), args[1:], program)
		case "go build":
			problem = expect(dir, nil, program)
		case "go get":
			problem = expect(pkg, nil, `^package mintlify$`)
		case "go test":
			problem = expect(filepath.Join(dir, testedFolder(args)), args, `^package `)
		case ".ci/run", ".ci/release":
			_, problem = os.Stat(name)
		default: // a program that is installed
			problem = expect(filepath.Join("cmd", name), args, program)
		}
		problems = errors.Join(problems, problem)
	}
	return problems
}

// testedFolder returns the folder that the arguments of go test name, if they do.
func testedFolder(args []string) string {
	for _, arg := range args {
		if strings.HasPrefix(arg, "./") {
			return strings.TrimSuffix(arg, "...")
		}
	}
	return "."
}

// splitCommand returns the name and the arguments of a command, without the variables before
// it. The name of a go command is two words, such as "go run". Without a command the name is "".
func splitCommand(text string) (name string, args []string) {
	words := strings.Fields(text)
	for len(words) > 0 && strings.Contains(words[0], "=") {
		words = words[1:]
	}

	switch {
	case len(words) == 0:
		return "", nil
	case len(words) > 1 && words[0] == "go":
		return "go " + words[1], words[2:]
	default:
		return words[0], words[1:]
	}
}

const program = `^package main$`

// expect returns an error unless the Go files and the usage in dir match all patterns, and
// have the command and flags of args.
func expect(dir string, args []string, patterns ...string) error {
	files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	shared, _ := filepath.Glob(filepath.Join(dir, "../internal/ci/*.go"))
	files = append(slices.Concat(files, shared), filepath.Join(dir, "usage.txt"))
	var all []byte
	for _, file := range files {
		text, _ := os.ReadFile(file)
		all = append(all, text...)
	}

	for i, arg := range args {
		name, isFlag := strings.CutPrefix(arg, "-")
		switch {
		case arg == "-run":
			patterns = append(patterns, `^func \w*`+args[i+1])
		case isFlag && !slices.Contains([]string{"h", "v", "timeout"}, name):
			patterns = append(patterns, `[(,] ?"`+name+`",\s`)
		case i == 0 && patterns[0] == program && !isFlag:
			patterns = append(patterns, filepath.Base(dir)+" "+arg)
		}
	}

	var missing error
	for _, pattern := range patterns {
		if !regexp.MustCompile("(?m)" + pattern).Match(all) {
			missing = errors.Join(missing, fmt.Errorf("%q is not in %q", pattern, dir))
		}
	}
	return missing
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
