package exports_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// second returns another run on the rig's database, which asks a fake of its own.
func (r *rig) second(site visitors) *rig {
	other := newRig(r.t, site)
	other.db = r.db
	return other
}

// Two runs on one database: the second says who holds it, or waits. A run holds the database for as long as
// it waits for the quota.
func TestOneRunAtATime(t *testing.T) {
	onDay(t, time.March, 2, 0, site(600), func(t *testing.T, r *rig) {
		r.budget = 2
		r.wait = true
		ended := make(chan error)
		go func() { ended <- r.load(t.Context(), "2000-02-29") }()

		time.Sleep(10 * time.Minute) // it waits for the next hour

		other := r.second(site(600))
		var held *store.HeldError
		require.ErrorAs(t, other.load(t.Context(), "2000-02-29"), &held)
		assert.Contains(t, held.Error(), "another sync (process ")
		assert.WithinDuration(t, time.Now().Add(2*time.Minute), held.Until, time.Minute)

		other.wait = true
		other.budget = 1000
		require.NoError(t, other.load(t.Context(), "2000-02-29"))
		require.NoError(t, <-ended)
		assert.Contains(t, other.log[0], "Waiting: another sync (process ")
		assert.Len(t, r.asked(), 3)
		assert.Len(t, other.asked(), 3, "the day that may still change")
		r.requireWindows(site(600), days(day(time.February, 29), day(time.March, 2)))
	})
}

// A run that is killed holds the database for two minutes.
func TestARunAfterAKill(t *testing.T) {
	onDay(t, time.March, 2, 0, site(3), func(t *testing.T, r *rig) {
		killed, err := store.Open(t.Context(), r.db, store.Demo)
		require.NoError(t, err)
		require.NoError(t, killed.Take(t.Context()))
		killed.Close()

		var held *store.HeldError
		require.ErrorAs(t, r.load(t.Context(), "2000-02-29"), &held)
		assert.Empty(t, r.asked())

		time.Sleep(2 * time.Minute)
		require.NoError(t, r.load(t.Context(), "2000-02-29"))
	})
}

// stopping is a transport during whose requests something happens.
type stopping struct {
	http.RoundTripper
	do func(*http.Request)
}

func (s stopping) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := s.RoundTripper.RoundTrip(request)
	s.do(request)
	return response, err
}

// forget may delete what a run is loading: the run begins it anew.
func TestWhatIsForgottenMeanwhileIsLoadedAnew(t *testing.T) {
	onDay(t, time.March, 15, 2, site(3), func(t *testing.T, r *rig) {
		r.withLists(3)
		r.service.SetConversations([]mintlify.Conversation{{ID: "c", Timestamp: day(time.March, 1).Time(), Query: "q"}})
		r.texts = true
		r.budget = 1000

		forgotten := false
		r.transport = stopping{r.service, func(request *http.Request) {
			if forgotten || !strings.HasSuffix(request.URL.Path, "/assistant") {
				return
			}
			s, err := store.Open(t.Context(), r.db, store.AnySource)
			require.NoError(t, err)
			defer s.Close()
			_, err = s.ForgetTexts(t.Context(), store.AllProjects)
			require.NoError(t, err)
			forgotten = true
		}}
		require.NoError(t, r.load(t.Context(), "2000-02-14"))
		require.True(t, forgotten)
		assert.Empty(t, r.troubles())

		w := store.LastWeeks("docs", 4, day(time.March, 14))
		r.read(func(s *store.Store) {
			export, rows, err := store.List[mintlify.Conversation](t.Context(), s, w, store.Conversations)
			require.NoError(t, err)
			assert.Equal(t, store.Loaded, export.State)
			assert.Len(t, rows, 1)
		})
	})
}
