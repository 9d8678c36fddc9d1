package recording

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
)

func TestShapesOfTexts(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "empty",
		"How do I do that?":                    "text 32",
		"Acme-docs_7":                          "word of 0aA_- 16",
		"0a1b2c3d":                             "word of 0a 8",
		"jane@acme.example":                    "word of a.@ 32",
		"ünï":                                  "word of a? 4",
		"68d0000000000000000000ab":             "hex 24",
		"68D0000000000000000000AB":             "word of 0A 32",
		"01KRT2GZSKYPD8J86G9K64NY6P":           "ulid 26",
		"a5853512-6142-4185-8948-97793982243d": "uuid 36",
		"guides/topic":                         "word of a/ 16",
		"/guides/topic":                        "path 16",
		"https://acme.example/x?y=z":           "url 32",
		"2031-04-30":                           "day",
		"2031-04-30T13:02:11.417Z":             "time .000Z",
		"2031-04-30T13:02:11Z":                 "time Z",
		"2031-04-30 13:02:11.4-05":             "time _.0+00",
		"2031-04-30T13:02:11+0200":             "time +0000",
		"2031-04-30T13:02:11.417-02:00":        "time .000+00:00",
		"2031-04-30T13:02:11":                  "time without a zone",
		"2031-13-30T13:02:11Z":                 "word of 0A-: 32",
		strings.Repeat("x ", 512):              "text 1024",
		strings.Repeat("x ", 512) + "x":        "text 2048",
	} {
		assert.Equal(t, want, textShape(text), text)
	}
}

// shapeOf returns the shape of a body as the file has it.
func shapeOf(t *testing.T, status int, body string) string {
	t.Helper()
	shape := newShaper([][]byte{[]byte(body)}).body(status, []byte(body))
	text, err := json.Marshal(shape)
	require.NoError(t, err)
	return string(text)
}

func TestShapesOfBodies(t *testing.T) {
	for body, want := range map[string]string{
		``:                              `"no body"`,
		`{"a":`:                         `"broken JSON 8"`,
		`{} {}`:                         `"broken JSON 8"`,
		`Nobody knows Jane`:             `"plain text 32"`,
		`<html><h1>Please log in`:       `"HTML 32: please log"`,
		`null`:                          `null`,
		`{"a":0,"b":-0,"c":7,"d":12.0}`: `{"a":0,"b":0,"c":"integer","d":"fraction"}`,
		`{"a":1e3,"b":true,"c":null}`:   `{"a":"fraction","b":true,"c":null}`,
		`{"owner":"jane"}`:              `{"owner":"word of a 4"}`,
		`{"status":"in_progress","source":"v2","role":"a b"}`:        `{"role":"text 4","source":"word of 0a 2","status":"in_progress"}`,
		`{"status":"` + strings.Repeat("x", 25) + `"}`:               `{"status":"word of a 32"}`,
		`{"status":"mint_abc"}`:                                      `{"status":"word of a_ 8"}`,
		`{"mint_key":1,"a-b":1,"` + strings.Repeat("x", 41) + `":1}`: `{"?":"integer"}`,
		`{"logs":["one two","three four",""]}`:                       `{"logs":{"[]":3,"kinds":["text 8","text 16","empty"]}}`,
		`[]`:                                                         `{"[]":0}`,
	} {
		assert.Equal(t, want, shapeOf(t, 200, body), body)
	}

	assert.JSONEq(t, `{"error":"text 32: invalid project id","details":{"[]":1,"kinds":[{"message":"text 16: must"}]}}`,
		shapeOf(t, 400, `{"error":"Invalid project id: jane","details":[{"message":"Jane must"}]}`))
	assert.JSONEq(t, `{"error":"text 32"}`, shapeOf(t, 200, `{"error":"Invalid project id: jane"}`))
}

func TestAListHasTheRowsThatSaySomethingNewAndItsOrder(t *testing.T) {
	assert.JSONEq(t, `{"[]": 6,
		"kinds": [
			{"id": "word of a 1", "at": "time Z", "path": "path 2", "n": 0},
			{"id": "word of a 1", "at": "time Z", "path": "path 2", "n": "integer"},
			{"id": "word of a 1", "path": "path 2", "n": 0}
		],
		"order": {"at": "2.3 2.3 - 2.2 1.1 1.1", "id": "1 1 2 3 4 4", "path": "1 2 1 1 1 1", "=": "1 2 3 4 5 5"}
	}`, shapeOf(t, 200, `[
		{"id": "x", "at": "2031-04-30T13:02:11Z", "path": "/a", "n": 0},
		{"id": "x", "at": "2031-04-30T13:02:11Z", "path": "/b", "n": 7},
		{"id": "y", "path": "/a", "n": 0},
		{"id": "z", "at": "2031-04-30T00:00:00Z", "path": "/a", "n": 8},
		{"id": "w", "at": "2031-04-29T23:59:59Z", "path": "/a", "n": 8},
		{"id": "w", "at": "2031-04-29T23:59:59Z", "path": "/a", "n": 8}
	]`))
}

func TestHeadersWithAKnownFormAreShown(t *testing.T) {
	assert.Equal(t, map[string]string{
		"Content-Type": "application/json", "Server": "cloudflare", "Retry-After": "2417",
		"Ratelimit": "100;w=3600", "X-Ratelimit-Policy": "word of a 4", "Cf-Ray": "word of 0aA- 32", "?": "word of a 2",
	}, headers(http.Header{
		"Content-Type": {"application/json; charset=utf-8"}, "Server": {"cloudflare"}, "Retry-After": {"2417"},
		"Ratelimit": {"100;w=3600"}, "X-Ratelimit-Policy": {"jane"}, "Cf-Ray": {"9a1b2c3d4e5f6a7b-FRA"},
		"X-" + strings.Repeat("a", 39): {"xy"},
	}))
	assert.Equal(t, "word of 0a./ 16", headerShape("server", "nginx/1.25"))
	assert.Equal(t, "text 64", headerShape("retry-after", "Fri, 31 Dec 2031 23:59:59 GMT jane doe"))
}

func TestAnUnknownIDHasTheFormOfTheKnownOne(t *testing.T) {
	for _, id := range []string{"01KRT2GZSKYPD8J86G9K64NY6P", "a5853512-6142-4185-8948-97793982243d", unknownHex, "job_7"} {
		assert.NotEqual(t, id, unlike(id))
		assert.Equal(t, textShape(id), textShape(unlike(id)))
	}
	assert.Equal(t, unknownUUID, unlike("job"))
	assert.Equal(t, unknownUUID, unlike(""))
}

// leaky responds with bodies that are full of what no recording may hold.
type leaky struct {
	random *rand.Rand
	sent   map[string]bool // tokens of four characters and more
	shown  map[string]bool // those that may be shown: names of fields, and words at enums
}

var token = regexp.MustCompile(`[\p{L}\p{N}_]{4,}`)

func (l *leaky) note(text string) string {
	for _, found := range token.FindAllString(text, -1) {
		l.sent[found] = true
	}
	return text
}

func (l *leaky) letters(n int) string {
	text := ""
	for range n {
		text += string(rune('a' + l.random.IntN(26)))
	}
	return text
}

// secret returns a name, a key, an address, a number or the like.
func (l *leaky) secret() string {
	number := fmt.Sprint(1000 + l.random.IntN(1e9))
	secrets := []string{
		"mint_" + l.letters(12) + number, l.letters(7) + " " + l.letters(9), l.letters(5) + "@" + l.letters(6) + ".example",
		"https://" + l.letters(8) + ".example/" + l.letters(5) + "?q=" + number, number, "/" + l.letters(6) + "/" + l.letters(4),
		"20" + number[:2] + "-01-02T03:04:05." + number[:3] + "Z", strings.Repeat(l.letters(3)+" ", 40), "Ünïcode" + l.letters(5),
		l.letters(6) + "\n\x1b[31m" + l.letters(8), fmt.Sprintf("%024x", l.random.Uint64()), l.letters(30),
	}
	return l.note(secrets[l.random.IntN(len(secrets))])
}

func (l *leaky) value(name string, depth int) any {
	if slices.Contains(enums, name) && l.random.IntN(2) == 0 {
		shown := l.letters(10)
		l.shown[shown] = true
		return shown
	}

	switch l.random.IntN(7 + depth) {
	case 0:
		return json.Number(l.note(fmt.Sprint(1000 + l.random.IntN(1e9))))
	case 1:
		return json.Number(l.note(fmt.Sprint(1000+l.random.IntN(1e6))) + ".2517")
	case 2, 3:
		return l.object(depth + 1)
	case 4:
		list := []any{}
		for range l.random.IntN(5) {
			list = append(list, l.value(name, depth+1))
		}
		return list
	}
	return l.secret()
}

func (l *leaky) object(depth int) map[string]any {
	object := map[string]any{}
	names := append([]string{l.letters(9), l.secret(), "nextCursor"}, enums...)
	for _, name := range append(names, "id", "path", "error", "message", "visitors", "conversations", "timestamp") {
		if l.random.IntN(3) == 0 {
			object[name] = l.value(name, depth)
			if fieldName.MatchString(name) && !isKey(name) {
				l.shown[name] = true
			}
		}
	}
	return object
}

// RoundTrip implements [http.RoundTripper].
func (l *leaky) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	w.Header().Set("X-Request-Id", l.secret())
	w.Header().Set("Server", l.secret())
	w.Header().Set("Retry-After", l.secret()+"x")
	w.Header().Set("Content-Type", l.secret()+"/"+l.secret())
	w.Header().Set("X-"+l.letters(45), "x")
	w.WriteHeader([]int{200, 200, 201, 400, 401, 403, 404, 422, 500, 503}[l.random.IntN(10)])

	switch l.random.IntN(8) {
	case 0:
		_, _ = io.WriteString(w, l.secret()+" "+l.secret())
	case 1:
		_, _ = io.WriteString(w, "<!doctype html><title>"+l.secret())
	case 2:
		_, _ = io.WriteString(w, `{"`+l.secret())
	default:
		_ = json.NewEncoder(w).Encode(l.object(0))
	}
	resp := w.Result()
	resp.Request = r
	return resp, nil
}

func TestTheFileHoldsNothingOfWhatCameButFormsAndNames(t *testing.T) {
	ours := strings.ToLower(errorWords)
	for _, q := range append(readingRequests(Settings{JobID: "secretjob"}), writingRequests(everything)...) {
		ours += " " + q.label + " " + q.path
	}

	bodies := 0
	for seed := range uint64(12) {
		l := &leaky{random: rand.New(rand.NewPCG(seed, 7)), sent: map[string]bool{}, shown: map[string]bool{}}
		var terminal strings.Builder
		s := everything
		s.Transport = l
		s.Terminal = &terminal
		result, err := Record(t.Context(), s)
		require.NoError(t, err)
		text, err := json.Marshal(result.File)
		require.NoError(t, err)

		for _, e := range result.File.Exchanges {
			if e.Status != 0 {
				bodies++
			}
		}
		held := map[string]bool{}
		for _, found := range token.FindAllString(string(text)+result.Summary(), -1) {
			held[found] = true
		}
		for secret := range l.sent {
			isOurs := l.shown[secret] || slices.Contains(strings.Fields(ours), strings.ToLower(secret))
			assert.False(t, held[secret] && !isOurs, "the file holds %q", secret)
		}
		for _, secret := range []string{"secretkey", "secretproject", "secretjob", "secretprompt", "secretbranch"} {
			assert.NotContains(t, string(text), secret)
		}
		assert.Greater(t, len(l.sent), 100)
		assert.NotContains(t, terminal.String(), "\x1b")
	}
	assert.GreaterOrEqual(t, bodies, 200)
}

var everything = Settings{
	Key: "mint_secretkey_1", ProjectID: "secretproject1", JobID: "secretjob", Job: true, Prompt: "secretprompt",
	Message: true, Preview: "secretbranch", Update: true, Timeout: 1,
	Options: []mintlify.Option{mintlify.WithBaseURL("https://service.invalid")},
}

func TestTheTableHasAtMost30RequestsAndEachLabelOnce(t *testing.T) {
	reads := readingRequests(everything)
	assert.LessOrEqual(t, len(reads), 30)
	labels := map[string]bool{}
	for _, q := range reads {
		assert.Empty(t, q.method, q.label)
	}
	for _, q := range append(reads, writingRequests(everything)...) {
		assert.False(t, labels[q.label], q.label)
		labels[q.label] = true
		assert.Equal(t, q.method == http.MethodPost, q.leaves != "" && q.wait != nil && q.does != "", q.label)
	}
	assert.Len(t, everything.Writes(), 4)
}
