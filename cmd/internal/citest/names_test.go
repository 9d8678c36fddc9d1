package citest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/internal/citest"
)

// same is the interface of a program in which nothing differs.
func same() citest.Interface {
	return citest.Interface{
		Help:   "Usage\n  -base commit\n    \tthe commit\n  -path pathspec\n  -demo\n",
		Action: "inputs:\n  api-key:\n    description: x\n  base:\n  paths:\n  state:\noutputs:\n  outcome:\n",
		README: "| | `api-key` | the key |\n| `-base COMMIT` | `base` | x |\n| `-path P` | `paths` | x |\n" +
			"| `-demo` | | x |\n| | `state` | x |\n| outcome | other | tables |\n",
		Inputs:   map[string]string{"path": "paths", "demo": ""},
		NotFlags: []string{"api-key", "state"},
	}
}

// failures are what assertions say.
type failures []string

func (f *failures) Errorf(format string, args ...any) { *f = append(*f, fmt.Sprintf(format, args...)) }

func TestEachPlaceHasTheSameNames(t *testing.T) {
	same().AssertSame(t)

	for name, change := range map[string]struct {
		spoil  func(i *citest.Interface)
		places []string
	}{
		"new": {
			func(i *citest.Interface) { i.Help += "  -new\n" },
			[]string{"README, flags", "README, inputs", "action.yml"},
		},
		"input": {
			func(i *citest.Interface) { i.NotFlags = append(i.NotFlags, "input") },
			[]string{"README, inputs", "action.yml"},
		},
		"flag":  {func(i *citest.Interface) { i.README += "| `-flag` | | x |\n" }, []string{"README, flags"}},
		"other": {func(i *citest.Interface) { i.README += "| | `other` | x |\n" }, []string{"README, inputs"}},
		"old": {
			func(i *citest.Interface) { i.Action = strings.Replace(i.Action, "  base:", "  old:\n  base:", 1) },
			[]string{"action.yml"},
		},
		"paths": {
			func(i *citest.Interface) { i.README = strings.Replace(i.README, "`paths`", "`base`", 1) },
			[]string{"README, inputs"},
		},
	} {
		i := same()
		change.spoil(&i)
		var said failures
		i.AssertSame(&said)
		require.Len(t, said, len(change.places), name)
		for n, place := range change.places {
			assert.Contains(t, said[n], place)
			assert.Contains(t, said[n], name)
		}
	}
}
