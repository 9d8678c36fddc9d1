package database

import (
	"slices"

	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

// States has package once's states in the order in which fleet prints them.
var States = []once.State{
	once.Pending,
	once.Sending,
	once.Running,
	once.Done,
	once.Failed,
	once.Refused,
	once.Unknown,
	once.Canceled,
}

// NameOf returns a state's name in outputs: pending is called queued.
func NameOf(s once.State) string {
	if s == once.Pending {
		return "queued"
	}
	return string(s)
}

// StateOf returns the state that a flag names, "" for "".
func StateOf(name string) (once.State, error) {
	if name == "" {
		return "", nil
	}

	i := slices.IndexFunc(States, func(s once.State) bool { return NameOf(s) == name })
	if i < 0 {
		return "", usage.Errorf("no state is named %q", redact.OneLine(name, 40))
	}
	return States[i], nil
}

// ZeroCounts returns a count of 0 for each state.
func ZeroCounts() map[string]int {
	counts := map[string]int{}
	for _, state := range States {
		counts[NameOf(state)] = 0
	}
	return counts
}
