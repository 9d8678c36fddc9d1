package main

import (
	"slices"

	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

// states has package once's states in the order in which fleet prints them.
var states = []once.State{
	once.Pending,
	once.Sending,
	once.Running,
	once.Done,
	once.Failed,
	once.Refused,
	once.Unknown,
	once.Canceled,
}

// nameOf returns a state's name in outputs: pending is called queued.
func nameOf(s once.State) string {
	if s == once.Pending {
		return "queued"
	}
	return string(s)
}

// stateOf returns the state that a flag names, "" for "".
func stateOf(name string) (once.State, error) {
	if name == "" {
		return "", nil
	}

	i := slices.IndexFunc(states, func(s once.State) bool { return nameOf(s) == name })
	if i < 0 {
		return "", usageError("no state is named %q", redact.OneLine(name, 40))
	}
	return states[i], nil
}

// zeroCounts returns a count of 0 for each state.
func zeroCounts() map[string]int {
	counts := map[string]int{}
	for _, state := range states {
		counts[nameOf(state)] = 0
	}
	return counts
}
