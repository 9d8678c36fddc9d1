package ci

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/internal/citest"
)

func newStep(env map[string]string) (step *Step, stdout, log *citest.Buffer) {
	stdout = new(citest.Buffer)
	log = new(citest.Buffer)
	step = &Step{
		Name:    "docs-on-merge",
		Getenv:  func(name string) string { return env[name] },
		Stdout:  stdout,
		Stderr:  log,
		Timeout: time.Hour,
	}
	return step, stdout, log
}

func TestLinesAreInert(t *testing.T) {
	for in, out := range map[string]string{
		"::error::x":                            ": :error::x\n",
		"  \t::error::x":                        ": :error::x\n",
		"a\r::error::x":                         "a ::error::x\n",
		"a\n::error::x\n":                       "a\n: :error::x\n",
		"\u00a0::error::x":                      ": :error::x\n",
		"x ##[add-mask]y":                       "x # #[add-mask]y\n",
		"###[add-mask]y":                        "## #[add-mask]y\n",
		"#\u200b#[add-mask]y":                   "# #[add-mask]y\n",
		"::::error::x":                          ": :::error::x\n",
		"a\x1b[31m\x00b\u202ec":                 "a [31m b c\n",
		"a\x9b31mb\xff":                         "a 31mb\n",
		"https://oauth2:glpat-secret@git/x":     "https://git/x\n",
		"mint_12345678, ghs_12345678, ghs_docs": "[redacted], [redacted], [redacted]\n",
	} {
		secrets := map[string]string{
			"MINTLIFY_API_KEY":  " Bearer mint_12345678\n",
			"GITHUB_TOKEN":      "ghs_12345678",
			"GITHUB_DOCS_TOKEN": "ghs_docs",
		}
		step, stdout, log := newStep(secrets)
		step.Printf("%s", in)
		require.NoError(t, step.print(in))
		assert.Equal(t, out, log.String(), "%q", in)
		assert.Equal(t, out, stdout.String(), "%q", in)
		citest.RequireInert(t, log.String())
	}
	step, _, log := newStep(map[string]string{"GITHUB_ACTIONS": "true"})
	step.annotate("error", "50%\r\n::warning::x %0A##[error]y")
	assert.Equal(t, "::error title=docs-on-merge::50%25 ::warning::x %250A# #[error]y\n", log.String())
}

func TestLinks(t *testing.T) {
	step, _, _ := newStep(nil)
	for in, out := range map[string]string{
		"https://example.com/1":        "https://example.com/1",
		"https://example.com/<b>":      "https://example.com/%3Cb%3E",
		"https://u:p@example.com/":     "https://example.com/",
		"javascript:alert(1)":          "",
		"//example.com":                "",
		"https://example.com\n::x":     "",
		"https://example.com/a\x1b[0m": "https://example.com/a%20%5B0m",
	} {
		assert.Equal(t, out, step.Link(in), "%q", in)
	}
}

func TestOneLineSaysWhatIsWrongWithTheFlags(t *testing.T) {
	const empty = " is given and empty: is its variable set?"
	for _, tc := range []struct {
		args []string
		says string
	}{
		{[]string{"-job", "x", "-path", "a", "-path", "b"}, ""},
		{[]string{"-nope"}, "flag provided but not defined: -nope"},
		{[]string{"main"}, `unexpected argument "main"`},
		{[]string{"-timeout", "0s"}, "-timeout is 0s, want more than 0"},
		{[]string{"-timeout", ""}, "-timeout" + empty},
		{[]string{"-job", ""}, "-job" + empty},
		{[]string{"-job="}, "-job" + empty},
		{[]string{"-job", " \t"}, "-job" + empty},
		{[]string{"-path", ""}, "-path" + empty},
		{[]string{"-path", "a", "-path="}, "-path" + empty},
	} {
		step, stdout, log := newStep(nil)
		flags := flag.NewFlagSet("x", flag.ContinueOnError)
		flags.String("job", "", "")
		flags.Func("path", "", func(string) error { return nil })

		err := step.Parse(flags, tc.args)
		if tc.says == "" {
			assert.NoError(t, err)
		} else {
			assert.EqualError(t, err, tc.says)
		}
		assert.Empty(t, stdout.String()+log.String(), "the error is the whole of it")
	}
}

func TestHelpHasTheFlagsAndTheExitCodes(t *testing.T) {
	step, stdout, log := newStep(map[string]string{"GITHUB_OUTPUT": "/nowhere/output"})
	flags := flag.NewFlagSet("x", flag.ContinueOnError)
	flags.String("job", "", "the `id`")
	assert.ErrorIs(t, step.Parse(flags, []string{"-h"}), flag.ErrHelp)
	assert.Empty(t, log.String())
	assert.Contains(t, stdout.String(), "  -job id\n")
	for outcome, text := range map[Outcome]string{
		"success":  "0 success",
		Failed:     "1 failed",
		SetUp:      "2 set-up",
		Unknown:    "3 unknown",
		Running:    "4 running",
		NotStarted: "5 not started",
	} {
		assert.Regexp(t, fmt.Sprint("^", outcome.exitCode(), " "), text)
		assert.Contains(t, stdout.String(), text)
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestAResultThatStdoutDoesNotTakeIsAnError(t *testing.T) {
	newFull := func() (*Step, *citest.Buffer) {
		step, _, log := newStep(nil)
		step.Stdout = full{}
		return step, log
	}
	for _, arg := range []string{"-h", "-version"} {
		step, _ := newFull()
		err := step.Parse(flag.NewFlagSet("x", flag.ContinueOnError), []string{arg})
		require.ErrorContains(t, err, "no space left on device")
		assert.NotErrorIs(t, err, flag.ErrHelp)
		assert.Equal(t, SetUp, OutcomeOf(err))
	}

	step, log := newFull()
	dir := t.TempDir()
	step.Getenv = func(name string) string {
		if name == "GITHUB_OUTPUT" {
			return filepath.Join(dir, "output")
		}
		return ""
	}
	result := Result{Outcome: "success", Stdout: "https://example.com", Outputs: [][2]string{{"link", "x"}}}
	assert.Equal(t, 2, step.Report(result))
	assert.Contains(t, log.String(), "no space left on device")
	outputs := citest.Outputs(t, filepath.Join(dir, "output"))
	assert.Equal(t, map[string]string{"link": "x"}, outputs, "later steps have it")
	result.Outcome = Unknown
	assert.Equal(t, 3, step.Report(result), "the run's own code wins")
	step.Soft = true
	assert.Equal(t, 2, step.Report(result))

	step, _ = newFull()
	assert.Zero(t, step.Report(Result{Outcome: "success"}), "nothing was to be printed")
}

func TestFoldedText(t *testing.T) {
	step, _, _ := newStep(map[string]string{"GITHUB_TOKEN": "ghs_12345678"})
	assert.Equal(t, "<details><summary>Logs</summary>\n\n    a\n\n    </details>::x ghs [redacted]\n\n</details>\n",
		step.Folded("Logs", "a\n\n</details>::x\x1bghs ghs_12345678\n"))

	for _, unit := range []string{"line of some length\n", "é", "é\n"} {
		folded := step.Folded("Logs", "first\n"+strings.Repeat(unit, 100_000)+"\nlast")
		assert.LessOrEqual(t, len(folded), 64<<10)
		assert.Greater(t, len(folded), 32<<10)
		assert.True(t, utf8.ValidString(folded))
		assert.Contains(t, folded, "\n\n    first\n")
		assert.Contains(t, folded, "\n    (truncated)\n")
		assert.True(t, strings.HasSuffix(folded, "\n    last\n\n</details>\n"))
		for line := range strings.Lines(strings.TrimSuffix(folded, "</details>\n")) {
			assert.Regexp(t, "^(    |<details>|\n)", line, "a block of code")
		}
	}
}

func TestAtADeskTheLogHasTheOutputs(t *testing.T) {
	result := Result{
		Outcome: "success",
		Text:    "Done",
		Outputs: [][2]string{{"status", "success"}, {"link", ""}, {"id", "1\n::error::x"}},
	}
	step, stdout, log := newStep(nil)
	assert.Zero(t, step.Report(result))
	assert.Equal(t, "Done\nstatus = success\nid = 1 ::error::x\n", log.String())
	assert.Empty(t, stdout.String())
	step, _, log = newStep(map[string]string{"GITHUB_ACTIONS": "true"})
	assert.Zero(t, step.Report(result))
	assert.NotContains(t, log.String(), "status")
}

// What cannot be written has to show before the service acts.
func TestAStepWhoseOutputsCannotBeWrittenIsRefused(t *testing.T) {
	for _, env := range []map[string]string{
		{"GITHUB_OUTPUT": "/nowhere/output"},
		{"GITHUB_STEP_SUMMARY": t.TempDir()},
		{"GITLAB_CI": "true"},
	} {
		step, _, _ := newStep(env)
		step.Dir = "/nowhere"
		assert.Error(t, step.Parse(flag.NewFlagSet("x", flag.ContinueOnError), nil), "%v", env)
	}
	path := filepath.Join(t.TempDir(), "output")
	require.NoError(t, os.WriteFile(path, []byte("a=b\n"), 0o600))
	step, _, _ := newStep(map[string]string{"GITHUB_OUTPUT": path})
	require.NoError(t, step.Parse(flag.NewFlagSet("x", flag.ContinueOnError), nil))
	assert.Equal(t, "a=b\n", citest.Read(t, path), "an earlier step's outputs stay")
}

func TestAnOutputThatCannotBeWrittenIsAnError(t *testing.T) {
	step, _, log := newStep(map[string]string{"GITHUB_OUTPUT": "/nowhere/output"})
	assert.Equal(t, 2, step.Report(Result{Outcome: "success", Outputs: [][2]string{{"a", "b"}}}))
	assert.Equal(t, 3, step.Report(Result{Outcome: Unknown}), "the run's own code wins")
	assert.Contains(t, log.String(), "/nowhere/output")
}

func TestTheFileForGitLabIsReplacedAndNeverFollowed(t *testing.T) {
	step, _, _ := newStep(map[string]string{"GITLAB_CI": "true"})
	step.Dir = t.TempDir()
	path := filepath.Join(step.Dir, "docs-on-merge.env")
	outside := filepath.Join(t.TempDir(), "theirs")
	require.NoError(t, os.WriteFile(outside, []byte("theirs"), 0o600))
	for _, prepare := range []func() error{
		func() error { return os.Symlink(outside, path) },
		func() error { return os.Link(outside, path) },
		func() error { return os.Symlink("/nowhere", path) },
		func() error { return nil },
	} {
		_ = os.Remove(path)
		require.NoError(t, prepare())
		assert.Zero(t, step.Report(Result{Outcome: "x", Outputs: [][2]string{{"pr-link", "a\nB=c"}}}))
		assert.Equal(t, "DOCS_ON_MERGE_PR_LINK=a B=c\n", citest.Read(t, path))
		info, err := os.Lstat(path)
		require.NoError(t, err)
		assert.True(t, info.Mode().IsRegular())
		assert.Equal(t, "theirs", citest.Read(t, outside))
	}
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.MkdirAll(filepath.Join(path, "x"), 0o755))
	assert.Equal(t, 2, step.Report(Result{Outcome: "x"}))
	left, err := os.ReadDir(step.Dir)
	require.NoError(t, err)
	assert.Len(t, left, 1, "nothing is left beside it")
}

// Forty repositories that were refused together do not come back together.
func TestTheWaitBeforeAnotherAttemptHasJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		step, _, _ := newStep(nil)
		waits := map[time.Duration]bool{}
		for range 100 {
			for said, want := range map[time.Duration]time.Duration{0: 30 * time.Second, time.Minute: time.Minute} {
				start := time.Now()
				require.NoError(t, step.WaitOut(t.Context(), "x", said, nil))
				wait := time.Since(start)
				assert.GreaterOrEqual(t, wait, want)
				assert.Less(t, wait, 2*want)
				waits[wait] = true
			}
		}
		assert.Greater(t, len(waits), 100)
	})
}

func TestOutcomeOf(t *testing.T) {
	assert.Equal(t, SetUp, OutcomeOf(os.ErrClosed))
	assert.Equal(t, Running, OutcomeOf(Running.Of(http.ErrServerClosed)))
	assert.ErrorIs(t, Running.Of(http.ErrServerClosed), http.ErrServerClosed)
	for outcome, code := range map[Outcome]int{
		"success": 0, "skipped": 0, Failed: 1, SetUp: 2, Unknown: 3, Running: 4, NotStarted: 5,
	} {
		assert.Equal(t, code, outcome.exitCode())
	}

	for status, want := range map[int]Outcome{
		400: NotStarted, 402: NotStarted, 409: NotStarted, 413: NotStarted, 415: NotStarted, 422: NotStarted,
		425: NotStarted, 429: NotStarted, 451: NotStarted, 401: SetUp, 403: SetUp, 404: SetUp, 407: SetUp,
		408: Unknown, 499: Unknown, 501: Unknown, 503: Unknown,
	} {
		response := &mintlify.APIError{Operation: mintlify.OpCreateJob, StatusCode: status}
		assert.Equal(t, want, OutcomeOf(response), status)
	}
	blocked := &mintlify.APIError{StatusCode: 403, Header: http.Header{"Cf-Mitigated": {"challenge"}}}
	assert.Equal(t, NotStarted, OutcomeOf(blocked))
}
