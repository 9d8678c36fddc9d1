package citest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

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

func TestDifferences(t *testing.T) {
	assert.Empty(t, same().Differences())

	for says, change := range map[string]func(i *citest.Interface){
		"README, flags: lacks new":              func(i *citest.Interface) { i.Help += "  -new\n" },
		"action.yml: lacks new":                 func(i *citest.Interface) { i.Help += "  -new\n" },
		"README, inputs: lacks new":             func(i *citest.Interface) { i.NotFlags = append(i.NotFlags, "new") },
		"README, flags: has old, which nobody":  func(i *citest.Interface) { i.README += "| `-old` | | x |\n" },
		"README, inputs: has old, which nobody": func(i *citest.Interface) { i.README += "| | `old` | x |\n" },
		"action.yml: has old, which nobody": func(i *citest.Interface) {
			i.Action = strings.Replace(i.Action, "  base:", "  old:\n  base:", 1)
		},
		"README, inputs: lacks paths": func(i *citest.Interface) {
			i.README = strings.Replace(i.README, "`paths`", "`base`", 1)
		},
	} {
		i := same()
		change(&i)
		assert.Contains(t, strings.Join(i.Differences(), "\n"), says)
	}
}
