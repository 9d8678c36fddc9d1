package once

import (
	"maps"
	"strings"
	"sync"
	"time"
)

const (
	longMemory = time.Hour // longer than anything that is remembered counts
	maxMemory  = 2000      // entries, before the old ones are dropped
)

// memory is what a Runner has seen itself, by its own clock: when a send was first seen running, by its key and
// Sender, and when a Problem that this Runner has stored last came up, by the record's note.
type memory struct {
	mu   sync.Mutex
	seen map[string]time.Time
}

// sawRunning notes that a follow-up runs, and returns when that was first seen.
func (m *memory) sawRunning(record Record) time.Time {
	if record.After == "" || record.State != Running {
		return time.Time{}
	}

	m.mu.Lock()
	defer m.mu.Unlock()

	send := record.Key + " " + record.Sender
	_, isKnown := m.seen[send]
	if !isKnown {
		m.add(send)
	}
	return m.seen[send]
}

// note tells the Problem of a record from those of its other sends and jobs.
func (record Record) note() string {
	return strings.Join([]string{record.Key, record.Sender, record.JobID, record.Problem}, " ")
}

// noteProblem notes the Problem of a record that this Runner has stored.
func (m *memory) noteProblem(record Record) {
	if record.Problem == "" {
		return
	}

	m.mu.Lock()
	defer m.mu.Unlock()

	m.add(record.note())
}

// isNoted reports whether all that next adds to record is a Problem that this Runner has stored before:
// the store leaves it out.
func (m *memory) isNoted(record, next Record) bool {
	m.mu.Lock()
	defer m.mu.Unlock()

	if record.Problem != "" { // the store keeps it, so one that has gone and comes again is new
		delete(m.seen, record.note())
		return false
	}

	note := next.note()
	next.Problem = ""
	_, isKnown := m.seen[note]
	if !isKnown || next != record {
		return false
	}

	m.add(note)
	return true
}

// add notes the time, and drops old entries from a large memory. The lock is held.
func (m *memory) add(name string) {
	if len(m.seen) >= maxMemory {
		maps.DeleteFunc(m.seen, func(_ string, at time.Time) bool { return time.Since(at) > longMemory })
	}
	m.seen[name] = time.Now()
}
