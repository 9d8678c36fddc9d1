package citest

import (
	"regexp"
	"slices"

	"github.com/stretchr/testify/assert"
)

// Interface is what users of a program can set, as each place has it: the text of -h, the action
// and the README. .ci/actionlint compares the reusable workflow with the action.
type Interface struct {
	Help, Action, README string

	// Inputs are the inputs that are not called as their flags, by flag. "" says that a flag is
	// not an input.
	Inputs map[string]string
	// NotFlags are the inputs that are not flags.
	NotFlags []string
}

var (
	helpFlag = regexp.MustCompile(`(?m)^  -([a-z-]+)`)
	inputs   = regexp.MustCompile(`(?ms)^inputs:\n(.*?)^[a-z]`)
	name     = regexp.MustCompile(`(?m)^  ([a-z-]+):$`)
	// row is a row of the README's table of flags: a flag, an input, or both.
	row = regexp.MustCompile("(?m)^\\| (?:`-([a-z-]+)[^`|]*`)? *\\| *(?:`([a-z-]+)`)? *\\| [^|]+\\|$")
)

// AssertSame asserts that each place has all names, and no others.
func (i Interface) AssertSame(t assert.TestingT) {
	flags := namesIn(helpFlag, i.Help, 1)
	want := slices.Clone(i.NotFlags) // the inputs of the action
	for _, flag := range flags {
		input, isException := i.Inputs[flag]
		if !isException {
			input = flag
		}
		if input != "" {
			want = append(want, input)
		}
	}

	assert.ElementsMatch(t, flags, namesIn(row, i.README, 1), "README, flags")
	assert.ElementsMatch(t, want, namesIn(row, i.README, 2), "README, inputs")
	assert.ElementsMatch(t, want, namesIn(name, inputs.FindString(i.Action), 1), "action.yml")
}

// namesIn returns what a group of a pattern matches in a text.
func namesIn(pattern *regexp.Regexp, text string, group int) []string {
	var found []string
	for _, match := range pattern.FindAllStringSubmatch(text, -1) {
		if match[group] != "" {
			found = append(found, match[group])
		}
	}
	return found
}
