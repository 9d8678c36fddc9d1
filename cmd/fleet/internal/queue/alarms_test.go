//go:build unix

package queue

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/internal/sqldb"
	"github.com/mintlify-community/mintlify-go/once"
)

// alarmOf returns the state of the job that the row of a project names, and its id.
func alarmOf(t *testing.T, s Queue, project string) (id int64, state string) {
	t.Helper()
	require.NoError(t, s.QueryRowContext(t.Context(), `SELECT j.id, j.state FROM river_job j
JOIN fleet_projects q ON q.river = j.id WHERE q.project = $1`, project).Scan(&id, &state))
	return id, state
}

// TestWakeWaitsForTheRow: who wakes a project while its alarm is set anew moves the new one, and not the one that becomes
// void.
func TestWakeWaitsForTheRow(t *testing.T) {
	eachDatabase(t, func(t *testing.T, a, b Queue) {
		add(t, a, "p", 1)
		before, _ := alarmOf(t, a, "p")
		woken := make(chan error, 1)
		require.NoError(t, a.Transact(t.Context(), func(tx *sql.Tx) error {
			require.NoError(t, a.LockProjects(t.Context(), tx, "p"))
			go func() { woken <- b.WakeEach(context.WithoutCancel(t.Context()), database.SendsOf, "p") }()
			time.Sleep(50 * time.Millisecond) // long enough to read a row that is not locked
			return a.Start(t.Context(), tx, database.SendsOf("p"), time.Now().Add(time.Hour))
		}))
		require.NoError(t, <-woken)

		after, state := alarmOf(t, a, "p")
		assert.NotEqual(t, before, after)
		assert.Equal(t, "available", state)
	})
}

// TestAVoidJobDoesNothing, and leaves the alarm that has replaced it.
func TestAVoidJobDoesNothing(t *testing.T) {
	eachDatabase(t, func(t *testing.T, a, b Queue) {
		add(t, a, "p", 1)
		void, _ := alarmOf(t, a, "p")
		require.NoError(t, a.Transact(t.Context(), func(tx *sql.Tx) error {
			return a.Start(t.Context(), tx, database.SendsOf("p"), time.Time{})
		}))
		named, _ := alarmOf(t, a, "p")

		isVoid, err := b.IsVoid(t.Context(), database.SendsOf("p"), void)
		require.NoError(t, err)
		assert.True(t, isVoid)
		require.NoError(t, b.Postpone(t.Context(), database.SendsOf("p"), void, time.Hour))
		still, state := alarmOf(t, a, "p")
		assert.Equal(t, named, still)
		assert.Equal(t, "available", state)
	})
}

// TestLostAlarms are set again when a worker starts: River's tables may be those of another time.
func TestLostAlarms(t *testing.T) {
	eachDatabase(t, func(t *testing.T, a, b Queue) {
		keys := add(t, a, "p", 2)
		turn, err := a.admit(t.Context(), "p")
		require.NoError(t, err)
		_, err = claim(t.Context(), a, turn)
		require.NoError(t, err)
		require.Equal(t, keys[0], turn.key)
		require.NoError(t, sqldb.Exec(t.Context(), a.DB, []string{"DELETE FROM river_job"}))

		require.NoError(t, b.wakeLost(t.Context()))
		_, state := alarmOf(t, a, "p")
		assert.Equal(t, "available", state)
		n, err := sqldb.Number(t.Context(), a.DB, `SELECT count(*) FROM river_job j JOIN fleet_prompts p ON p.river = j.id
WHERE j.kind = 'fleet_follow'`)
		require.NoError(t, err)
		assert.EqualValues(t, 1, n)
	})
}

// TestAlarmsAreSetBeforeTheDanger: taking a turn sets the project's alarm to its end, and a claim sets that anew, and the
// follower's. A claim of a turn that is void fails.
func TestAlarmsAreSetBeforeTheDanger(t *testing.T) {
	eachDatabase(t, func(t *testing.T, a, b Queue) {
		add(t, a, "p", 1)
		first, _ := alarmOf(t, a, "p")
		turn, err := a.admit(t.Context(), "p")
		require.NoError(t, err)
		ofTurn, state := alarmOf(t, a, "p")
		assert.NotEqual(t, first, ofTurn)
		assert.Equal(t, "scheduled", state)

		n, err := b.VoidTurns(t.Context(), database.Choice{Project: "p"})
		require.NoError(t, err)
		assert.Zero(t, n)
		_, err = claim(t.Context(), a, turn)
		require.ErrorIs(t, err, database.ErrNoTurn)

		turn, err = a.admit(t.Context(), "p")
		require.NoError(t, err)
		ofTurn, _ = alarmOf(t, a, "p")
		record, err := claim(t.Context(), a, turn)
		require.NoError(t, err)
		ofClaim, _ := alarmOf(t, a, "p")
		assert.NotEqual(t, ofTurn, ofClaim)
		n, err = b.VoidTurns(t.Context(), database.Choice{Project: "p"})
		require.NoError(t, err)
		assert.EqualValues(t, 1, n, "it is being sent")

		record.State = once.Running
		record.Version++
		require.NoError(t, a.RecordsOfTurn(turn.id).Put(t.Context(), record))
		require.NoError(t, a.endTurn(t.Context(), turn, result{record: record, posted: true}))
		_, state = alarmOf(t, a, "p")
		assert.Equal(t, "available", state, "the end of the turn wakes")
	})
}

// TestAFrozenProcessKeepsNoProject: every transaction that locks a project's row, each in its way, has Postgres end it
// once it idles for 10 s.
func TestAFrozenProcessKeepsNoProject(t *testing.T) {
	ctx := t.Context()
	s := open(t, testPostgres.Database(t))
	keys := add(t, s, "p", 1)
	require.NoError(t, sqldb.Exec(ctx, s.DB, []string{`CREATE FUNCTION check_idle() RETURNS trigger AS $$ BEGIN
	IF current_setting('idle_in_transaction_session_timeout') <> '10s' THEN RAISE 'it may idle'; END IF;
	RETURN NEW; END $$ LANGUAGE plpgsql`,
		`CREATE TRIGGER idle BEFORE UPDATE ON fleet_projects FOR EACH ROW EXECUTE FUNCTION check_idle()`}))
	_, err := s.ExecContext(ctx, "UPDATE fleet_projects SET river = 0")
	require.ErrorContains(t, err, "it may idle")

	add(t, s, "p", 2)
	turn, err := s.admit(ctx, "p")
	require.NoError(t, err)
	record, err := claim(ctx, s, turn)
	require.NoError(t, err)
	require.NoError(t, s.endTurn(ctx, turn, asked(once.Pending, 503, time.Hour)))
	require.NoError(t, unclaim(ctx, s, record))

	require.NoError(t, s.WakeEach(ctx, database.SendsOf, "p"))
	alarm, _ := alarmOf(t, s, "p")
	require.NoError(t, s.Postpone(ctx, database.SendsOf("p"), alarm, time.Hour))
	require.NoError(t, s.Transact(ctx, func(tx *sql.Tx) error {
		return sqldb.Exec(ctx, tx, []string{"UPDATE fleet_projects SET paused_since = 1, stopped = 1"})
	}))
	require.NoError(t, s.endAsked(ctx, "p"))
	lifted, err := s.Resume(ctx, "p")
	require.NoError(t, err)
	assert.NotZero(t, lifted)
	_, err = s.Runner(nil).Cancel(ctx, keys[0])
	require.NoError(t, err)
}

// TestAPassStartsAJobToTell only if there is a result that nobody got.
func TestAPassStartsAJobToTell(t *testing.T) {
	s := open(t, "sqlite:"+filepath.Join(inMemory(t), "fleet.db"))
	keys := add(t, s, "p", 1)
	jobsAfterAPass := func() int64 {
		require.NoError(t, NewWorker(s, nil, nil).MakePass(t.Context()))
		n, err := sqldb.Number(t.Context(), s.DB, "SELECT count(*) FROM river_job WHERE kind = 'fleet_tell'")
		require.NoError(t, err)
		return n
	}

	assert.Zero(t, jobsAfterAPass())
	_, err := s.Runner(nil).Adopt(t.Context(), keys[0], "job_1")
	require.NoError(t, err)
	_, err = s.Runner(nil).MarkDone(t.Context(), keys[0], "")
	require.NoError(t, err)
	assert.EqualValues(t, 1, jobsAfterAPass())
	assert.EqualValues(t, 1, jobsAfterAPass(), "it is there")
}
