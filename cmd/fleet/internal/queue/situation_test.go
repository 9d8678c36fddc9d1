//go:build unix

package queue

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mintlify-community/mintlify-go/once"
)

// TestDecide holds the rules of whose turn it is. The project's first prompt is "first".
func TestDecide(t *testing.T) {
	now := time.Now()
	pauseOf := func(project, source string, left time.Duration) Pause {
		return Pause{Project: project, Source: source, Since: now, Until: now.Add(left)}
	}
	over := func(project string) Pause {
		return Pause{Project: project, Source: ByBreaker, Since: now.Add(-time.Hour), Until: now.Add(-time.Minute)}
	}

	for _, c := range []struct {
		name   string
		change func(*situation)
		want   turn
	}{
		{name: "nothing stands in the way", want: turn{key: "first"}},
		{
			name:   "three POSTs of others",
			change: func(s *situation) { s.total = 3 },
			want:   turn{key: "first"},
		},
		{
			name:   "four POSTs of others",
			change: func(s *situation) { s.total = 4 },
			want:   turn{wait: time.Second},
		},
		{
			name:   "a POST of the project",
			change: func(s *situation) { s.mine, s.total = 1, 1 },
			want:   turn{wait: time.Second},
		},
		{
			name:   "canceled meanwhile",
			change: func(s *situation) { s.count, s.head = 0, "" },
			want:   turn{isOver: true},
		},
		{
			name:   "none of them may be sent yet",
			change: func(s *situation) { s.head = "" },
			want:   turn{wait: MaxWait},
		},
		{
			name:   "its only head waits for a job that is at work again",
			change: func(s *situation) { s.head, s.later = "", now.Add(20*time.Second) },
			want:   turn{wait: 20 * time.Second},
		},
		{
			name:   "the quota is used up",
			change: func(s *situation) { s.free = time.Minute },
			want:   turn{wait: time.Minute},
		},
		{
			name:   "no wait is longer than five minutes",
			change: func(s *situation) { s.free = time.Hour },
			want:   turn{wait: MaxWait},
		},
		{
			name:   "paused by a person",
			change: func(s *situation) { s.pauses = []Pause{pauseOf("project", ByPerson, time.Minute)} },
			want:   turn{wait: time.Minute},
		},
		{
			name: "the longest pause counts",
			change: func(s *situation) {
				s.pauses = []Pause{pauseOf("", ByPerson, time.Minute), pauseOf("project", byService, time.Second)}
			},
			want: turn{wait: time.Minute},
		},
		{
			name:   "another project is paused",
			change: func(s *situation) { s.pauses = []Pause{pauseOf("other", ByPerson, time.Minute)} },
			want:   turn{key: "first"},
		},
		{
			name:   "the breaker's pause is over",
			change: func(s *situation) { s.pauses = []Pause{over("project")} },
			want:   turn{key: "first"},
		},
		{
			name:   "the breaker's pause of all is over",
			change: func(s *situation) { s.pauses = []Pause{over("")} },
			want:   turn{key: "first", all: true},
		},
		{
			name:   "after a pause of all one POST at a time",
			change: func(s *situation) { s.pauses, s.total = []Pause{over("")}, 1 },
			want:   turn{all: true, wait: time.Second},
		},
		{
			name: "fewer POSTs while two other projects fail",
			change: func(s *situation) {
				s.pauses = []Pause{pauseOf("a", ByBreaker, time.Minute), pauseOf("b", ByBreaker, time.Minute)}
				s.total = 2
			},
			want: turn{wait: time.Second},
		},
		{
			name: "never none, however many fail",
			change: func(s *situation) {
				for _, project := range []string{"a", "b", "c", "d", "e"} {
					s.pauses = append(s.pauses, pauseOf(project, ByBreaker, time.Minute))
				}
			},
			want: turn{key: "first"},
		},
	} {
		s := situation{at: now, project: "project", queued: queued{count: 3, head: "first"}}
		if c.change != nil {
			c.change(&s)
		}
		c.want.project = "project"
		assert.Equal(t, c.want, s.decide(), c.name)
	}
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
		{"a message", following(posted(once.Running, 200, 1)), serviceWorks},
		{"a message that came back", following(posted(once.Pending, 429, time.Minute)), serviceAsksToWait},
		{"a job that is at work again", following(asked(once.Pending, 0, time.Minute)), saysNothing},
		{"asked for the job in vain: a login page", following(asked(once.Pending, 200, 30*time.Second)), serviceFails},
		{"asked for the job in vain", following(asked(once.Pending, 503, time.Minute)), serviceFails},
		{"asked for the job with a revoked key", following(asked(once.Pending, 401, time.Minute)), serviceAsksToWait},
		{"no request, a dead sender", asked(once.Unknown, 0, 0), saysNothing},
		{"no request, a lease that was over", asked(once.Pending, 0, 0), saysNothing},
		{"no request, running already", asked(once.Running, 0, time.Second), saysNothing},
	} {
		assert.Equal(t, c.want, c.verdict(), c.name)
	}
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
