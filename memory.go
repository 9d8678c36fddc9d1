package mintlify

import (
	"crypto/sha256"
	"sync"
	"time"
)

const (
	// recentTime is how long the service may show a job as it was: at its earlier end after a
	// message, or not at all after it was made.
	recentTime    = 30 * time.Second
	maxRemembered = 1000 // unknown statuses that were warned of
)

// memory is what a client remembers from one call to the next. The clients of [Client.ForProject]
// share it. It holds hashes only: an id and a status are the service's, and may be an echoed key.
type memory struct {
	messages recent // when Message returned, also if the service only may have the message
	created  recent // when Create returned

	mu     sync.Mutex
	warned map[digest]bool
}

// digest is the hash of what a client remembers.
type digest [sha256.Size]byte

func digestOf(text string) digest { return sha256.Sum256([]byte(text)) }

// isNews reports whether no poll of this URL has warned of this status, and remembers it.
func (m *memory) isNews(url, status string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()

	seen := digestOf(url + " " + status)
	if m.warned[seen] {
		return false
	}

	if m.warned == nil || len(m.warned) == maxRemembered {
		m.warned = map[digest]bool{}
	}
	m.warned[seen] = true
	return true
}

// recent remembers when something last happened to a job, by the job's URL. It forgets after one to
// two times recentTime, all jobs of that age at once: a look at each job would make each call slower.
type recent struct {
	mu           sync.Mutex
	began        time.Time // when newer was empty
	newer, older map[digest]time.Time
}

func (r *recent) add(url string) {
	r.mu.Lock()
	defer r.mu.Unlock()

	now := time.Now()
	if r.newer == nil || now.Sub(r.began) >= recentTime {
		r.began = now
		r.older = r.newer
		r.newer = map[digest]time.Time{}
	}
	r.newer[digestOf(url)] = now
}

// has reports whether it happened within recentTime.
func (r *recent) has(url string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()

	return time.Since(r.at(digestOf(url))) < recentTime
}

// removeBefore forgets what happened to the job before start.
func (r *recent) removeBefore(url string, start time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()

	job := digestOf(url)
	if start.After(r.at(job)) {
		delete(r.newer, job)
		delete(r.older, job)
	}
}

// at returns the zero time if it remembers nothing of the job. The lock is held.
func (r *recent) at(job digest) time.Time {
	if at, ok := r.newer[job]; ok {
		return at
	}
	return r.older[job]
}
