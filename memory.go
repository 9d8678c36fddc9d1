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
	mu       sync.Mutex
	messages recent // when Message returned, by the job's URL
	created  recent // when Create returned, by the job's URL
	warned   map[digest]bool
}

// digest is the hash of what a client remembers.
type digest [sha256.Size]byte

func digestOf(text string) digest { return sha256.Sum256([]byte(text)) }

// messaged notes that the service has a message to a job, or may have it.
func (m *memory) messaged(url string) {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.messages.add(digestOf(url))
}

// actedOn notes that a poll, which began at start, has seen the job at work: later it may end.
func (m *memory) actedOn(url string, start time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()

	job := digestOf(url)
	if start.After(m.messages.at(job)) {
		m.messages.remove(job)
	}
}

// isSettling reports whether the end that a job reports may be that before its latest message.
func (m *memory) isSettling(url string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()

	return time.Since(m.messages.at(digestOf(url))) < recentTime
}

// wasCreated notes that Create has returned a job.
func (m *memory) wasCreated(url string) {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.created.add(digestOf(url))
}

// isNew reports whether Create has returned the job so lately that the service may not find it.
func (m *memory) isNew(url string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()

	return time.Since(m.created.at(digestOf(url))) < recentTime
}

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

// recent remembers when something last happened to a job. It forgets after one to two times
// recentTime, all jobs of that age at once: a look at each job would make each call slower.
type recent struct {
	began        time.Time // when newer was empty
	newer, older map[digest]time.Time
}

func (r *recent) add(job digest) {
	now := time.Now()
	if r.newer == nil || now.Sub(r.began) >= recentTime {
		r.began = now
		r.older = r.newer
		r.newer = map[digest]time.Time{}
	}
	r.newer[job] = now
}

// at returns the zero time if it remembers nothing of the job.
func (r *recent) at(job digest) time.Time {
	if at, ok := r.newer[job]; ok {
		return at
	}
	return r.older[job]
}

func (r *recent) remove(job digest) {
	delete(r.newer, job)
	delete(r.older, job)
}
