package command

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/load"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

func TestALogHasALineForEachWindow(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	defer file.Close()
	p := newProgress(file)
	window := store.Window{Project: "docs", From: mintlify.Day(2026, time.March, 2), To: mintlify.Day(2026, time.March, 9)}
	p.show(load.Progress{})
	p.show(load.Progress{Windows: 2, Left: 90})
	p.show(load.Progress{Windows: 2, Requests: 1, Left: 89})
	p.show(load.Progress{Windows: 2, Done: 1, Requests: 2, Left: 88, Completed: &window})
	p.show(load.Progress{Windows: 2, Done: 1, Requests: 2, Waiting: time.Date(2026, time.March, 9, 1, 2, 3, 0, time.UTC)})
	text, err := os.ReadFile(file.Name())
	require.NoError(t, err)
	assert.Equal(t, "docs 2026-03-02 to 2026-03-08 (1 of 2 windows, 2 requests, 88 left this hour)\nWaiting for the hourly quota until 01:02:03 UTC.\n", string(text))
}
