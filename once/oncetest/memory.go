package oncetest

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/mintlify-community/mintlify-go/once"
)

// memory is a store that does not outlive its process.
type memory struct {
	mu      sync.Mutex
	records map[string]once.Record
}

// NewStore returns an empty [once.Store] in memory, for tests: its records are lost when the
// process ends. Outside a testing/synctest bubble, a test of follow-ups gives its Runner
// [once.WithSettleTime] with 0: else each takes 30 s.
func NewStore() once.Store {
	return &memory{records: map[string]once.Record{}}
}

// Get implements [once.Store].
func (m *memory) Get(ctx context.Context, key string) (once.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()

	return m.records[key], ctx.Err()
}

// Put implements [once.Store].
func (m *memory) Put(ctx context.Context, r once.Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()

	if ctx.Err() != nil {
		return ctx.Err()
	}
	if m.records[r.Key].Version != r.Version-1 {
		return once.ErrConflict
	}

	m.records[r.Key] = r
	return nil
}

// List implements [once.Store].
func (m *memory) List(ctx context.Context, states ...once.State) ([]once.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()

	return once.Select(slices.Collect(maps.Values(m.records)), states), ctx.Err()
}
