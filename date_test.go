package mintlify_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	mintlify "github.com/mintlify-community/mintlify-go"
)

func TestDayOfIsTheDayInTheTimesOwnLocation(t *testing.T) {
	late := time.Date(2026, 3, 1, 23, 30, 0, 0, time.FixedZone("", -5*3600)) // 2026-03-02 in UTC
	assert.Equal(t, mintlify.Day(2026, 3, 1), mintlify.DayOf(late))
	assert.Equal(t, mintlify.Day(2026, 3, 2), mintlify.DayOf(late.UTC()))
}

func TestDateTime(t *testing.T) {
	assert.Equal(t, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), mintlify.Day(2026, 3, 1).Time())
	instant := time.Date(2026, 3, 1, 12, 30, 0, 5e6, time.UTC)
	assert.Equal(t, instant, mintlify.Instant(instant).Time())
	assert.True(t, mintlify.Date{}.Time().IsZero())
}

func TestDateAddDays(t *testing.T) {
	assert.Equal(t, mintlify.Day(2024, 3, 1), mintlify.Day(2024, 2, 28).AddDays(2))
	assert.Equal(t, mintlify.Day(2023, 12, 31), mintlify.Day(2024, 1, 1).AddDays(-1))
	instant := time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC)
	assert.Equal(t, mintlify.Instant(instant.Add(24*time.Hour)), mintlify.Instant(instant).AddDays(1))
	assert.True(t, mintlify.Date{}.AddDays(7).IsZero())
}
