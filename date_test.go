package mintlify_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/test/kit"
)

func TestDayAndInstantAsText(t *testing.T) {
	zone := time.FixedZone("", -5*60*60)
	for want, date := range map[string]mintlify.Date{
		"":                         {},
		"2024-02-29":               mintlify.Day(2024, 2, 29),
		"2024-03-01":               mintlify.Day(2024, 2, 30), // as time.Date has it
		"0001-01-01":               mintlify.Day(1, 1, 1),
		"2024-01-15T15:30:00Z":     mintlify.Instant(time.Date(2024, 1, 15, 10, 30, 0, 0, zone)),
		"2024-01-15T15:30:00.007Z": mintlify.Instant(time.Date(2024, 1, 15, 10, 30, 0, 7999999, zone)),
	} {
		assert.Equal(t, want, date.String())
		assert.Equal(t, want == "", date.IsZero())

		text, err := date.MarshalText()
		require.NoError(t, err)
		assert.Equal(t, want, string(text))

		var read mintlify.Date
		require.NoError(t, read.UnmarshalText(text))
		assert.True(t, date == read, want)

		if want == "" {
			continue
		}
		parsed, err := mintlify.ParseDate(want)
		require.NoError(t, err)
		assert.True(t, date == parsed, want)
	}
}

func TestInstant(t *testing.T) {
	assert.True(t, mintlify.Instant(time.Time{}).IsZero())
	now := time.Now() // with a monotonic clock reading
	assert.True(t, mintlify.Instant(now) == mintlify.Instant(now.In(time.FixedZone("", -5*60*60))))
}

func TestParseDate(t *testing.T) {
	for text, want := range map[string]string{
		"2024-01-15T10:30:00-05:00":      "2024-01-15T15:30:00Z",
		"2024-01-15T10:30:00+0200":       "2024-01-15T08:30:00Z",
		"2024-01-15T10:30Z":              "2024-01-15T10:30:00Z",
		"2024-01-15T10:30:00.123456789Z": "2024-01-15T10:30:00.123Z",
	} {
		date, err := mintlify.ParseDate(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, date.String())
	}

	for _, text := range []string{
		"", "yesterday", "2024-1-5", "2024-02-30", "20240115", "2024-01-15T10:30:00", "15.01.2024", "2024-01-15 ",
		"9999-12-31T23:59:59-05:00", "0000-01-01T00:00:00+05:00", strings.Repeat("9", 1000),
	} {
		_, err := mintlify.ParseDate(text)
		kit.RequireArgumentError(t, err, "date")
		kit.AssertReadable(t, err)
		if text != "" {
			require.Error(t, new(mintlify.Date).UnmarshalText([]byte(text)), text)
		}
	}
}

func TestDateAsJSON(t *testing.T) {
	type report struct{ From, To mintlify.Date }
	encoded, err := json.Marshal(report{From: mintlify.Day(2024, 1, 1)})
	require.NoError(t, err)
	assert.Equal(t, `{"From":"2024-01-01","To":""}`, string(encoded))

	var read report
	require.NoError(t, json.Unmarshal(encoded, &read))
	assert.Equal(t, report{From: mintlify.Day(2024, 1, 1)}, read)

	_, err = json.Marshal(mintlify.Day(12345, 1, 1))
	require.ErrorIs(t, err, mintlify.ErrInvalidArgument)
}

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

// A time.Time overflows into valid years.
func TestDateAddDaysNeverWraps(t *testing.T) {
	client := kit.NewClient(t, kit.RespondWith(200, kit.EmptyPage))
	for _, start := range []mintlify.Date{
		mintlify.Day(2026, 3, 1), mintlify.Day(0, 1, 1), mintlify.Day(9999, 12, 31),
		mintlify.Instant(time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC)),
	} {
		for _, n := range []int{math.MaxInt, math.MinInt, math.MaxInt - 1, 1 << 54, 1<<57 + 1, -1 << 55, 4e6, -4e6, 213_503_982_334_601} {
			moved := start.AddDays(n)
			_, err := moved.MarshalText()
			require.ErrorIs(t, err, mintlify.ErrInvalidArgument, "%v, %d days", start, n)

			for _, back := range []int{-n, 1, -1, 4e6, -4e6} {
				_, err = client.Analytics.GetVisitorPage(t.Context(),
					mintlify.VisitorsParams{DateFrom: moved.AddDays(back)})
				kit.RequireArgumentError(t, err, "dateFrom")
			}
		}
	}
}
