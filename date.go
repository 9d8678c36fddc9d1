package mintlify

import (
	"fmt"
	"time"
)

// Date is a day or an instant. The zero Date is not sent.
// Dates can be compared with ==, and marshal to JSON as text.
type Date struct {
	at  time.Time // UTC, to the millisecond
	day bool
}

// Day returns a day, sent as YYYY-MM-DD. Values outside their usual ranges are normalized
// as by [time.Date]: day 0 is the last day of the month before. An export refuses a day before
// 1970: the year 26 is not 2026.
func Day(year int, month time.Month, day int) Date {
	return Date{time.Date(year, month, day, 0, 0, 0, 0, time.UTC), true}
}

// DayOf returns the day of t in t's own location.
func DayOf(t time.Time) Date { return Day(t.Date()) }

// Instant returns t as an instant, truncated to milliseconds and sent in UTC as
// 2006-01-02T15:04:05Z or 2006-01-02T15:04:05.000Z. The zero time is the zero Date.
func Instant(t time.Time) Date {
	return Date{at: t.UTC().Truncate(time.Millisecond)}
}

// ParseDate reads a day, YYYY-MM-DD, or an instant, ISO 8601 with Z or an offset, which it
// converts to Z. Anything else, such as an instant without a zone, is an [*ArgumentError].
func ParseDate(s string) (Date, error) {
	if day, err := time.Parse(time.DateOnly, s); err == nil {
		return Date{day, true}, nil
	}

	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07:00"} {
		instant, err := time.Parse(layout, s)
		if err != nil {
			continue
		}
		if date := Instant(instant); date.isValid() && !date.IsZero() {
			return date, nil
		}
	}

	reason := fmt.Sprintf("is %.40q, want YYYY-MM-DD, or an instant such as 2006-01-02T15:04:05Z", s)
	return Date{}, &ArgumentError{"date", reason}
}

// Time returns d in UTC: a day as its midnight, and the zero Date as the zero time.
func (d Date) Time() time.Time { return d.at }

// maxDays is more than any two dates are apart.
const maxDays = 10_000 * 366

// AddDays returns d moved by n days, which may be negative. The zero Date stays the zero
// Date. A date outside the years 0 to 9999, which is an [*ArgumentError] where it is used, stays as
// it is.
func (d Date) AddDays(n int) Date {
	if d.IsZero() || !d.isValid() {
		return d
	}

	n = max(-maxDays, min(n, maxDays)) // time.Time overflows into valid years
	return Date{d.at.AddDate(0, 0, n), d.day}
}

func (d Date) isValid() bool { return d.at.Year() >= 0 && d.at.Year() <= 9999 }

// isAncient reports whether d is a day before 1970: Day(26, 8, 1) probably means 2026. The clock of
// a testing/synctest bubble starts in 2000, so that days of 1999 occur.
func (d Date) isAncient() bool { return d.day && d.at.Year() < 1970 }

// IsZero reports whether d is the zero Date, which is not sent.
func (d Date) IsZero() bool { return d == Date{} }

// String returns d as it is sent, and "" for the zero Date.
func (d Date) String() string {
	switch {
	case d.IsZero():
		return ""
	case d.day:
		return d.at.Format(time.DateOnly)
	case d.at.Nanosecond() != 0:
		return d.at.Format("2006-01-02T15:04:05.000Z")
	}
	return d.at.Format("2006-01-02T15:04:05Z")
}

// MarshalText implements [encoding.TextMarshaler]. A date outside the years 0 to
// 9999 is an error.
func (d Date) MarshalText() ([]byte, error) {
	if !d.isValid() {
		return nil, &ArgumentError{"date", "is not in the years 0 to 9999"}
	}
	return []byte(d.String()), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler]. It reads what [ParseDate] reads;
// empty text is the zero Date.
func (d *Date) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*d = Date{}
		return nil
	}

	date, err := ParseDate(string(text))
	if err != nil {
		return err
	}
	*d = date
	return nil
}
