package main

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
)

// What a row says depends on the service is in the code under that name.
func TestRowsNameConstantsAndRulesThatThereAre(t *testing.T) {
	all := readAll(t, "../../../*.go") + readAll(t, "../../../once/*.go")
	labels := map[string]bool{"": true}
	for _, q := range requests(settings{}) {
		assert.False(t, labels[q.label], "%s is there twice", q.label)
		labels[q.label] = true
	}

	texts := map[string]bool{}
	for _, row := range rows() {
		assert.False(t, texts[row.what], row.what)
		texts[row.what] = true
		assert.True(t, labels[row.needs], row.needs)
		assert.NotContains(t, row.what+row.depends, "|")

		for _, file := range regexp.MustCompile(`[a-z/]+\.(go|md)`).FindAllString(row.depends, -1) {
			assert.FileExists(t, filepath.Join("../../..", file), row.what)
		}
		for _, name := range regexp.MustCompile("`([A-Za-z.]+)`").FindAllStringSubmatch(row.depends, -1) {
			parts := strings.Split(name[1], ".")
			assert.True(t, regexp.MustCompile(`\b`+parts[len(parts)-1]+`\b`).MatchString(all), name[1])
		}
		for _, match := range regexp.MustCompile("`([A-Za-z]+)` in ([a-z/]+\\.go)").FindAllStringSubmatch(row.depends, -1) {
			code := readAll(t, filepath.Join("../../..", match[2]))
			assert.Regexp(t, `\b`+match[1]+`\b`, code, row.what)
		}
	}

	pointers := []string{"/source", "/responseType", "/resolutionStatus", "/role", "/status"}
	for _, op := range []mintlify.Operation{mintlify.OpGetJob, mintlify.OpGetFeedback, mintlify.OpGetDeployment} {
		for _, pointer := range pointers {
			for _, name := range regexp.MustCompile("`([A-Za-z]+)`").FindAllStringSubmatch(enumAt(op, pointer), -1) {
				assert.Regexp(t, `\b`+name[1]+`\b`, all)
			}
		}
	}
}

func readAll(t *testing.T, pattern string) string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	require.NoError(t, err)

	var all strings.Builder
	for _, path := range paths {
		code, err := os.ReadFile(path)
		require.NoError(t, err)
		all.Write(code)
	}
	return all.String()
}

// The rows about asking first go by the rule of package once itself.
func TestAStatusThatStopsPackageOnceDiffers(t *testing.T) {
	for status := 200; status < 600; status++ {
		if http.StatusText(status) == "" && status != 499 {
			continue
		}

		body := `{"id":"x","status":"completed"}`
		svc := mintlifytest.NewService()
		svc.FailNext(mintlify.OpGetJob, 9, mintlifytest.Fault{Status: status, Body: body})
		store, err := once.NewDir(t.TempDir())
		require.NoError(t, err)
		runner, err := once.New(svc.Client(), store)
		require.NoError(t, err)
		_, _, err = runner.Add(t.Context(), once.Task{Key: "docs-sdk-check@1", Prompt: "x"})
		require.NoError(t, err)
		_, _ = runner.Step(t.Context(), "docs-sdk-check@1") // what counts is what was sent

		sends := false
		for _, request := range svc.Requests() {
			sends = sends || request.Operation == mintlify.OpCreateJob
		}
		assert.Equal(t, sends, !stopsOnce(status), status)

		verdict := judgeUnknownJob(nil, &response{request: &request{label: preflightJob}, status: status, body: []byte(body)})
		assert.Equal(t, sends, verdict.result == asExpected, status)
	}
}
