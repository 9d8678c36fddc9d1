package test

import (
	"go/ast"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/operations"
	"github.com/mintlify-community/mintlify-go/internal/testkit"
)

func TestReferenceAndChangelogListEveryOperation(t *testing.T) {
	reference := readFiles(t, "docs/reference.md")
	changelog := readFiles(t, "CHANGELOG.md")
	for _, op := range operations.All() {
		row := regexp.MustCompile(`(?m)^\| .*` + regexp.QuoteMeta("`"+op.Func+"`") + `.* \| ` + op.String() + ` \| `)
		assert.True(t, row.MatchString(reference), "add %s to the table of operations in docs/reference.md", op)
		assert.True(t, strings.Contains(changelog, "`"+op.Func+"`"), "add a line about `%s` to CHANGELOG.md", op.Func)
	}
}

// A new kind of error is one entry in testkit.Kinds and one mention in the table of errors in docs/reference.md.
func TestEveryKindOfErrorIsListed(t *testing.T) {
	reference := readFiles(t, "docs/reference.md")
	var declared []string
	for _, group := range parsePackage(t, ".").Vars {
		for _, name := range group.Names {
			if strings.HasPrefix(name, "Err") {
				declared = append(declared, name)
			}
		}
	}
	assert.GreaterOrEqual(t, len(declared), len(testkit.Kinds),
		"testkit.Kinds has a kind that errors.go does not declare")

	for _, name := range declared {
		assert.NotNil(t, testkit.Kinds[name], "add %s to testkit.Kinds", name)
		isListed := strings.Contains(reference, "`"+name+"`")
		assert.True(t, isListed, "add %s to the table of errors in docs/reference.md", name)
	}
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

// The row of the reference's errors for the network.
func TestNetworkErrorIsTheNetworksOwn(t *testing.T) {
	lost := &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	for name, call := range testkit.JobCalls {
		_, err := call(t.Context(), testkit.NewClient(t, testkit.FailWith(lost), mintlify.WithMaxRetries(0)))
		assert.ErrorAs(t, err, new(*net.OpError))
		assert.ErrorIs(t, err, syscall.ECONNRESET)
		assert.Equal(t, name != "Get", testkit.IsOutcomeUnknown(err), "this transport gives no proof")
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

// Each way to test code that uses the SDK, as the README shows it.

const jobURL = "https://api.mintlify.com/v2/agent/proj/job"

func TestMockWithHTTPMockOnAClient(t *testing.T) {
	for name, activateFirst := range map[string]bool{"before NewClient": true, "after NewClient": false} {
		t.Run(name, func(t *testing.T) {
			hc := &http.Client{}
			t.Cleanup(httpmock.DeactivateAndReset)
			if activateFirst {
				httpmock.ActivateNonDefault(hc)
			}
			client, err := mintlify.NewClient("mint_test", "proj", mintlify.WithHTTPClient(hc))
			require.NoError(t, err)
			if !activateFirst {
				httpmock.ActivateNonDefault(hc)
			}

			httpmock.RegisterResponder("POST", jobURL, httpmock.NewStringResponder(201, testkit.JobJSON))
			job, err := testkit.Create(t.Context(), client)
			require.NoError(t, err)
			assert.Equal(t, "job_1", job.ID)
			assert.Equal(t, 1, httpmock.GetTotalCallCount())
		})
	}
}

func TestMockWithPlainHTTPMock(t *testing.T) {
	client, err := mintlify.NewClient("mint_test", "proj")
	require.NoError(t, err)

	httpmock.Activate(t)
	httpmock.RegisterResponder("POST", jobURL, httpmock.NewStringResponder(201, testkit.JobJSON))
	job, err := testkit.Create(t.Context(), client)
	require.NoError(t, err)
	assert.Equal(t, "job_1", job.ID)
}

// A file is named by its folder below that of a program's packages, or from the root.
func TestContributingNamesFilesThatExist(t *testing.T) {
	files := regexp.MustCompile("`([\\w./-]+/[\\w.-]+\\.(?:go|yml))`")
	named := files.FindAllStringSubmatch(readFiles(t, "CONTRIBUTING.md"), -1)
	require.NotEmpty(t, named)
	for _, name := range named {
		found, err := filepath.Glob("cmd/*/internal/" + name[1])
		require.NoError(t, err)
		if len(found) == 0 {
			assert.FileExists(t, name[1])
		}
	}
}

// The messages are what operators search their logs for.
func TestEveryLogMessageIsListed(t *testing.T) {
	sources, err := filepath.Glob("*.go")
	require.NoError(t, err)

	reference := readFiles(t, "docs/reference.md")
	call := regexp.MustCompile(`(?s)LogAttrs\([^"]*"(mintlify: [^":]*)`)
	messages := call.FindAllStringSubmatch(readFiles(t, sources...), -1)
	require.Len(t, messages, 5)
	for _, message := range messages {
		assert.Contains(t, reference, "`"+message[1], "list it in docs/reference.md")
	}
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
		"internal/operations has each operation of client.go once: add yours")
}
