package once

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// Memory is a [Store] for tests: it does not outlive its process.
type Memory struct {
	mu      sync.Mutex
	records map[string]Record
}

// NewMemory returns an empty Memory.
func NewMemory() *Memory { return &Memory{records: map[string]Record{}} }

// Get implements [Store].
func (m *Memory) Get(ctx context.Context, key string) (Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.records[key], ctx.Err()
}

// Put implements [Store].
func (m *Memory) Put(ctx context.Context, r Record) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
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
	var records []Record
	for _, r := range m.records {
		if isIn(r, states) {
			records = append(records, r)
		}
	}
	sortByUpdate(records)
	return records, ctx.Err()
}

// isIn reports whether r is in one of states, or states is empty.
func isIn(r Record, states []State) bool {
	return len(states) == 0 || slices.Contains(states, r.State)
}

func sortByUpdate(records []Record) {
	slices.SortFunc(records, func(a, b Record) int {
		return cmp.Or(a.Updated.Compare(b.Updated), cmp.Compare(a.Key, b.Key))
	})
}
