package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/internal/citest"
)

const arguments = "#!/bin/sh\nprintf '<%s>\\n' \"$@\"\n"

func TestTheActionDownloadsAndChecksItsProgram(t *testing.T) {
	a := citest.NewAction(t, "action.yml", "publish", arguments)
	for _, platform := range [][]string{nil, {"RUNNER_OS=macOS", "RUNNER_ARCH=ARM64"}, {"RUNNER_OS=Windows"}} {
		if _, err := exec.LookPath("unzip"); err != nil && len(platform) == 1 {
			continue
		}
		inputs := []string{"INPUT_PREVIEW=a b$(touch pwned)\n`x`\"'", "INPUT_SOFT=true", "INPUT_BUILD=false"}
		cmd, log := a.Command(t, t.TempDir(), append(platform, inputs...)...)
		require.NoError(t, cmd.Run(), log)
		assert.Equal(t, "<-preview=a b$(touch pwned)\n`x`\"'>\n<-soft=true>\n", log.String())
		assert.NoFileExists(t, filepath.Join(cmd.Dir, "pwned"))
	}
}

func TestTheActionRunsNothingThatItCannotCheck(t *testing.T) {
	for says, spoil := range map[string]func(a *citest.Action){
		"the sha256 of publish_": func(a *citest.Action) {
			for name := range a.Files {
				if name != "checksums.txt" {
					a.Files[name] = append(a.Files[name], 0)
				}
			}
		},
		"checksums.txt says ''": func(a *citest.Action) { a.Files["checksums.txt"] = []byte("0000  other.tar.gz\n") },
		"no release for Linux on S390X: set up Go and give build: true": func(a *citest.Action) {
			a.Env = append(a.Env, "RUNNER_ARCH=S390X")
		},
	} {
		a := citest.NewAction(t, "action.yml", "publish", arguments)
		spoil(a)
		cmd, log := a.Command(t, t.TempDir())
		assert.Error(t, cmd.Run())
		assert.Equal(t, 2, cmd.ProcessState.ExitCode())
		assert.Contains(t, log.String(), "::error title=publish::")
		assert.Contains(t, log.String(), says)
		assert.NotContains(t, log.String(), "<>", "the program does not run")
	}
}

// An outage of GitHub is no set-up error.
func TestADownloadThatFailsIsNotStarted(t *testing.T) {
	for soft, code := range map[string]int{"false": 5, "true": 0} {
		a := citest.NewAction(t, "action.yml", "publish", arguments)
		delete(a.Files, "checksums.txt")
		outputs := filepath.Join(t.TempDir(), "output")
		cmd, log := a.Command(t, t.TempDir(), "INPUT_SOFT="+soft, "GITHUB_OUTPUT="+outputs)
		_ = cmd.Run()
		assert.Equal(t, code, cmd.ProcessState.ExitCode(), log)
		assert.Contains(t, log.String(), "cannot be downloaded. Nothing was started: run again later")
		assert.Equal(t, "status=not-started\n", citest.Read(t, outputs))
		assert.NotContains(t, log.String(), "<>", "the program does not run")
	}
}

func TestTheActionBuildsFromSource(t *testing.T) {
	a := citest.NewAction(t, "action.yml", "publish", "")
	clear(a.Files)
	bin := t.TempDir() // with a go that "builds" the script
	builder := "#!/bin/sh\ntest \"$1 $3 $4\" = '-C build -o' && cat >\"$5\" <<'.'\n" + arguments + ".\nchmod +x \"$5\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "go"), []byte(builder), 0o700))
	cmd, log := a.Command(t, t.TempDir(), "INPUT_BUILD=true", "INPUT_ID=d", "PATH="+bin+":"+os.Getenv("PATH"))
	require.NoError(t, cmd.Run(), log)
	assert.Equal(t, "<-id=d>\n", log.String())
}

// On a push github.head_ref is empty. The site must not be deployed then.
func TestAnEmptyPreviewIsNotTheSite(t *testing.T) {
	action := citest.Read(t, "action.yml")
	assert.Contains(t, action, "\n    default: \":site\"")
	for preview, want := range map[string]string{"": "<-preview=>\n", ":site": "<>\n", "b": "<-preview=b>\n"} {
		a := citest.NewAction(t, "action.yml", "publish", arguments)
		cmd, log := a.Command(t, t.TempDir(), "INPUT_PREVIEW="+preview)
		require.NoError(t, cmd.Run(), log)
		assert.Equal(t, want, log.String())
	}
}

// An action takes no other action, and hands each input on.
func TestActions(t *testing.T) {
	shared := citest.Read(t, "../internal/ci/action.sh")
	assert.Equal(t, 2, strings.Count(shared, "exec \"$dir/$name\""), "a runner signals bash alone")

	for _, name := range []string{"publish", "docs-on-merge"} {
		path := filepath.Join("..", name, "action.yml")
		text := citest.Read(t, path)
		assert.NotContains(t, text, "uses: ", "no action inside")
		script := citest.Read(t, citest.Script(t, path))
		assert.Contains(t, script, "name="+name+"\n")
		flags := regexp.MustCompile(`(?m)^flags="(.*)"$`).FindStringSubmatch(script)
		require.NotNil(t, flags)

		inputs, _, _ := strings.Cut(text, "\noutputs:\n")
		for _, input := range regexp.MustCompile(`(?m)^  ([a-z-]+):$`).FindAllStringSubmatch(inputs, -1) {
			variable := regexp.MustCompile(`([A-Z_]+): \$\{\{ inputs\.` + input[1] + ` \}\}\n`).FindStringSubmatch(text)
			require.NotNil(t, variable, "%s: %s", name, input[1])
			own, isOwn := strings.CutPrefix(variable[1], "INPUT_")
			isList := strings.Contains(script, "="+input[1]) // of the lists of values
			if isOwn && !isList && !strings.Contains(script+shared, "${"+variable[1]) {
				assert.Contains(t, strings.Fields(flags[1]), input[1], name)
				assert.Equal(t, own, strings.ToUpper(strings.ReplaceAll(input[1], "-", "_")))
			}
		}
	}
}

// What a user can set is the same in -h, action.yml and README.
func TestFlagsAndInputsAreTheSameEverywhere(t *testing.T) {
	places := citest.Interface{
		Help:     newWorld(t).run(0, "-h").Stdout,
		Action:   citest.Read(t, "action.yml"),
		README:   citest.Read(t, "README.md"),
		Inputs:   map[string]string{"demo": "", "version": ""},
		NotFlags: []string{"api-key", "project-id", "build"},
	}
	places.AssertSame(t)
}

// Several updates at once may hang a project. A run of docs-on-merge that waits would be canceled.
func TestEachExampleOfTheReadmeRunsAlone(t *testing.T) {
	examples := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(citest.Read(t, "README.md"), -1)
	checked := 0
	for _, example := range examples {
		text := example[1]
		isWhole := strings.Contains(text, "uses: ") || strings.Contains(text, "- publish -")
		if !isWhole {
			continue
		}

		checked++
		assert.Regexp(t, `(?m)^ *(concurrency|resource_group):`, text)
		if strings.Contains(text, "preview") {
			assert.Regexp(t, `cancel-in-progress: true|interruptible: true`, text)
		}
	}
	assert.Equal(t, 3, checked)
	assert.NotContains(t, citest.Read(t, "../docs-on-merge/README.md"), "concurrency:")
}

func TestTheExampleForPullRequestsFailsAndShowsTheLink(t *testing.T) {
	readme := citest.Read(t, "README.md")
	_, example, _ := strings.Cut(readme, "```yaml\nname: Docs preview\n")
	example, _, _ = strings.Cut(example, "```")
	assert.Contains(t, example, "      url: ${{ steps.docs.outputs.preview-url }}\n")
	assert.NotContains(t, example, "soft")
	assert.NotContains(t, readme, "publish -soft")
}
