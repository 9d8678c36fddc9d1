package citest

import (
	"regexp"
	"slices"
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

// Differences returns a line for each name that one place has and another lacks.
func (i Interface) Differences() []string {
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

	return slices.Concat(
		compare("README, flags", flags, namesIn(row, i.README, 1)),
		compare("README, inputs", want, namesIn(row, i.README, 2)),
		compare("action.yml", want, namesIn(name, inputs.FindString(i.Action), 1)),
	)
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

func compare(place string, want, got []string) []string {
	var found []string
	for _, name := range want {
		if !slices.Contains(got, name) {
			found = append(found, place+": lacks "+name)
		}
	}
	for _, name := range got {
		if !slices.Contains(want, name) {
			found = append(found, place+": has "+name+", which nobody takes")
		}
	}
	return found
}
