package once_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
	"github.com/mintlify-community/mintlify-go/once/oncetest"
)

// outage is a way to the service whose responses take a second. From the tenth second on it is down for ten
// minutes: a gateway responds 503, but every tenth prompt reaches the service, and the response is a 504.
type outage struct {
	svc      *mintlifytest.Service
	began    time.Time
	getsWork bool
	// prompts is how many met the outage.
	prompts int
}

func (o *outage) isOn() bool {
	age := time.Since(o.began)
	return 10*time.Second <= age && age < 10*time.Second+10*time.Minute
}

func (o *outage) fails(r *http.Request) int {
	status := o.status(r)
	time.Sleep(time.Second)
	return status
}

// status returns the status with which a request fails, or 0.
func (o *outage) status(r *http.Request) int {
	switch {
	case !o.isOn(), o.getsWork && r.Method == http.MethodGet:
		return 0
	case r.Method == http.MethodGet:
		return http.StatusServiceUnavailable
	}

	o.prompts++
	if o.prompts%10 > 0 {
		return http.StatusServiceUnavailable
	}

	op := mintlify.OpCreateJob
	if strings.HasSuffix(r.URL.Path, "/message") {
		op = mintlify.OpSendMessage
	}
	o.svc.FailNext(op, 1, mintlifytest.Fault{Status: http.StatusGatewayTimeout, Acted: true})
	return 0
}

// client is the SDK's, with its own retries and polls.
func (o *outage) client() *mintlify.Client {
	way := mintlify.WithHTTPClient(&http.Client{Transport: &weather{o.svc, o.fails}})
	return o.svc.Client(mintlifytest.WithRealSchedule(), way)
}

// newOutage returns a world and an outage of its service.
func newOutage(t *testing.T, getsWork bool) (*world, *outage) {
	t.Helper()
	w := newWorld(t, oncetest.NewStore())
	w.svc.EnforceQuotas()
	return w, &outage{svc: w.svc, began: time.Now(), getsWork: getsWork}
}

// docs/performance.md has the figures.
func TestFiguresOfAnOutage(t *testing.T) {
	for name, test := range map[string]struct {
		getsWork bool
		unknown  int
	}{
		"everything":  {false, 1}, // the send in progress
		"POSTs alone": {true, 5},
	} {
		inBubble(t, name, func(t *testing.T) {
			w, o := newOutage(t, test.getsWork)
			addMany(w, 200)
			require.NoError(t, w.runner(o.client()).Resume(t.Context()))

			unknown := w.states()[once.Unknown]
			t.Logf("of 200 prompts %d are unknown, and %d have a job", unknown, len(w.svc.Jobs()))
			assert.Equal(t, test.unknown, unknown)
			assert.Equal(t, 200-unknown, w.states()[once.Done])

			jobs := map[string]int{}
			for _, request := range w.svc.Requests() {
				if request.Operation == mintlify.OpCreateJob && request.Acted {
					jobs[request.Prompt]++
				}
			}
			assert.GreaterOrEqual(t, len(jobs), 200-unknown)
			assert.Len(t, w.svc.Jobs(), len(jobs), "no prompt has two")
		})

		inBubble(t, name+", a loop around Create", func(t *testing.T) {
			_, o := newOutage(t, test.getsWork)
			client := o.client()
			unknown := 0
			for range 200 {
				_, err := client.Jobs.Create(t.Context(), mintlify.CreateJobParams{Prompt: "x"})
				if errors.Is(err, mintlify.ErrOutcomeUnknown) {
					unknown++
				}
			}
			t.Logf("of 200 prompts %d are unknown", unknown)
			assert.Equal(t, 190, unknown)
		})
	}
}

// 100 messages go to 20 jobs. A chat that is told how each ended is down, too, but posts every tenth.
func TestFiguresOfAnOutageOfMessagesAndReports(t *testing.T) {
	for name, test := range map[string]struct {
		getsWork       bool
		unknown, twice int
	}{
		"everything":  {false, 0, 0},
		"POSTs alone": {true, 5, 4},
	} {
		inBubble(t, name, func(t *testing.T) {
			w, o := newOutage(t, test.getsWork)
			calls := 0
			told := map[string]int{}
			tell := func(_ context.Context, r once.Record) error {
				time.Sleep(time.Second)
				if !o.isOn() {
					told[r.Prompt]++
					return nil
				}

				calls++
				if calls%10 == 0 {
					told[r.Prompt]++
				}
				return errors.New("the chat is down")
			}
			addMessages(w, 20, 100)
			require.NoError(t, w.runner(o.client(), once.WithReport(tell)).Resume(t.Context()))

			unknown := w.states()[once.Unknown]
			assert.Equal(t, test.unknown, unknown)
			assert.Len(t, told, 100, "none is never told")
			twice := -100
			for _, n := range told {
				twice += n
			}
			assert.InDelta(t, test.twice, twice, 2, "a report is tried again after a random time")
			t.Logf("of 100 messages %d are unknown, and of %d the result is told twice", unknown, twice)

			last := map[string]string{} // by path
			for _, request := range w.svc.Requests() {
				if request.Operation == mintlify.OpSendMessage && request.Acted {
					assert.Greater(t, request.Prompt, last[request.Path], "twice, or after a later message")
					last[request.Path] = request.Prompt
				}
			}
		})
	}
}

// addMessages adds messages to jobs that have ended, in turn.
func addMessages(w *world, jobs, messages int) {
	w.t.Helper()
	for i := range jobs {
		job := fmt.Sprint("job-", i)
		w.svc.AddJob(job, mintlifytest.JobStep{Status: mintlify.JobCompleted})
		first := once.Task{Key: job, Prompt: "x"}
		w.put(once.Record{Task: first, State: once.Done, JobID: job, Reported: once.Done})
	}
	for i := range messages {
		time.Sleep(time.Millisecond) // messages are sent in the order of their AddedAt
		prompt := fmt.Sprintf("message-%03d", i)
		w.add(once.Task{Key: prompt, Prompt: prompt, After: fmt.Sprint("job-", i%jobs)})
	}
}
