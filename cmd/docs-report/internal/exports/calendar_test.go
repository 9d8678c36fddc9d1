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

func TestAReportLacksTheWeekThatHasEnded(t *testing.T) {
	shown := store.LastWeeks("docs", 4, mintlify.DayOf(november(15, 0))) // ends before the 15th
	for name, tc := range map[string]struct {
		now, synced   time.Time
		isOld, lacked bool
	}{
		"within the week":               {now: november(21, 23)},
		"the week has ended":            {now: november(22, 0), synced: november(20, 0), lacked: true},
		"no sync in 48 hours":           {now: november(22, 0), synced: november(19, 23), lacked: true, isOld: true},
		"within 48 hours":               {now: november(24, 0), synced: november(24, 0), lacked: true},
		"after 48 hours, though nights": {now: november(24, 1), synced: november(24, 0), lacked: true, isOld: true},
		"two weeks have ended":          {now: november(29, 1), synced: november(29, 0), lacked: true, isOld: true},
	} {
		t.Run(name, func(t *testing.T) {
			weeks, isOld, lacked := exports.MissingWeeks(shown, tc.synced, tc.now)
			assert.Equal(t, tc.lacked, lacked)
			assert.Equal(t, tc.isOld, isOld)
			if lacked {
				assert.Equal(t, shown.To, weeks.From)
				assert.Equal(t, store.LastWeeks("docs", 1, mintlify.DayOf(tc.now)).To, weeks.To)
			}
		})
	}
}
