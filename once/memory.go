package once

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
)

// Memory is a [Store] for tests: it does not outlive its process.
type Memory struct {
	mu      sync.Mutex
	records map[string]Record
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory {
	return &Memory{records: map[string]Record{}}
}

// Get implements [Store].
func (m *Memory) Get(ctx context.Context, key string) (Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()

	return m.records[key], ctx.Err()
}

// Put implements [Store].
func (m *Memory) Put(ctx context.Context, r Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()

	if ctx.Err() != nil {
		return ctx.Err()
	}
	if m.records[r.Key].Version != r.Version-1 {
		return ErrConflict
	}

	m.records[r.Key] = r
	return nil
}

// List implements [Store].
func (m *Memory) List(ctx context.Context, states ...State) ([]Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()

	return selected(slices.Collect(maps.Values(m.records)), states), ctx.Err()
}

// selected returns the records in one of states, or all if none is given, the oldest update
// first.
func selected(records []Record, states []State) []Record {
	slices.SortFunc(records, func(a, b Record) int {
		return cmp.Or(a.Updated.Compare(b.Updated), cmp.Compare(a.Key, b.Key))
	})
	if len(states) == 0 {
		return records
	}
	return slices.DeleteFunc(records, func(r Record) bool { return !slices.Contains(states, r.State) })
}
