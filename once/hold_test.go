package once_test

import (
	"context"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
	"github.com/mintlify-community/mintlify-go/once/oncetest"
)

// picky is a slow way to the service. It responds to each prompt with the word bad by itself, without a
// job.
type picky struct {
	svc *mintlifytest.Service
	bad mintlifytest.Fault
}

func (p *picky) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(50*time.Millisecond + mathrand.N(1450*time.Millisecond))
	if r.Method != http.MethodPost {
		return p.svc.RoundTrip(r)
	}

	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	if !strings.Contains(string(body), "bad") {
		return p.svc.RoundTrip(r)
	}
	refused := respond(r, p.bad.Status, p.bad.Header)
	refused.Body = io.NopCloser(strings.NewReader(p.bad.Body))
	return refused, nil
}

// ways are the ways to work off a store: each returns once nothing is left to do, or ctx has ended.
var ways = map[string]func(ctx context.Context, t *testing.T, w *world, newRunner func() *once.Runner){
	"Run": func(ctx context.Context, _ *testing.T, _ *world, newRunner func() *once.Runner) {
		_ = newRunner().Run(ctx)
	},
	"two Runs": func(ctx context.Context, _ *testing.T, _ *world, newRunner func() *once.Runner) {
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() { _ = newRunner().Run(ctx) })
		}
		both.Wait()
	},
	"Resume": func(ctx context.Context, t *testing.T, _ *world, newRunner func() *once.Runner) {
		for range 5 { // as cron does
			_ = newRunner().Resume(ctx)
		}
	},
	"Step": func(ctx context.Context, t *testing.T, w *world, newRunner func() *once.Runner) {
		due := map[string]time.Time{}
		for ctx.Err() == nil {
			open, err := w.store.List(t.Context(), once.Pending, once.Sending, once.Running)
			require.NoError(t, err)
			for _, record := range open {
				if time.Now().Before(due[record.Key]) || ctx.Err() != nil {
					continue
				}
				step, _ := newRunner().Step(ctx, record.Key)
				due[record.Key] = time.Now().Add(step.Next)
			}
			time.Sleep(time.Second)
		}

		reporting, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_ = newRunner().Resume(reporting)
	},
}

// However many prompts the service refuses, each is told once, and the good ones beside them are sent.
func TestBadPromptsBesideGoodOnes(t *testing.T) {
	for name, bad := range map[string]mintlifytest.Fault{
		"400":        {Status: 400},
		"451":        {Status: 451},
		"Cloudflare": cloudflarePage,
	} {
		for way, work := range ways {
			for n := 1; n <= 3; n++ {
				inBubble(t, fmt.Sprintf("%s/%s/%d", name, way, n), func(t *testing.T) {
					w := newWorld(t, oncetest.NewStore())
					var mu sync.Mutex
					told := map[string]int{}
					newRunner := func() *once.Runner {
						client := w.svc.Client(mintlifytest.WithRealSchedule(),
							mintlify.WithHTTPClient(&http.Client{Transport: &picky{w.svc, bad}}))
						return w.runner(client, once.WithReport(func(_ context.Context, r once.Record) error {
							mu.Lock()
							defer mu.Unlock()
							if r.State == once.Refused {
								told[r.Key]++
							}
							return nil
						}))
					}

					for i := range n {
						w.add(once.Task{Key: fmt.Sprint("bad", i), Prompt: "bad"})
						w.add(once.Task{Key: fmt.Sprint("good", i), Prompt: "good"})
						w.add(once.Task{Key: fmt.Sprint("bad-comment", i), Prompt: "bad", After: fmt.Sprint("good", i)})
						w.add(once.Task{Key: fmt.Sprint("good-comment", i), Prompt: "good", After: fmt.Sprint("good", i)})
					}
					ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
					defer cancel()
					work(ctx, t, w, newRunner)

					assert.Equal(t, map[once.State]int{once.Done: 2 * n, once.Refused: 2 * n}, w.states())
					assert.Len(t, w.svc.Jobs(), n)
					assert.Len(t, told, 2*n)
					for key, times := range told {
						if way != "two Runs" { // which may both tell
							assert.Equal(t, 1, times, key)
						}
					}
				})
			}
		}
	}
}

// A prompt that gets a 402 or a 409 each time holds the project, but not for good.
func TestPromptThatFailsEachTimeLetsOthersPass(t *testing.T) {
	for _, status := range []int{402, 409} {
		for way, work := range ways {
			inBubble(t, fmt.Sprintf("%d/%s", status, way), func(t *testing.T) {
				w := newWorld(t, oncetest.NewStore())
				newRunner := func() *once.Runner {
					way := &picky{w.svc, mintlifytest.Fault{Status: status}}
					return w.runner(w.svc.Client(mintlifytest.WithRealSchedule(),
						mintlify.WithHTTPClient(&http.Client{Transport: way})))
				}

				w.add(once.Task{Key: "a-bad", Prompt: "bad"})
				addMany(w, 10)
				ctx, cancel := context.WithTimeout(t.Context(), 6*time.Hour)
				defer cancel()
				work(ctx, t, w, newRunner)
				assert.Equal(t, map[once.State]int{once.Done: 10, once.Pending: 1}, w.states())
			})
		}
	}
}

// A person hears of a project once, until what failed has succeeded.
func TestWithOnHold(t *testing.T) {
	asks := func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/preflight") }
	sends := func(r *http.Request) bool { return r.Method == http.MethodPost }
	for name, tc := range map[string]struct {
		status  int
		of      func(*http.Request) bool
		healthy int // after so many failed requests one succeeds
		want    int
	}{
		"a revoked key, asked":       {401, asks, 0, 1},
		"a revoked key, sent":        {401, sends, 0, 1},
		"credits":                    {402, sends, 0, 1},
		"a wrong project":            {404, sends, 0, 1},
		"a proxy":                    {407, asks, 0, 1},
		"an outage":                  {503, sends, 0, 0},
		"a quota":                    {429, sends, 0, 0},
		"another job may be at work": {409, sends, 0, 0},
		"credits that come and go":   {402, sends, 3, 6}, // for each prompt
		"a key that comes and goes":  {401, asks, 3, 2},  // for each minute in which the service is asked
	} {
		inWorld(t, func(t *testing.T, w *world) {
			var holds []once.Hold
			onHold := once.WithOnHold(func(ctx context.Context, hold once.Hold) {
				deadline, _ := ctx.Deadline()
				assert.LessOrEqual(t, time.Until(deadline), time.Minute)
				assert.Greater(t, time.Until(hold.Until), 4*time.Minute)
				holds = append(holds, hold)
			})

			failed := 0
			way := &weather{w.svc, func(r *http.Request) int {
				if !tc.of(r) {
					return 0
				}
				failed++
				if tc.healthy > 0 && failed%(tc.healthy+1) == 0 {
					return 0
				}
				return tc.status
			}}
			client := w.svc.Client(mintlifytest.WithRealSchedule(), mintlify.WithMaxRetries(0),
				mintlify.WithHTTPClient(&http.Client{Transport: way}))
			r := w.runner(client, onHold)
			for _, keys := range []string{"first", "second"} {
				for i := range 3 {
					w.add(once.Task{Key: fmt.Sprint(keys, i), Prompt: "x"})
				}
				w.runFor(r, 3*time.Hour)
			}

			assert.Len(t, holds, tc.want, name)
			for _, hold := range holds {
				assert.Equal(t, mintlifytest.ProjectID, hold.ProjectID)
				var response *mintlify.APIError
				require.ErrorAs(t, hold.Err, &response, name)
				assert.Equal(t, tc.status, response.StatusCode)
			}
		})
	}
}

// Do and Step tell, too, and wait for it.
func TestDoAndStepTellOfAHold(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var told []string
		onHold := once.WithOnHold(func(_ context.Context, hold once.Hold) {
			time.Sleep(10 * time.Second)
			told = append(told, hold.ProjectID)
		})
		revoked := &weather{w.svc, func(*http.Request) int { return 401 }}
		client := w.svc.Client(mintlifytest.WithRealSchedule(), mintlify.WithHTTPClient(&http.Client{Transport: revoked}))

		_, err := w.runner(client, onHold).Do(t.Context(), task)
		require.ErrorIs(t, err, mintlify.ErrUnauthorized)
		assert.Equal(t, []string{mintlifytest.ProjectID}, told)

		_, err = w.runner(client, onHold).Step(t.Context(), key)
		require.NoError(t, err)
		assert.Len(t, told, 2, "it is another Runner")
	})
}

// What a function of the caller's does wrong surfaces in Run, and does not stay in it for ever.
func TestPanicOfWithOnHoldSurfaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, oncetest.NewStore())
		w.add(task)
		revoked := &weather{w.svc, func(*http.Request) int { return 401 }}
		client := w.svc.Client(mintlifytest.WithRealSchedule(), mintlify.WithHTTPClient(&http.Client{Transport: revoked}))
		r := w.runner(client, once.WithOnHold(func(context.Context, once.Hold) { panic("no chat") }))
		assert.PanicsWithValue(t, "no chat", func() { _ = r.Run(t.Context()) })
	})
}

// A poll that succeeds shows that the key is mended: what fails next is news.
func TestHoldAfterAKeyThatPollsShowIsMended(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.svc.SetJobTime(12 * time.Hour)
		var told []int
		onHold := once.WithOnHold(func(_ context.Context, hold once.Hold) {
			var response *mintlify.APIError
			require.ErrorAs(t, hold.Err, &response)
			told = append(told, response.StatusCode)
		})

		began := time.Now()
		way := &weather{w.svc, func(r *http.Request) int {
			switch since := time.Since(began); {
			case since > 10*time.Minute && since < 12*time.Minute:
				return 401
			case since > 12*time.Minute && r.Method == http.MethodPost:
				return 402
			}
			return 0
		}}
		client := w.svc.Client(mintlifytest.WithRealSchedule(), mintlify.WithMaxRetries(0),
			mintlify.WithHTTPClient(&http.Client{Transport: way}))
		r := w.runner(client, onHold)
		addMany(w, 5)
		go func() {
			time.Sleep(11 * time.Minute)
			w.add(once.Task{Key: "later", Prompt: "x"})
		}()
		w.runFor(r, 3*time.Hour)
		assert.Equal(t, []int{401, 402}, told)
	})
}
