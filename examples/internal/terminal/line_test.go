package terminal

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLineIsRewrittenOnATerminal(t *testing.T) {
	var out bytes.Buffer
	line := &Line{out: &out, isTerminal: true}
	line.Show("a long line")
	line.Update("short")
	line.Show(strings.Repeat("ä", 200))
	line.End()
	line.End()
	assert.Equal(t, "\ra long line\rshort      \r"+strings.Repeat("ä", 78)+"…\n", out.String())
}

func TestUpdatesAreRareElsewhere(t *testing.T) {
	path := t.TempDir() + "/out"
	synctest.Test(t, func(t *testing.T) {
		file, err := os.Create(path)
		require.NoError(t, err)
		defer file.Close()

		line := NewLine(file)
		for second := range 200 {
			if second == 90 {
				line.Show("news")
			}
			line.Update(fmt.Sprint(second))
			time.Sleep(time.Second)
		}
	})
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "60\nnews\n150\n", string(text))
}

func TestLinesArePlainElsewhere(t *testing.T) {
	file, err := os.Create(t.TempDir() + "/out")
	require.NoError(t, err)
	defer file.Close()

	line := NewLine(file)
	assert.False(t, line.IsTerminal())
	line.Show("one")
	line.Show("two")
	line.End()

	text, err := os.ReadFile(file.Name())
	require.NoError(t, err)
	assert.Equal(t, "one\ntwo\n", string(text))
}
