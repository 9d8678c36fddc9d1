package exports_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/exports"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// The 15th of November 2027 is a Monday.
func november(day, hour int) time.Time {
	return time.Date(2027, time.November, day, hour, 0, 0, 0, time.UTC)
}

func windowOf(span store.Span, on time.Time) store.Window {
	first := mintlify.DayOf(on)
	return store.Windows("docs", span, first, first.AddDays(40))[0]
}

func TestAWindowThatIsNotOverIsCalledSo(t *testing.T) {
	for name, tc := range map[string]struct {
		window store.Window
		now    time.Time
		want   string
	}{
		"a month": {
			window: windowOf(store.Month, november(1, 0)),
			now:    november(30, 23),
			want:   "November 2027 is not over: it ends on 30 November and is final on 2 December",
		},
		"a month that has ended": {
			window: windowOf(store.Month, november(1, 0)),
			now:    november(31, 0),
		},
		"a month to come": {
			window: windowOf(store.Month, november(31, 0)),
			now:    november(30, 23),
			want:   "December 2027 begins on 1 December",
		},
		"a week": {
			window: windowOf(store.Week, november(15, 0)),
			now:    november(15, 0),
			want:   "The week of 15 November is not over: it ends on 21 November and is final on 23 November",
		},
		"a week to come": {
			window: windowOf(store.Week, november(22, 0)),
			now:    november(21, 23),
			want:   "The week of 22 November begins on 22 November",
		},
		"a day": {
			window: windowOf(store.Day, november(15, 0)),
			now:    november(15, 12),
			want:   "15 November 2027 is not over: it ends on 15 November and is final on 17 November",
		},
		"four weeks": {
			window: store.LastWeeks("docs", 4, mintlify.DayOf(november(22, 0))),
			now:    november(21, 0),
			want: "The period from 25 October to 21 November is not over: " +
				"it ends on 21 November and is final on 23 November",
		},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, exports.NotOver(tc.window, tc.now)) })
	}
}

func TestAReportLacksTheWeekThatHasEnded(t *testing.T) {
	shown := store.LastWeeks("docs", 4, mintlify.DayOf(november(15, 0))) // ends before the 15th
	for name, tc := range map[string]struct {
		now           time.Time
		isOld, lacked bool
	}{
		"within the week":      {now: november(21, 23)},
		"the week has ended":   {now: november(22, 0), lacked: true},
		"within 48 hours":      {now: november(24, 0), lacked: true},
		"after 48 hours":       {now: november(24, 1), lacked: true, isOld: true},
		"two weeks have ended": {now: november(29, 1), lacked: true, isOld: true},
	} {
		t.Run(name, func(t *testing.T) {
			week, isOld, lacked := exports.MissingWeek(shown, tc.now)
			assert.Equal(t, tc.lacked, lacked)
			assert.Equal(t, tc.isOld, isOld)
			if lacked {
				assert.Equal(t, store.LastWeeks("docs", 1, mintlify.DayOf(tc.now)), week)
			}
		})
	}
}
