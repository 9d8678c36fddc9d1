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
		`[1,2`:                             `[1]`,
		`[1,2 `:                            `[1,2]`,
		`{"id":123`:                        `{}`,
		`{"id":"j","n":-4`:                 `{"id":"j"}`,
		`{"id":123,`:                       `{"id":123}`,
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
		`"2026-03-01 10:30"`,
		`"2026-03-01 10:30:00+00"`,
		`"2026-03-01T12:30:00+02"`,
		`"2026-03-01 12:30+02:00"`,
		`1772361000`,
		`1.772361e9`,
		`"1772361000"`,
		`1772361000000`,
		`"1772361000000"`,
	} {
		var read looseTime
		require.NoError(t, json.Unmarshal([]byte(text), &read))
		assert.Equal(t, want, read.Time, text)
	}

	for text, want := range map[string]int64{
		`1e9`:            1e12,
		`1772361000.125`: 1772361000125,
		`1e11`:           1e14,
		`1e12`:           1e12,
		`1e14`:           1e14,
	} {
		var read looseTime
		require.NoError(t, json.Unmarshal([]byte(text), &read))
		assert.Equal(t, want, read.UnixMilli(), text)
		assert.Equal(t, time.UTC, read.Location())
	}

	for _, text := range []string{
		`null`, `7`, `""`, `"yesterday"`, `{}`, `"9999-12-31T23:59:59-14:00"`, `999999999`, `100000000001`, `999999999999`,
		`100000000000001`, `-1772361000`, `1e400`, `"1.772361e9"`, `"NaN"`, `true`, `[1772361000]`,
	} {
		var read looseTime
		require.NoError(t, json.Unmarshal([]byte(text), &read))
		assert.True(t, read.IsZero(), text)
	}
}

type result struct {
	Total int64 `json:"total"`
	Rows  []struct {
		At     time.Time `json:"at"`
		Counts struct {
			Human int64 `json:"human"`
		} `json:"counts"`
		Rate    float64  `json:"rate"`
		Tags    []string `json:"tags"`
		Helpful *bool    `json:"helpful"`
	} `json:"rows"`
}

const good = `{"total":2.0,"more":1,"rows":[null,{"at":"2026-03-01","counts":{"human":1.5},"rate":0.5,"tags":["a"],
	"helpful":false}]}`

func TestDecodeTakesWhatTheServiceMaySend(t *testing.T) {
	var read result
	require.NoError(t, Decode([]byte(good), "a result", &read, "total", "rows"))
	assert.EqualValues(t, 2, read.Total)
	require.Len(t, read.Rows, 2)
	assert.Zero(t, read.Rows[0])
	row := read.Rows[1]
	assert.Equal(t, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), row.At)
	assert.EqualValues(t, 2, row.Counts.Human)
	assert.InDelta(t, 0.5, row.Rate, 0)
	assert.Equal(t, []string{"a"}, row.Tags)
	require.NotNil(t, row.Helpful)
	assert.False(t, *row.Helpful)

	for data, want := range map[string]string{
		`{"total":null,"rows":[]}`:                       "missing total",
		`{"total":0}`:                                    "missing rows",
		`{"total":0,"rows":null}`:                        "missing rows",
		`{"total":1e300,"rows":[]}`:                      "count is not a number of 64 bits",
		`{"total":0,"rows":[{"counts":{"human":"x"}}]}`:  "invalid JSON for a result: human: count is not a number",
		`{"total":"0","rows":[{"tags":[5]}]}`:            "invalid JSON for a result: tags: unexpected number",
		`{"total":0,"rows":[{"at":5,"counts":5}]}`:       "invalid JSON for a result: counts: unexpected number",
		`{"total":0,"rows":[{"at":5,"rate":1e400}]}`:     "invalid JSON for a result: rate: count is not a number",
		`{"total":0,"rows":[{"at":5}],"rows":[{"at":5}]`: "invalid JSON for a result: unexpected end of JSON input",
	} {
		assert.EqualError(t, Decode([]byte(data), "a result", new(result), "total", "rows"), want, data)
	}
}

func TestUnmarshalLeavesAFieldOfAnotherTypeAtZero(t *testing.T) {
	type job struct {
		ID    string    `json:"id"`
		Count int64     `json:"count"`
		At    time.Time `json:"at"`
		Logs  []string  `json:"logs"`
	}
	want := job{ID: "j", Logs: []string{"a", ""}}
	for _, data := range []string{
		`{"id":"j","count":1e300,"at":[],"logs":["a",5]}`,
		`{"id":"j","count":"5.","at":null,"logs":["a",{}]}`,
	} {
		read := job{Count: 7, At: time.Now()}
		require.NoError(t, Unmarshal([]byte(data), &read), data)
		assert.Equal(t, want, read, data)
	}

	read := job{ID: "before"}
	require.Error(t, Unmarshal([]byte(`[]`), &read))
	assert.Zero(t, read)
	require.ErrorContains(t, Recover([]byte(`{"id":"j","logs":["a","`), "a job", &read), "invalid JSON for a job")
	assert.Equal(t, job{ID: "j", Logs: []string{"a"}}, read)
}

func TestValuesOfAnotherTypeAreRead(t *testing.T) {
	type row struct {
		ID    string  `json:"statusId"`
		Name  string  `json:"name"`
		Count int64   `json:"count"`
		Rate  float64 `json:"rate"`
	}
	type page struct {
		OwnerID string `json:"owner"`
		Total   int64  `json:"total"`
		Rows    []row  `json:"rows"`
	}

	for data, want := range map[string]row{
		`{"count":"12"}`:                    {Count: 12},
		`{"COUNT":"0012","rate":"33"}`:      {Count: 12, Rate: 33},
		`{"count":"-3"}`:                    {Count: -3},
		`{"statusId":12345}`:                {ID: "12345"},
		`{"statusId":-7,"name":"<&>"}`:      {ID: "-7", Name: "<&>"},
		`{"statusId":123456789012345678}`:   {ID: "123456789012345678"},
		`{"statusId":0,"other":{"a":[{}]}}`: {ID: "0"},
	} {
		var read page
		require.NoError(t, Decode([]byte(`{"owner":9,"total":"1","rows":[`+data+`]}`), "a page", &read, "total", "rows"), data)
		assert.Equal(t, page{OwnerID: "9", Total: 1, Rows: []row{want}}, read, data)
	}

	for _, data := range []string{
		`{"count":" 12"}`, `{"count":"12.5"}`, `{"count":"1e3"}`, `{"count":"0x1"}`, `{"count":"many"}`, `{"count":""}`,
		`{"count":true}`, `{"count":"` + strings.Repeat("9", 400) + `"}`,
		`{"statusId":1e3}`, `{"statusId":1.0}`, `{"statusId":true}`, `{"statusId":[5]}`, `{"name":5}`,
	} {
		err := Decode([]byte(`{"total":1,"rows":[`+data+`]}`), "a page", new(page), "total", "rows")
		assert.ErrorContains(t, err, "invalid JSON for a page", data)
	}
}

func TestIsTruncated(t *testing.T) {
	const whole = `{"a":[1,"b",null]} `
	for i := 1; i < len(whole)-1; i++ {
		assert.True(t, IsTruncated([]byte(whole[:i])), whole[:i])
	}
	for _, data := range []string{whole, "", " ", "<html>", whole + "{", `{"a":}`, "12", "null"} {
		assert.False(t, IsTruncated([]byte(data)), data)
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
