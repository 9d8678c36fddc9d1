package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/internal/test/contract"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// plants are texts that a report must not show, each of which could stand anywhere.
var plants = []string{
	"ann.planted@example.com", "mint_planted_key", "mint_plantedkey", "plantedbranch", "feature/planted", "plantedproject",
	"plantedjob", "planted words with spaces", "planted7digit", strings.Repeat("planted", 6), "<b>planted</b>",
	"planted|cell", "planted\nline", "`planted`",
}

var leakyHeaders = []string{
	"Server", "Location", "Retry-After", "Cf-Ray", "X-Request-Id", "X-Quota-Plantedproject", "X-Ratelimit-Mint-Planted-Key",
}

// leaky is the fake with plants in every field, name, value of an enum and header.
type leaky struct {
	svc http.Handler

	mu    sync.Mutex
	turn  int
	sent  map[string]bool
	names map[string]bool // of fields, and values of enums, that the report may show
}

func (l *leaky) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()

	recorded := httptest.NewRecorder()
	l.svc.ServeHTTP(recorded, r)
	var body any
	if json.Unmarshal(recorded.Body.Bytes(), &body) != nil {
		body = l.plant()
	}
	body = l.change("", body)
	l.note(body)

	header := w.Header()
	header.Set("Content-Type", "application/json; charset="+strings.ReplaceAll(l.plant(), "\n", ""))
	for _, name := range leakyHeaders {
		value := strings.ReplaceAll(l.plant(), "\n", "")
		header.Set(name, value)
		l.sent[value] = true
	}
	w.WriteHeader(recorded.Code)
	_ = json.NewEncoder(w).Encode(body)
}

// plant returns another text each time.
func (l *leaky) plant() string {
	l.turn++
	return plants[l.turn%len(plants)]
}

// change adds unknown fields to every object, and changes the values of enums and times.
func (l *leaky) change(name string, value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, v := range value {
			value[key] = l.change(key, v)
		}
		value[l.plant()] = l.plant()
		value["extraField"] = map[string]any{"plantedinner": l.plant(), l.plant(): []any{l.plant()}}
		l.names["extraField"] = true
		return value
	case []any:
		for i, v := range value {
			value[i] = l.change(name, v)
		}
		return value
	case float64:
		return value + 98765432
	}

	switch name {
	case "source", "resolutionStatus", "role", "createdAt", "lastSearchedAt", "previewUrl", "prLink":
		return l.plant()
	case "status":
		if l.turn%2 == 0 && value == "pending" {
			return l.plant()
		}
	}
	return value
}

// note keeps every text and every large number of what is sent.
func (l *leaky) note(value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, v := range value {
			l.sent[name] = true
			l.note(v)
		}
	case []any:
		for _, v := range value {
			l.note(v)
		}
	case string:
		l.sent[value] = true
		for _, line := range strings.Split(value, "\n") {
			l.sent[line] = true
		}
	case float64:
		l.sent[fmt.Sprintf("%.0f", value)] = true
	}
}

func TestTheReportHoldsNothingOfWhatWasSentButDeclaredWords(t *testing.T) {
	setVariable(t, "MINTLIFY_API_KEY", mintlifytest.APIKey)
	setVariable(t, "MINTLIFY_PROJECT_ID", "plantedproject")
	ownWords := session{service: mintlifytest.NewService()}.run(t).report + strings.Join(leakyHeaders, " ")

	flags := strings.ReplaceAll(everything, "planted", "plantedbranch") + " -timeout 10m -job-id plantedjob"
	service := &leaky{svc: newService(), sent: map[string]bool{}, names: map[string]bool{}}
	got := session{service: service, args: strings.Fields(flags)}.run(t)
	require.Equal(t, exitDiffers, got.code, got.stderr)

	for _, plant := range plants {
		assert.NotContains(t, got.report, plant)
	}
	assert.NotContains(t, strings.ToLower(got.report), "planted", "all plants have this in them")
	assert.NotContains(t, got.report, mintlifytest.APIKey)

	words := vocabulary{declared: map[string]bool{}}
	document, err := contract.LoadDocument()
	require.NoError(t, err)
	require.NoError(t, document.WalkSchemas(words.declare))
	for text := range service.sent {
		isOwn := strings.Contains(ownWords, text) || words.declared[text] || service.names[text]
		if len(text) > 2 && !isOwn {
			assert.NotContains(t, got.report, text)
		}
	}
	assert.Greater(t, len(service.sent), 200)

	// The scan is worth something only if the report speaks of the plants.
	assert.Contains(t, got.report, "unknown field `extraField` in `/visitors/*`")
	assert.Contains(t, got.report, "unknown field `?` in `/visitors/*`")
	assert.Contains(t, got.report, "`/feedback/*/source` has the new value `?`")
	assert.Contains(t, got.report, "`/searches/*/lastSearchedAt` breaks the rule `format`")
	assert.Contains(t, got.report, "X-Request-Id")
	assert.Contains(t, got.report, "a header whose name is not shown")
}

func TestOnlySingleWordsOfAtMost40LettersAreShown(t *testing.T) {
	words := vocabulary{
		declared: map[string]bool{"status": true},
		private:  []string{"mint_", "mint_Hush_key1234", "acmedocs", ""},
	}
	assert.NotContains(t, words.showHeader("X-Quota-Acmedocs"), "Acme")
	assert.NotContains(t, words.showHeader("X_Quota"), "X")
	assert.NotContains(t, words.showHeader("X-Quota-Hush-Key12"), "Hush", "a part of the key")
	assert.Equal(t, "X-Quota-2", words.showHeader("X-Quota-2"))
	shown := map[string]bool{
		"status":                true,
		"in_review":             true,
		"Reviewing":             true,
		strings.Repeat("a", 40): true,
		strings.Repeat("a", 41): false,
		"":                      false,
		"two words":             false,
		"v2":                    false,
		"a-b":                   false,
		"a/b":                   false,
		"a@b":                   false,
		"ü":                     false,
		"a|b":                   false,
		"word\n":                false,
		"mint_abc":              false,
		"MINT_ABC":              false,
		"hush":                  false,
		"acmedocs":              false,
		"AcmeDocs":              false,
		"acmedocs_status":       false,
		"docs":                  false,
	}
	for _, word := range slices.Sorted(maps.Keys(shown)) {
		want := ""
		if shown[word] {
			want = word
		}
		assert.Equal(t, want, words.show(word), word)
	}
}
