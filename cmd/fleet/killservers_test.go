//go:build unix

package main

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
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
