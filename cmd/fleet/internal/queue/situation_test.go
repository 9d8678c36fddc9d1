//go:build unix

package queue

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/once"
)

// TestHold: what keeps the next prompt of a project from being sent, and until when.
func TestHold(t *testing.T) {
	now := time.Now()
	in := now.Add
	for _, c := range []struct {
		name   string
		change func(*situation)
		again  time.Time // zero: nothing
	}{
		{"nothing", func(*situation) {}, time.Time{}},
		{"a turn of the project", func(s *situation) { s.own.turnUntil = in(time.Minute) }, in(time.Minute)},
		{"a turn that has passed", func(s *situation) { s.own.turnUntil = now }, time.Time{}},
		{"none may be sent", func(s *situation) { s.head = "" }, forever},
		{"a job is at work again", func(s *situation) { s.head, s.later = "", in(time.Minute) }, in(time.Minute)},
		{"a stopped repository", func(s *situation) { s.head, s.held = "", 1 }, forever},
		{"the quota", func(s *situation) { s.free = in(time.Hour) }, in(time.Hour)},
		{"a person", func(s *situation) { s.own.Stopped = now }, forever},
		{"a person has stopped all", func(s *situation) { s.all.Stopped = now }, forever},
		{"a pause", func(s *situation) { s.own.PausedUntil = in(time.Minute) }, in(time.Minute)},
		{
			"the longer pause",
			func(s *situation) { s.own.PausedUntil, s.all.PausedUntil = in(time.Minute), in(time.Hour) },
			in(time.Hour),
		},
		{"a pause that is over", func(s *situation) { s.own.PausedUntil, s.own.Strikes = now, 3 }, time.Time{}},
		{"two strikes of all", func(s *situation) { s.all.Strikes, s.own.Strikes = 2, 1 }, time.Time{}},
		{"it may try", func(s *situation) { s.all.Strikes, s.all.PausedUntil = 3, now }, time.Time{}},
		{
			"others try first",
			func(s *situation) { s.all.Strikes, s.all.PausedUntil, s.own.Strikes = 3, now, 1 }, in(failedTry),
		},
		{
			"another tries",
			func(s *situation) { s.all.Strikes, s.all.turnUntil = 3, in(time.Minute) }, in(time.Minute),
		},
	} {
		s := situation{own: Project{Name: "p", Now: now}, all: Project{Now: now}, head: "first"}
		c.change(&s)
		assert.Equal(t, c.again, s.hold().again, c.name)

		isByClock := slices.Contains([]string{"the quota", "a pause", "the longer pause"}, c.name)
		assert.Equal(t, isByClock, !s.hold().until.IsZero(), "%s: the clock alone ends it", c.name)
	}

	for _, cause := range []string{CauseKey, CauseProject, CauseCredits} {
		s := situation{own: Project{Now: now, pause: pause{PausedUntil: in(time.Minute), Cause: cause}}}
		assert.Zero(t, s.hold().until, "a person ends it")
	}
}

// TestWhenTheQueueIsEmpty: the quota decides.
func TestWhenTheQueueIsEmpty(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	places := []time.Time{now, now, now.Add(20 * time.Minute), now.Add(40 * time.Minute)}
	for _, c := range []struct {
		name  string
		n     int
		start time.Time
		want  time.Time
	}{
		{"places are free", 2, now, now.Add(2 * sendingTime)},
		{"a place gets free", 3, now, now.Add(20 * time.Minute)},
		{"the whole quota", 4, now, now.Add(40 * time.Minute)},
		{"the next hour", 5, now, now.Add(time.Hour)},
		{"in ten hours", 43, now, now.Add(10*time.Hour + 20*time.Minute)},
		{"after a pause", 1, now.Add(30 * time.Minute), now.Add(30*time.Minute + sendingTime)},
		{"a pause and the quota", 5, now.Add(30 * time.Minute), now.Add(90 * time.Minute)},
	} {
		assert.Equal(t, c.want, lastOf(c.n, places, time.Hour, c.start), c.name)
	}
}

// TestEmptyAfterTheTurn: what is in doubt holds up the queue until its turn is over.
func TestEmptyAfterTheTurn(t *testing.T) {
	now := time.Now()
	p := newStatus("p")
	p.Counts["queued"] = 1
	own := Project{Now: now, turnUntil: now.Add(50 * time.Second)}
	p.noteHold(situation{own: own, queued: queued{count: 1, Ready: 1}}, []time.Time{now}, time.Hour)
	assert.Equal(t, own.turnUntil.Add(sendingTime).UTC(), p.EmptyAbout)
}

// TestPausesOfAProject: asking in vain pauses for the same time again and again, failed sends for twice as long each
// time, and neither counts once the service has worked, or long after.
func TestPausesOfAProject(t *testing.T) {
	q := Queue{Settings: Production}
	p := Project{Name: "p", Now: time.Now()}
	length := func(r result) time.Duration {
		p.pause = q.afterTurn(p, r)
		length := p.PausedUntil.Sub(p.PausedSince)
		p.Now = p.PausedUntil.Add(time.Second)
		return length
	}
	inVain := asked(once.Pending, 503, 30*time.Second)
	lost := posted(once.Unknown, 503, 0)

	began := p.Now
	assert.Equal(t, time.Minute, length(inVain))
	assert.Equal(t, time.Minute, length(inVain))
	assert.True(t, p.asked)
	assert.Zero(t, p.Strikes)
	assert.Equal(t, time.Minute, length(lost))
	assert.False(t, p.asked)
	assert.Equal(t, time.Minute, length(inVain))
	assert.Equal(t, 2*time.Minute, length(lost))
	assert.Equal(t, 4*time.Minute, length(lost))
	assert.Equal(t, 5*time.Minute, length(asked(once.Pending, 401, 5*time.Minute)))
	assert.Equal(t, byService, p.Source)
	assert.Equal(t, CauseKey, p.Cause)
	assert.Equal(t, 8*time.Minute, length(lost))
	assert.Equal(t, began, p.Began)
	p.Now = p.Now.Add(9 * time.Minute)
	assert.Equal(t, 16*time.Minute, length(lost))
	p.Now = p.Now.Add(41 * time.Minute)
	assert.Equal(t, time.Minute, length(lost), "long after the last one")
	assert.NotEqual(t, began, p.Began)

	for _, r := range []result{inVain, lost} {
		r.asksFor = time.Hour
		assert.Equal(t, time.Hour, length(r), "the service asks for it")
		assert.False(t, p.asked, "no poll ends that")
	}

	p.pause = q.afterTurn(p, posted(once.Running, 201, 1))
	assert.Equal(t, pause{}, p.pause)
}

// TestPauseOfAll: three failures, each of another project than the one before, pause all. Then one turn tries.
func TestPauseOfAll(t *testing.T) {
	q := Queue{Settings: Production}
	all := Project{Now: time.Now()}
	inVain := asked(once.Pending, 503, 30*time.Second)
	lost := posted(once.Unknown, 503, 0)
	works := posted(once.Running, 201, 1)
	after := func(project string, isTry bool, r result) {
		all.pause = q.allAfterTurn(all, turn{project: project, all: isTry}, r)
	}
	length := func() time.Duration { return all.PausedUntil.Sub(all.PausedSince) }

	for _, project := range []string{"a", "a", "b", "b"} {
		after(project, false, lost)
	}
	assert.Equal(t, 2, all.Strikes)
	assert.False(t, all.IsPaused())
	after("a", false, inVain)
	assert.Equal(t, time.Minute, length())
	assert.True(t, all.asked)

	before := all.pause
	for _, project := range []string{"c", "d", "e"} {
		after(project, false, lost)
	}
	after("f", true, asked(once.Pending, 401, 5*time.Minute))
	assert.Equal(t, before, all.pause, "their turns began before, or say nothing of the service")

	all.Now = all.PausedUntil
	after("a", true, inVain)
	assert.Equal(t, time.Minute, length())
	after("b", true, lost)
	assert.Equal(t, 2*time.Minute, length())
	assert.False(t, all.asked)
	after("b", true, inVain)
	assert.Equal(t, time.Minute, length())
	after("c", true, lost)
	assert.Equal(t, 4*time.Minute, length())
	after("c", false, works)
	assert.Equal(t, pause{}, all.pause)

	after("a", false, lost)
	after("b", false, lost)
	all.Now = all.Now.Add(41 * time.Minute)
	after("c", false, lost)
	assert.Equal(t, 1, all.Strikes, "long after the last one")
}

// TestPauseAfter doubles, however often the service has failed and however long the first pause is.
func TestPauseAfter(t *testing.T) {
	production := Production
	long := Settings{PauseMin: 24 * time.Hour, PauseMax: 24 * time.Hour}
	for _, c := range []struct {
		settings Settings
		strikes  int
		want     time.Duration
	}{
		{production, 0, time.Minute},
		{production, 1, 2 * time.Minute},
		{production, 4, 16 * time.Minute},
		{production, 5, 30 * time.Minute},
		{production, 1000, 30 * time.Minute},
		{long, 0, 24 * time.Hour},
		{long, 17, 24 * time.Hour},
		{long, 1000, 24 * time.Hour},
	} {
		assert.Equal(t, c.want, c.settings.pauseAfter(c.strikes), "%v after %d", c.settings.PauseMin, c.strikes)
	}
}

// TestVerdict: what a turn says about the service.
func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		name string
		result
		want verdict
	}{
		{"a job", posted(once.Running, 201, 1), serviceWorks},
		{"a prompt that it refuses", posted(once.Refused, 400, 0), serviceWorks},
		{"a failure on the way back", posted(once.Unknown, 504, 0), serviceFails},
		{"no response", posted(once.Unknown, noResponse, 0), serviceFails},
		{"no connection for the POST", posted(once.Pending, noResponse, 30*time.Second), serviceFails},
		{"credits", posted(once.Pending, 402, 5*time.Minute), serviceFails},
		{"a quota", posted(once.Pending, 429, 30*time.Second), serviceAsksToWait},
		{"a revoked key", posted(once.Pending, 401, 5*time.Minute), serviceAsksToWait},
		{"asked in vain: down", asked(once.Pending, 503, 30*time.Second), serviceFails},
		{"asked in vain: no response", asked(once.Pending, noResponse, 30*time.Second), serviceFails},
		{"asked in vain: no response in time", asked("", noResponse, 0), serviceFails},
		{"asked in vain: credits", asked(once.Pending, 402, 5*time.Minute), serviceFails},
		{"asked in vain: a login page", asked(once.Pending, 302, 30*time.Second), serviceFails},
		{"asked in vain: a revoked key", asked(once.Pending, 401, 5*time.Minute), serviceAsksToWait},
		{"asked in vain: a quota", asked(once.Pending, 429, 30*time.Second), serviceAsksToWait},
		{"asked in vain: a timeout", asked(once.Pending, 408, 30*time.Second), serviceFails},
		{"asked in vain: a proxy's password", asked(once.Pending, 407, 5*time.Minute), serviceAsksToWait},
		{"a message", following(posted(once.Running, 200, 1)), serviceWorks},
		{"a message that came back", following(posted(once.Pending, 429, time.Minute)), serviceAsksToWait},
		{"a job that is at work again", following(asked(once.Pending, 0, time.Minute)), saysNothing},
		{"asked for the job in vain: a login page", following(asked(once.Pending, 200, 30*time.Second)), serviceFails},
		{"asked for the job in vain", following(asked(once.Pending, 503, time.Minute)), serviceFails},
		{"asked for the job with a revoked key", following(asked(once.Pending, 401, time.Minute)), serviceAsksToWait},
		{"asked, and stopped by this process", asked(once.Pending, 0, 5*time.Second), saysNothing},
		{"no request, a dead sender", asked(once.Unknown, 0, 0), saysNothing},
		{"no request, a lease that was over", asked(once.Pending, 0, 0), saysNothing},
		{"no request, running already", asked(once.Running, 0, time.Second), saysNothing},
	} {
		assert.Equal(t, c.want, c.verdict(), c.name)
	}
}

// TestCause: what a person has to mend.
func TestCause(t *testing.T) {
	for code, want := range map[int]string{
		401: CauseKey, 403: CauseKey, 407: CauseKey, 511: CauseKey, 404: CauseProject, 409: CauseProject,
		402: CauseCredits, 429: CauseQuota, 408: CauseOutage, 503: CauseOutage, noResponse: CauseOutage,
	} {
		assert.Equal(t, want, result{status: code}.cause(), code)
	}
}

// TestJobTime: River rescues neither a message of results, however short a send is, nor a send that stores.
func TestJobTime(t *testing.T) {
	assert.Greater(t, (&teller{}).Timeout(nil), 20*TellTime, "of each result in a message")
	assert.Greater(t, Production.jobTime(), Production.lease()+Production.SendTime+database.StoreTime)
	assert.Less(t, time.Until(retryPolicy{}.NextRetry(nil)), 20*time.Second)
}

// posted is the result of a turn in which the prompt was sent.
func posted(state once.State, status int, wait time.Duration) result {
	return result{record: once.Record{State: state}, status: status, posted: true, wait: wait}
}

// asked is the result of a turn in which the service was only asked.
func asked(state once.State, status int, wait time.Duration) result {
	return result{record: once.Record{State: state}, status: status, wait: wait}
}

// following is the result of a follow-up.
func following(r result) result {
	r.record.After = "before"
	return r
}
