//go:build unix

package main

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/internal/test/processes"
	"github.com/mintlify-community/mintlify-go/once"
)

// onslaught is how much a fleet has to go through: little, unless MINTLIFY_LONG is set. FLEET_KILLS sets how often a
// process ends.
type onslaught struct {
	merges, projects int
	followUps        int           // messages, each to the job of another merge
	slow             time.Duration // the service's response, at most
	every            time.Duration // a worker ends
	times            int
}

func theOnslaught(t *testing.T) onslaught {
	if isLong() {
		return onslaught{
			merges: 60, projects: 15, followUps: 30, slow: time.Second, every: 750 * time.Millisecond, times: kills(t, 40),
		}
	}
	return onslaught{
		merges: 24, projects: 6, followUps: 12, slow: 500 * time.Millisecond, every: 500 * time.Millisecond,
		times: kills(t, 20),
	}
}

// kills returns what FLEET_KILLS says, or a number.
func kills(t *testing.T, unlessSet int) int {
	text := os.Getenv("FLEET_KILLS")
	if text == "" {
		return unlessSet
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// disturb keeps three processes running, which start starts by their number, and sends one of them a signal now and
// then.
func (f *fleet) disturb(start func(i int) *processes.Run, signal os.Signal, load onslaught) {
	workers := []*processes.Run{start(0), start(1), start(2)}
	ticker := time.NewTicker(load.every)
	defer ticker.Stop()
	for range load.times {
		<-ticker.C
		i := rand.IntN(len(workers))
		_ = f.end(workers[i], signal) // it has been killed, or was asked to stop as it started
		workers[i] = start(i)
	}
}

// underFire disturbs the fleet, and waits until the rest is done.
func (f *fleet) underFire(signal os.Signal, load onslaught) {
	f.disturb(func(int) *processes.Run { return f.start() }, signal, load)
	f.until(5*time.Minute, "the prompts to be sent", func() bool { return f.busy() == 0 })
}

// busy counts what may be sent still, and the jobs of merges that run. A message that was sent is on its way: package
// once waits half a minute for it to settle. One whose response is lost it watches for two minutes, and the messages
// behind it wait.
func (f *fleet) busy() int {
	rows, err := f.store.Rows(f.t.Context(), "state IN ('pending', 'sending', 'running')")
	require.NoError(f.t, err)

	isWatched := map[string]bool{} // by thread
	for _, r := range rows {
		if isLost(r) {
			isWatched[r.Thread] = true
		}
	}

	busy := 0
	for _, r := range rows {
		isSent := r.Thread != "" && r.State == once.Running
		if !isSent && !isWatched[r.Thread] && !r.IsStranded {
			busy++
		}
	}
	return busy
}

// isLost reports whether r is a message whose response is lost.
func isLost(r database.Row) bool {
	return r.Thread != "" && r.State == once.Sending && time.Since(r.Deadline) > 10*time.Second
}

// TestKills kills workers while they send. See the README for its table.
func TestKills(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		load := theOnslaught(t)
		svc := newCountingService()
		svc.faults = 0.05
		svc.slow = load.slow
		f := newFleet(t, url, quick, svc)
		f.enqueue(prompts(load.merges, load.projects)...)
		f.enqueue(followUps(load.followUps)...)
		f.underFire(os.Kill, load)

		rows, err := f.store.Rows(t.Context(), "1 = 1")
		require.NoError(t, err)
		var sent, unknown, behind, lost int
		for _, r := range rows {
			switch {
			case r.State == once.Done, r.State == once.Running:
				sent++
				assert.Equal(t, 1, svc.of(r.Key), "acted on %s", r.Key)
			case r.State == once.Unknown, isLost(r):
				unknown++
			case r.IsStranded:
				behind++ // it waits for a person
			default:
				lost++
			}
		}

		_, twice := svc.count()
		t.Logf("| %s | %d | %d | %d | %d | %d | %d | %d |", t.Name(), len(rows), load.times, sent, unknown, behind, lost,
			twice)
		assert.Len(t, rows, load.merges+load.followUps)
		assert.Zero(t, lost)
		assert.Zero(t, twice, "acted on twice")
	})
}

// TestRollingShutdown asks workers to stop, as deployments do: nothing is unknown.
func TestRollingShutdown(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		load := theOnslaught(t)
		svc := newCountingService()
		svc.slow = load.slow
		s := quick
		s.SendTime = 20 * time.Second
		f := newFleet(t, url, s, svc)
		f.enqueue(prompts(load.merges, load.projects)...)
		f.underFire(syscall.SIGTERM, load)
		assert.Equal(t, load.merges, f.counts()["done"])

		acted, twice := svc.count()
		assert.Equal(t, load.merges, acted)
		assert.Zero(t, twice)
	})
}

// followUps returns a message to the job of each of the first n prompts.
func followUps(n int) []database.Prompt {
	all := make([]database.Prompt, n)
	for i := range all {
		key := promptOf(i, "").Key + "#follow-up"
		all[i] = database.Prompt{Key: key, Prompt: "follow-up " + key, After: promptOf(i, "").Key}
	}
	return all
}

// TestPostgresRestarts stops the database under the workers, as a person in a hurry does.
func TestPostgresRestarts(t *testing.T) {
	t.Parallel()
	own := &processes.Postgres{}
	url := own.Database(t)
	t.Cleanup(own.Close)
	merges, times := 20, 1
	if isLong() {
		merges, times = 40, 3
	}
	svc := newCountingService()
	svc.slow = time.Second
	f := newFleet(t, url, quick, svc)
	f.enqueue(prompts(merges, 10)...)
	f.start()
	f.start()
	for range times {
		time.Sleep(2 * time.Second)
		own.Stop()
		time.Sleep(2 * time.Second)
		require.NoError(t, own.Start())
	}
	counts := f.await(5 * time.Minute)
	_, twice := svc.count()
	t.Logf("%d restarts: %v", times, counts)
	assert.Zero(t, twice)
	assert.Equal(t, merges, counts["done"]+counts["unknown"])

	lines := 0
	for line := range strings.Lines(f.logged()) {
		isBad := strings.Contains(line, "level=WARN") || strings.Contains(line, "level=ERROR")
		if isBad && !strings.Contains(line, "once: ") { // these are one for each POST in progress
			lines++
			t.Logf("%s", line)
		}
	}
	assert.LessOrEqual(t, lines, 2*(1+merges*times/100)+2, "lines on the outage, of two processes")
}

// theSiege is the onslaught on servers. It is small: each message takes half a minute to settle, and the next one of
// its thread waits for that.
func theSiege(t *testing.T) onslaught {
	if isLong() {
		return onslaught{merges: 10, projects: 5, followUps: 5, slow: 2 * time.Second, every: 2 * time.Second, times: kills(t, 8)}
	}
	return onslaught{merges: 4, projects: 4, slow: time.Second, every: time.Second, times: kills(t, 3)}
}

// TestKillsOfServers kills servers while merges and reviewers' comments are delivered to them, and follow-ups
// wait. GitHub lists a pull request for each job, so that an unknown prompt finds itself. Of such a prompt only the
// link is known, since the service never told the id of its job: a comment on it has no job that it could go to, and
// is left out for that reason.
func TestKillsOfServers(t *testing.T) {
	eachDatabase(t, func(t *testing.T, url string) {
		began := time.Now()
		s := newSiege(t, url, theSiege(t))
		s.underFire()
		found := s.outcome()
		acted, twice := s.svc.count()
		t.Logf("%d merges, %d follow-ups, %d comments, %d kills: %d acted on, %d twice, %d lost, %d found, "+
			"%d for a person, %d follow-ups and %d comments without a job, in %v", s.load.merges, s.load.followUps,
			len(s.pulls), s.load.times, acted, twice, len(found.lost), found.byLink, found.forPerson, found.stranded,
			found.jobless, time.Since(began).Round(time.Second))

		assert.Zero(t, twice, "acted on twice")
		assert.Empty(t, found.lost)
		assert.Empty(t, found.notFound, "unknown, though there is a pull request")
	})
}

// siege is servers that are killed, and a fake of GitHub.
type siege struct {
	*fleet
	load   onslaught
	svc    *countingService
	github *gitHub

	mu     sync.Mutex
	addrs  [3]string          // of the servers
	latest string             // the address of the server that was started last
	pulls  map[string]*pulled // by the key of the prompt
}

// pulled is the pull request that a job of the service opened.
type pulled struct {
	number      int
	link        string
	commentAt   time.Time // when a reviewer comments on it
	isCommented bool      // a server has taken the comment
}

// docsRepository is where the fake of the service opens its pull requests.
const docsRepository = "example/docs"

func newSiege(t *testing.T, url string, load onslaught) *siege {
	svc := newCountingService()
	svc.faults, svc.slow = 0.05, load.slow
	s := &siege{load: load, svc: svc, github: newGitHub(t), pulls: map[string]*pulled{}}
	svc.opened = s.open
	s.github.permission = "write"
	s.fleet = newFleet(t, url, quick, svc)
	return s
}

// open opens the pull request of a job, on which a reviewer comments soon.
func (s *siege) open(key, job string) {
	number := 0
	_, err := fmt.Sscanf(job, "job_%d", &number)
	if !assert.NoError(s.t, err, job) {
		return
	}
	p := &pulled{
		number:    number,
		link:      fmt.Sprintf("https://github.com/%s/pull/%d", docsRepository, number),
		commentAt: time.Now().Add(rand.N(5 * time.Second)),
	}

	s.mu.Lock()
	s.pulls[key] = p
	s.mu.Unlock()

	s.github.mu.Lock()
	defer s.github.mu.Unlock()
	s.github.pulls = append(s.github.pulls, fields{
		"number": number, "html_url": p.link, "body": "Adds it.\n\n" + once.Marker(key),
		"created_at": time.Now().Format(time.RFC3339), "user": fields{"login": "mintlify[bot]"},
		"head": fields{"repo": fields{"full_name": docsRepository}},
	})
}

// startServer starts one of the servers. The documentation's repository is left out.
func (s *siege) startServer(i int) *processes.Run {
	arguments := []string{"-project", docsRepository + "="}
	for merge := range s.load.merges {
		project := fmt.Sprintf("%s=project-%d", repositoryOf(merge), merge%s.load.projects+1)
		arguments = append(arguments, "-project", project)
	}

	run, addrs := s.serve([]string{"FLEET_GITHUB_TOKEN=ghp_x", "GITHUB_API_URL=" + s.github.URL}, arguments...)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addrs[i] = addrs[0]
	s.latest = addrs[0]
	return run
}

// retire stops all servers but the one that was started last. Each process waits for half a minute of its own until
// it believes that a message has settled: three would take three times as long.
func (s *siege) retire() {
	for _, run := range s.running[:len(s.running)-1] {
		if !run.HasEnded() {
			assert.NoError(s.t, s.end(run, syscall.SIGTERM))
		}
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	s.addrs = [3]string{s.latest, s.latest, s.latest}
}

func repositoryOf(merge int) string { return fmt.Sprintf("acme/repo-%d", merge) }
func shaOf(merge int) string        { return fmt.Sprintf("%040x", merge+1) }
func keyOf(merge int) string        { return repositoryOf(merge) + "@" + shaOf(merge) }

// underFire kills servers while webhooks are delivered, and waits until each merge, follow-up and comment is on its
// way to its end.
func (s *siege) underFire() {
	isOver := make(chan struct{})
	go func() {
		defer close(isOver)
		s.disturb(s.startServer, os.Kill, s.load)
	}()
	s.deliverMerges()
	s.until(5*time.Minute, "the last kill", func() bool {
		s.comment()
		select {
		case <-isOver:
			return true
		default:
			return false
		}
	})

	s.retire()
	s.until(5*time.Minute, "the end", func() bool { return s.comment() && s.busy() == 0 && kept(s.t, s.store) == 0 })
}

// deliverMerges delivers the merges, and adds follow-ups of half of them.
func (s *siege) deliverMerges() {
	for merge := range s.load.merges {
		e := push(fields{
			"after": shaOf(merge), "commits": []fields{commit(shaOf(merge), "jane", "Add --json")},
			"repository": fields{"full_name": repositoryOf(merge), "default_branch": "main"},
		})
		s.until(timeToDo, "a merge to be taken", func() bool { return s.deliver("push", e) })
	}

	for merge := range s.load.followUps {
		key := keyOf(merge) + "#follow-up"
		s.enqueue(database.Prompt{Key: key, Prompt: "follow-up " + key, After: keyOf(merge)})
	}
}

// deliver delivers a webhook to one of the servers, and reports whether it was taken: else a person has GitHub
// deliver it again.
func (s *siege) deliver(kind string, e fields) bool {
	s.mu.Lock()
	addr := s.addrs[rand.IntN(len(s.addrs))]
	s.mu.Unlock()
	if addr == "" {
		return false
	}
	status, _, err := receiver{s.t, s.store, "http://" + addr}.tryPost(kind, event(s.t, e), nil)
	return err == nil && status < 300
}

// comment has reviewers comment on pull requests, and reports whether all were commented on.
func (s *siege) comment() bool {
	s.mu.Lock()
	pulls := maps.Clone(s.pulls)
	s.mu.Unlock()

	all := true
	for key, p := range pulls {
		if !p.isCommented && time.Now().After(p.commentAt) {
			p.isCommented = s.deliver("issue_comment", commentOn(key, p))
		}
		all = all && p.isCommented
	}
	return all
}

// commentOn returns the event of a comment that has the number of its pull request as its id.
func commentOn(key string, p *pulled) fields {
	e := reviewComment(
		fields{"id": p.number, "body": "/docs follow-up " + commentKey(key, p)},
		fields{
			"number": p.number, "body": once.Marker(key), "pull_request": fields{"html_url": p.link},
			"created_at": time.Now().Format(time.RFC3339), "user": fields{"login": "mintlify[bot]"},
		},
	)
	e["repository"] = fields{"full_name": docsRepository, "default_branch": "main"}
	return e
}

func commentKey(key string, p *pulled) string { return fmt.Sprintf("%s#comment-%d", key, p.number) }

// outcome is what has become of merges, follow-ups and comments.
type outcome struct {
	lost      []string // keys
	notFound  []string // keys of unknown prompts that have a pull request
	byLink    int      // prompts that were unknown until their pull request was found
	forPerson int      // unknown prompts without a pull request
	stranded  int      // messages to prompts that have no job
	jobless   int      // comments on prompts that were found by their link alone
}

func (s *siege) outcome() outcome {
	rows, err := s.store.Rows(s.t.Context(), "1 = 1")
	require.NoError(s.t, err)
	byKey := map[string]database.Row{}
	for _, r := range rows {
		byKey[r.Key] = r
	}

	var o outcome
	for merge := range s.load.merges {
		o.addPrompt(s, byKey[keyOf(merge)], keyOf(merge))
		if merge < s.load.followUps {
			o.addMessage(s, byKey[keyOf(merge)+"#follow-up"], keyOf(merge)+"#follow-up")
		}
	}
	for key, p := range s.pulls {
		first := byKey[key]
		if first.JobID == "" && s.wasLeftOut(p) {
			o.jobless++
			continue
		}
		o.addMessage(s, byKey[commentKey(key, p)], commentKey(key, p))
	}
	return o
}

// addPrompt adds the prompt of a merge.
func (o *outcome) addPrompt(s *siege, r database.Row, key string) {
	p := s.pulls[key]
	switch {
	case r.State == once.Unknown && p == nil:
		o.forPerson++
	case r.State == once.Unknown:
		o.notFound = append(o.notFound, key)
	case r.State != once.Done || s.svc.of(key) != 1:
		o.lost = append(o.lost, key+" is "+cmp.Or(string(r.State), "not there"))
	case r.JobID == "":
		o.byLink++
		assert.Equal(s.t, p.link, r.PRLink, key)
	}
}

// addMessage adds a message. It waits only for a prompt or another message of its thread.
func (o *outcome) addMessage(s *siege, r database.Row, key string) {
	isThere := slices.Contains([]once.State{once.Pending, once.Sending, once.Unknown}, r.State)
	isSent := r.State == once.Running || r.State == once.Done
	if !isThere && (!isSent || s.svc.of(key) != 1) {
		o.lost = append(o.lost, key+" is "+cmp.Or(string(r.State), "not there"))
	}
	if r.IsStranded {
		o.stranded++
	}
}

// wasLeftOut reports whether the comment on a pull request was left out because its job is not known.
func (s *siege) wasLeftOut(p *pulled) bool {
	found, err := s.store.FindLeftOut(s.t.Context(), fmt.Sprintf("%s#%d", docsRepository, p.number))
	require.NoError(s.t, err)
	return slices.ContainsFunc(found, func(l database.LeftOut) bool {
		return l.Kind == "comment" && strings.Contains(l.Reason, "no job that a message could go to")
	})
}
