package wire

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSalvageKeepsWhatIsWhole(t *testing.T) {
	for data, want := range map[string]string{
		``:                                 ``,
		`null`:                             ``,
		`"text"`:                           ``,
		`<html>`:                           ``,
		`{`:                                `{}`,
		`{"id"`:                            `{}`,
		`{"id":`:                           `{}`,
		`{"id":"job`:                       `{}`,
		`{"id":"job_1"`:                    `{"id":"job_1"}`,
		`{"id":"job_1",`:                   `{"id":"job_1"}`,
		`{"id":"job_1","st`:                `{"id":"job_1"}`,
		`{"a":{"b":[1,{"c":true},{"d":nul`: `{"a":{"b":[1,{"c":true},{}]}}`,
		`{"logs":["one","two","thr`:        `{"logs":["one","two"]}`,
		`{"a":1,"b":oops,"c":2}`:           `{"a":1}`,
		`{"a":"]}\"","b":[[],{}],"c":`:     `{"a":"]}\"","b":[[],{}]}`,
		`{"a":1} trailing`:                 `{"a":1}`,
		`{"a":1}{"b":2}`:                   `{"a":1}`,
		`[1,2`:                             `[1,2]`,
	} {
		assert.Equal(t, want, string(salvage([]byte(data))), data)
	}
}

func TestSalvageBoundsItsDepth(t *testing.T) {
	salvaged := salvage([]byte(`{"id":"j","x":` + strings.Repeat("[", 1<<20)))
	assert.True(t, json.Valid(salvaged))
	assert.Less(t, len(salvaged), 1000)
}

func TestCountsAreRoundedWithinTheirRange(t *testing.T) {
	var f filler
	for number, want := range map[float64]int64{
		12:                12,
		12.5:              13,
		-0.4:              0,
		1 << 62:           1 << 62,
		math.MinInt64 / 2: math.MinInt64 / 2,
	} {
		assert.Equal(t, want, f.round(number))
	}
	assert.NoError(t, f.err)

	for _, number := range []float64{1 << 63, -1e300} {
		var f filler
		assert.Zero(t, f.round(number))
		assert.ErrorContains(t, f.err, "count is not a number")
	}
}

func TestTimeIsReadInAnyUsualForm(t *testing.T) {
	want := time.Date(2026, 3, 1, 10, 30, 0, 0, time.UTC)
	for _, text := range []string{
		`"2026-03-01T10:30:00Z"`,
		`"2026-03-01T12:30:00+02:00"`,
		`"2026-03-01T10:30"`,
		`"2026-03-01 10:30:00"`,
		`"2026-03-01T12:30:00+0200"`,
	} {
		var read looseTime
		require.NoError(t, json.Unmarshal([]byte(text), &read))
		assert.Equal(t, want, read.Time, text)
	}

	for _, text := range []string{`null`, `7`, `""`, `"yesterday"`, `{}`, `"9999-12-31T23:59:59-14:00"`} {
		var read looseTime
		require.NoError(t, json.Unmarshal([]byte(text), &read))
		assert.True(t, read.IsZero(), text)
	}
}

func TestInvalidSaysWhatIsWrongInPlainWords(t *testing.T) {
	type page struct {
		Rows []struct {
			Path  string  `json:"path"`
			Human float64 `json:"human"`
		} `json:"rows"`
	}
	for data, want := range map[string]string{
		`{"rows":[{"human":"many"}]}`: "invalid JSON for a page: human: count is not a number",
		`{"rows":[{"path":[]}]}`:      "invalid JSON for a page: path: unexpected array",
		`[]`:                          "invalid JSON for a page: expected a JSON object",
		`{"rows":{}}`:                 "invalid JSON for a page: rows: expected a JSON array",
		`{"rows":`:                    "invalid JSON for a page: unexpected end of JSON input",
	} {
		err := Invalid("a page", json.Unmarshal([]byte(data), new(page)))
		assert.EqualError(t, err, want)
	}

	long := errors.New(strings.Repeat("9", 1<<20))
	assert.Less(t, len(Invalid("a page", long).Error()), 400)
}
