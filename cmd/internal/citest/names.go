package citest

import (
	"fmt"
	"maps"
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
	flags := namesIn(helpFlag, i.Help)
	want := map[string]bool{} // the inputs of the action
	for flag := range flags {
		if input := i.inputOf(flag); input != "" {
			want[input] = true
		}
	}
	for _, input := range i.NotFlags {
		want[input] = true
	}

	readmeFlags := map[string]bool{}
	readmeInputs := map[string]bool{}
	var found []string
	for _, cells := range row.FindAllStringSubmatch(i.README, -1) {
		flag, input := cells[1], cells[2]
		if flag != "" {
			readmeFlags[flag] = true
		}

		if input != "" {
			readmeInputs[input] = true
		}

		if flag != "" && input != i.inputOf(flag) {
			found = append(found, fmt.Sprintf("README: the input of -%s is not %q", flag, input))
		}
	}

	found = append(found, compare("README, flags", flags, readmeFlags)...)
	found = append(found, compare("README, inputs", want, readmeInputs)...)
	return append(found, compare("action.yml", want, namesIn(name, inputs.FindString(i.Action)))...)
}

func (i Interface) inputOf(flag string) string {
	if input, isException := i.Inputs[flag]; isException {
		return input
	}
	return flag
}

func namesIn(pattern *regexp.Regexp, text string) map[string]bool {
	found := map[string]bool{}
	for _, match := range pattern.FindAllStringSubmatch(text, -1) {
		found[match[1]] = true
	}
	return found
}

func compare(place string, want, got map[string]bool) []string {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if !got[name] {
			found = append(found, place+": lacks "+name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if !want[name] {
			found = append(found, place+": has "+name+", which nobody takes")
		}
	}
	return found
}
