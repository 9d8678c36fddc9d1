package mintlify_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/kit"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// A service that is spread over machines may not find a job that it has just made.
func TestWaitOutlivesA404RightAfterCreate(t *testing.T) {
	const unknown = `{"error":"Job not found"}`
	for name, tc := range map[string]struct {
		created *http.Response
		found   time.Duration // after Create
		sibling string        // the project of the client that waits
		end     error
	}{
		"at once":    {created: kit.Response(201, kit.JobJSON), sibling: "proj"},
		"after 29 s": {created: kit.Response(201, kit.JobJSON), found: 29 * time.Second, sibling: "proj"},
		"after a minute": {
			created: kit.Response(201, kit.JobJSON), found: time.Minute, sibling: "proj",
			end: mintlify.ErrNotFound,
		},
		"another project's": {
			created: kit.Response(201, kit.JobJSON), found: time.Second, sibling: "other",
			end: mintlify.ErrNotFound,
		},
		"with an error": {created: kit.Response(201, `{"id":"job_1"}`), found: 29 * time.Second, sibling: "proj"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				client := kit.NewClient(t, kit.Transport(func(r *http.Request) (*http.Response, error) {
					switch {
					case r.Method == http.MethodPost:
						return tc.created, nil
					case time.Since(start) < tc.found:
						return kit.Response(404, unknown), nil
					}
					return kit.Response(200, `{"id":"job_1","status":"completed"}`), nil
				}))
				sibling, err := client.ForProject(tc.sibling)
				require.NoError(t, err)

				created, _ := kit.Create(t.Context(), client)
				require.NotNil(t, created)
				_, err = client.Jobs.Get(t.Context(), created.ID)
				assert.Equal(t, tc.found > 0, errors.Is(err, mintlify.ErrNotFound), "Get reports a 404 as it is")
				poll, err := sibling.Jobs.Poll(t.Context(), created.ID, 0)
				if tc.found > 0 && tc.sibling == "proj" {
					require.NoError(t, err)
					assert.Positive(t, poll.Next)
					assert.ErrorIs(t, poll.Err, mintlify.ErrNotFound)
				}

				job, err := sibling.Jobs.WaitUntilDone(t.Context(), created.ID)
				require.ErrorIs(t, err, tc.end)
				if tc.end != nil {
					assert.ErrorAs(t, err, new(*mintlify.APIError))
					assert.Nil(t, job)
				}
			})
		})
	}
}

func TestClientRemembersTheJobsOfTheLastHalfMinuteAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := mintlifytest.NewService()
		client := svc.Client()
		remembered := func() int {
			created := reflect.ValueOf(client).Elem().FieldByName("config").Elem().
				FieldByName("memory").FieldByName("created")
			return created.FieldByName("newer").Len() + created.FieldByName("older").Len()
		}

		for range 100 {
			_, err := kit.Create(t.Context(), client)
			require.NoError(t, err)
			time.Sleep(10 * time.Second)
		}
		assert.LessOrEqual(t, remembered(), 6)

		time.Sleep(time.Hour)
		var ids []string
		for range 10 {
			job, err := kit.Create(t.Context(), client)
			require.NoError(t, err)
			ids = append(ids, job.ID)
			time.Sleep(2 * time.Second)
		}
		svc.FailNext(mintlify.OpGetJob, 10, mintlifytest.Fault{Status: 404})
		for _, id := range ids {
			poll, err := client.Jobs.Poll(t.Context(), id, 0)
			require.NoError(t, err, "it remembers each job")
			assert.Error(t, poll.Err)
		}
	})
}

func TestWaitForAJobOfAnotherClientEndsOnA404(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		created, err := kit.Create(t.Context(), kit.NewClient(t, kit.RespondWith(201, kit.JobJSON)))
		require.NoError(t, err)

		_, err = kit.NewClient(t, kit.RespondWith(404, "")).Jobs.WaitUntilDone(t.Context(), created.ID)
		require.ErrorIs(t, err, mintlify.ErrNotFound)
		require.NotErrorAs(t, err, new(*mintlify.WaitError))
	})
}

// The service may respond with the key instead of an id.
func TestClientRemembersNoIDInClearText(t *testing.T) {
	const echo = `{"id":"` + kit.Key + `","status":"` + kit.Key + `"}`
	client := kit.NewClient(t, kit.RespondWith(200, echo), mintlify.WithLogger(slog.New(slog.DiscardHandler)))
	job, err := kit.Create(t.Context(), client)
	require.NoError(t, err)
	_, err = client.Jobs.Message(t.Context(), job.ID, mintlify.MessageParams{Prompt: "And the links"})
	require.NoError(t, err)
	_, err = client.Jobs.Poll(t.Context(), job.ID, 0)
	require.NoError(t, err)

	memory := reflect.ValueOf(client).Elem().FieldByName("config").Elem().FieldByName("memory")
	require.Equal(t, 1, memory.FieldByName("created").FieldByName("newer").Len())
	assert.NotContains(t, fmt.Sprintf("%+v", memory), kit.Key)
}

// A poll that began before a message may see the job at work for the prompt before.
func TestPollThatBeganBeforeAMessageSaysNothingOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const completed = `{"id":"job_1","status":"completed"}`
		polls := []*http.Response{
			kit.Response(200, kit.JobJSON), kit.Response(200, completed), kit.Response(200, completed),
		}
		var delay time.Duration
		client := kit.NewClient(t, kit.Transport(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPost {
				return kit.Response(200, completed), nil
			}
			next := polls[0]
			polls = polls[1:]
			time.Sleep(delay)
			return next, nil
		}))
		poll := func() mintlify.Poll {
			poll, err := client.Jobs.Poll(t.Context(), "job_1", 0)
			require.NoError(t, err)
			return poll
		}

		delay = 10 * time.Second
		slow := make(chan mintlify.Poll)
		go func() { slow <- poll() }()
		time.Sleep(5 * time.Second)
		_, err := kit.Message(t.Context(), client)
		require.NoError(t, err)
		assert.Equal(t, "active", (<-slow).Status)

		delay = 0
		assert.Positive(t, poll().Next, "completed is still the end of the prompt before")
		time.Sleep(25 * time.Second)
		assert.Zero(t, poll().Next)
	})
}

func TestClientRemembersAThousandWarnings(t *testing.T) {
	const remembered = 1000
	svc := mintlifytest.NewService()
	var records []slog.Record
	client := svc.Client(kit.LogRecords(&records))
	poll := func(i int) {
		id := strconv.Itoa(i)
		svc.AddJob(id, mintlifytest.JobStep{Status: "paused"})
		_, err := client.Jobs.Poll(t.Context(), id, 0)
		require.NoError(t, err)
	}

	for i := range remembered {
		poll(i)
	}
	poll(0)
	require.Len(t, kit.Logged(records, "unknown status"), remembered, "it remembers the first")

	poll(remembered)
	poll(0)
	assert.Len(t, kit.Logged(records, "unknown status"), remembered+2, "it has forgotten the first")
}
