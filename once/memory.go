package once

import (
	"strings"
	"sync"
	"time"
)

const (
	longMemory = time.Hour // longer than anything that is remembered counts
	maxMemory  = 1000      // entries of each kind, before the old ones are dropped
)

// memory is what a Runner has seen itself, by its own clock.
type memory struct {
	mu sync.Mutex
	// running is when a send was first seen running, by its Sender.
	running map[string]time.Time
	// noted is when a Problem that this Runner has stored last came up, by the record's note.
	noted map[string]time.Time
}

// sawRunning notes that a follow-up runs, and returns when that was first seen.
func (m *memory) sawRunning(record Record) time.Time {
	if record.After == "" || record.State != Running {
		return time.Time{}
	}

	m.mu.Lock()
	defer m.mu.Unlock()

	send := record.Key + " " + record.Sender
	first, known := m.running[send]
	if !known {
		first = time.Now()
		m.running[send] = first
		forget(m.running)
	}
	return first
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

	m.noted[record.note()] = time.Now()
	forget(m.noted)
}

// isNoted reports whether all that next adds to record is a Problem that this Runner has stored before:
// the store leaves it out.
func (m *memory) isNoted(record, next Record) bool {
	m.mu.Lock()
	defer m.mu.Unlock()

	if record.Problem != "" { // the store keeps it, so one that has gone and comes again is new
		delete(m.noted, record.note())
		return false
	}

	note := next.note()
	next.Problem = ""
	_, known := m.noted[note]
	if !known || next != record {
		return false
	}

	m.noted[note] = time.Now()
	return true
}

// forget drops old entries from a large memory.
func forget(seen map[string]time.Time) {
	if len(seen) <= maxMemory {
		return
	}
	for key, at := range seen {
		if time.Since(at) > longMemory {
			delete(seen, key)
		}
	}
}
