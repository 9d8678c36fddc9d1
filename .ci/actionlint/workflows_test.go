// Package workflows checks the reusable workflows against their actions, and has actionlint
// check the workflows of the programs' READMEs, with forty callers made from each caller there.
package workflows

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

const root = "../.."

// programs have an action, and a reusable workflow of the same name.
var programs = []string{"docs-on-merge", "publish"}

// notPassed are inputs of an action that its workflow leaves out, with the reason.
var notPassed = map[string]string{
	"state": "a runner's directory goes with the runner, and git:origin needs a token that may push",
}

type described struct{ Description string }

type action struct {
	Inputs  map[string]described
	Outputs map[string]described
}

type workflow struct {
	On struct {
		WorkflowCall struct {
			Inputs  map[string]typed
			Secrets map[string]described
			Outputs map[string]described
		} `yaml:"workflow_call"`
	}
	Jobs map[string]struct {
		Outputs map[string]string
		Steps   []step
	}
}

type typed struct{ Description, Type string }

type step struct {
	Uses string
	With map[string]string
}

func TestAWorkflowPassesOnWhatItsActionTakes(t *testing.T) {
	for _, program := range programs {
		var of action
		decode(t, "cmd/"+program+"/action.yml", &of)
		var reusable workflow
		decode(t, ".github/workflows/"+program+".yml", &reusable)

		call := reusable.On.WorkflowCall
		passed := stepOf(t, reusable, program).With

		for name, input := range of.Inputs {
			secret, isSecret := call.Secrets[name]
			switch {
			case notPassed[name] != "":
				assert.NotContains(t, passed, name)
				assert.NotContains(t, call.Inputs, name)
			case isSecret:
				assert.Equal(t, input.Description, secret.Description, "%s: %s", program, name)
				assert.Contains(t, passed[name], "secrets."+name)
			default:
				assert.Equal(t, typed{input.Description, "string"}, call.Inputs[name], "%s: %s", program, name)
				assert.Equal(t, "${{ inputs."+name+" }}", passed[name])
			}
		}

		for name := range passed {
			assert.Contains(t, of.Inputs, name, program)
		}
		assert.Len(t, passed, len(call.Inputs)+len(call.Secrets), program)
		assert.Equal(t, of.Outputs, call.Outputs, program)
		for _, job := range reusable.Jobs {
			assert.Equal(t, slices.Sorted(maps.Keys(of.Outputs)), slices.Sorted(maps.Keys(job.Outputs)), program)
		}
	}
}

// stepOf returns the step of a workflow that runs the program's action.
func stepOf(t *testing.T, reusable workflow, program string) step {
	t.Helper()
	for _, job := range reusable.Jobs {
		for _, step := range job.Steps {
			if strings.Contains(step.Uses, "/cmd/"+program+"@") {
				return step
			}
		}
	}
	require.Fail(t, "no step runs the action", program)
	return step{}
}

func decode(t *testing.T, path string, into any) {
	t.Helper()
	require.NoError(t, yaml.Unmarshal([]byte(read(t, path)), into), path)
}

func TestWorkflowsOfTheREADMEsAreValid(t *testing.T) {
	for _, program := range programs {
		found := workflowsOfREADME(t, program)
		require.GreaterOrEqual(t, len(found), 2, "%s: the step, and a caller of the workflow", program)
		repository := newRepository(t)
		for i, text := range found {
			repository.add(t, fmt.Sprintf("readme-%d", i), text)
		}
		assert.Empty(t, repository.lint(t), program)
	}
}

// Runs of Dependabot and of forks' pull requests get no secrets, and no later step needs the token
// that a checkout would leave.
func TestWorkflowsOfTheREADMEsSkipWhatCannotWork(t *testing.T) {
	for _, program := range programs {
		for _, text := range workflowsOfREADME(t, program) {
			assert.Regexp(t, `(?m)^    if: .*github\.actor != 'dependabot\[bot\]'`, text, program)
			assert.Regexp(t, `(?m)^    if: .*\bvars\.DOCS_[A-Z_]+ != 'off'`, text, "%s: the switch", program)
			if strings.Contains(text, "pull_request:") {
				assert.Regexp(t, `(?m)^    if: .*\bhead\.repo\.full_name == github\.repository &&`, text, program)
			}
			checkouts := strings.Count(text, "uses: actions/checkout@")
			assert.Equal(t, checkouts, strings.Count(text, "persist-credentials: false"), program)
		}
	}
}

// A README also shows steps to add to its workflow, and a matrix for its job.
func TestPartsOfWorkflowsInTheREADMEsAreValid(t *testing.T) {
	const job = "on: push\npermissions: {}\njobs:\n  docs:\n    runs-on: ubuntu-latest\n"
	const steps = "    steps:\n      - id: docs\n        uses: mintlify-community/mintlify-go/cmd/docs-on-merge@v0\n" +
		"        with: { api-key: x, project-id: x }\n"

	for _, program := range programs {
		repository := newRepository(t)
		for i, text := range blocksOfREADME(t, program) {
			switch {
			case strings.HasPrefix(text, "      - "):
				repository.add(t, fmt.Sprint("step-", i), job+steps+text)
			case strings.HasPrefix(text, "    strategy:"):
				repository.add(t, fmt.Sprint("matrix-", i), job+text+steps)
			}
		}
		assert.Empty(t, repository.lint(t), program)
	}
}

// Forty repositories call a workflow, each with another input: as text, and as a variable that
// may be unset.
func TestFortyCallers(t *testing.T) {
	for _, program := range programs {
		var reusable workflow
		decode(t, ".github/workflows/"+program+".yml", &reusable)
		inputs := slices.Sorted(maps.Keys(reusable.On.WorkflowCall.Inputs))
		caller := callerOf(t, program)

		repository := newRepository(t)
		for i := range 40 {
			name := inputs[i%len(inputs)]
			value := "true"
			if i >= len(inputs) {
				value = `"${{ vars.DOCS_` + fmt.Sprint(i) + ` }}"`
			}
			repository.add(t, fmt.Sprintf("caller-%d", i), withInput(t, caller, name, value))
		}
		assert.Empty(t, repository.lint(t), program)
	}
}

func TestACallerThatGitHubWouldRefuseIsFound(t *testing.T) {
	for _, program := range programs {
		caller := callerOf(t, program)
		for says, wrong := range map[string]string{
			`input "dryrun" is not defined`:     withInput(t, caller, "dryrun", "true"),
			`input "state" is not defined`:      withInput(t, caller, "state", "git:origin"),
			`input "api-key" is not defined`:    withInput(t, caller, "api-key", "mint_1"),
			`input "project-id" is required by`: strings.Replace(caller, "project-id:", "timeout:", 1),
			`secret "api-key" is required by`:   regexp.MustCompile(`(?m)^ *secrets:.*\n`).ReplaceAllString(caller, ""),
			`secret "apikey" is not defined`:    strings.Replace(caller, "api-key:", "apikey:", 1),
		} {
			require.NotEqual(t, caller, wrong, says)
			repository := newRepository(t)
			repository.add(t, "caller", wrong)
			assert.Contains(t, repository.lint(t), says, program)
		}
	}
}

// callerOf returns the workflow of the README with which a repository calls the program's reusable
// workflow. A workflow in between, of an organization, is not meant.
func callerOf(t *testing.T, program string) string {
	t.Helper()
	for _, text := range workflowsOfREADME(t, program) {
		calls := strings.Contains(text, "/.github/workflows/"+program+".yml@")
		if calls && !strings.Contains(text, "workflow_call") {
			assert.LessOrEqual(t, strings.Count(text, "\n"), 11, "lines of the caller of %s", program)
			return text
		}
	}
	require.Fail(t, "the README has no caller of the workflow", program)
	return ""
}

var withLine = regexp.MustCompile(`(?m)^( *with: \{ )(.*)( \})$`)

// withInput returns a caller that gives its workflow one input more, or another value for it.
func withInput(t *testing.T, caller, name, value string) string {
	t.Helper()
	line := withLine.FindStringSubmatch(caller)
	require.NotNil(t, line, caller)

	inputs := slices.DeleteFunc(strings.Split(line[2], ", "), func(input string) bool {
		return strings.HasPrefix(input, name+": ")
	})
	inputs = append(inputs, name+": "+value)
	return strings.Replace(caller, line[0], line[1]+strings.Join(inputs, ", ")+line[3], 1)
}

// workflowsOfREADME returns the workflows that a program's README shows.
func workflowsOfREADME(t *testing.T, program string) []string {
	t.Helper()
	return slices.DeleteFunc(blocksOfREADME(t, program), func(text string) bool {
		return !strings.Contains(text, "\njobs:\n")
	})
}

// blocksOfREADME returns all that a program's README shows in YAML.
func blocksOfREADME(t *testing.T, program string) []string {
	t.Helper()
	readme := read(t, "cmd/"+program+"/README.md")
	var found []string
	for _, block := range regexp.MustCompile("(?ms)^```yaml\n(.*?)^```").FindAllStringSubmatch(readme, -1) {
		found = append(found, block[1])
	}
	return found
}

// repository is a folder that actionlint takes for a repository. What this repository offers to
// others is in it.
type repository string

func newRepository(t *testing.T) repository {
	t.Helper()
	dir := repository(t.TempDir())
	require.NoError(t, os.Mkdir(filepath.Join(string(dir), ".git"), 0o700))
	for _, program := range programs {
		dir.write(t, "cmd/"+program+"/action.yml", read(t, "cmd/"+program+"/action.yml"))
		dir.add(t, program, read(t, ".github/workflows/"+program+".yml"))
	}
	return dir
}

var remote = regexp.MustCompile(`mintlify-community/mintlify-go/(\S+?)@\S+`)

// add adds a workflow. It calls this repository by a local path: actionlint fetches nothing, so
// it checks local calls alone.
func (r repository) add(t *testing.T, name, text string) {
	t.Helper()
	r.write(t, ".github/workflows/"+name+".yml", remote.ReplaceAllString(text, "./$1"))
}

func (r repository) write(t *testing.T, path, text string) {
	t.Helper()
	file := filepath.Join(string(r), path)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
}

// lint returns what actionlint says of the workflows, or "".
func (r repository) lint(t *testing.T) string {
	t.Helper()
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{
		WorkingDir: string(r),
		// GitHub turns true into a string.
		IgnorePatterns: []string{`is typed as string .* bool value cannot be assigned`},
	})
	require.NoError(t, err)
	found, err := linter.LintRepository(string(r))
	require.NoError(t, err)

	var all strings.Builder
	for _, problem := range found {
		fmt.Fprintln(&all, problem)
	}
	return all.String()
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	require.NoError(t, err)
	return string(text)
}
