package mintlifytest_test

import (
	"context"
	"errors"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func updateDocs(ctx context.Context, client *mintlify.Client, prompt string) error {
	job, err := client.Jobs.Create(ctx, mintlify.CreateJobParams{Prompt: prompt})
	if err != nil {
		return err
	}
	_, err = client.Jobs.WaitUntilDone(ctx, job.ID)
	return err
}

func TestUpdateDocsReportsAFailedJob(t *testing.T) {
	svc := mintlifytest.NewService()
	svc.ScriptJob(
		mintlifytest.JobStep{Status: mintlify.JobActive},
		mintlifytest.JobStep{Fault: &mintlifytest.Fault{Status: 503}}, // a poll that fails
		mintlifytest.JobStep{Status: mintlify.JobFailed},
	)
	err := updateDocs(t.Context(), svc.Client(), "Document the flag --json")
	if !errors.Is(err, mintlify.ErrJobFailed) {
		t.Errorf("error is %v, want ErrJobFailed", err)
	}
	if sent := svc.Requests()[0]; sent.Prompt != "Document the flag --json" {
		t.Errorf("sent the prompt %q", sent.Prompt)
	}
}

// The test in the package documentation is the one above.
func TestPackageDocumentationIsATestThatPasses(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	require.NoError(t, err)
	here, err := os.ReadFile("doc_test.go")
	require.NoError(t, err)

	blocks := 0
	for _, block := range new(comment.Parser).Parse(file.Doc.Text()).Content {
		if code, ok := block.(*comment.Code); ok {
			assert.Contains(t, string(here), code.Text)
			blocks++
		}
	}
	assert.NotZero(t, blocks)
}
