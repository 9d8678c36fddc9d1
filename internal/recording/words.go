package recording

import (
	_ "embed"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Fields are the names of the fields in api/openapi.yaml, which nobody has to read before posting a
// recording. A test compares them with it.
//
//go:embed fields.txt
var Fields string

// errorWords are the words that a shape shows of a text if the response is an error. Together they
// tell one refusal from another, and no word of them names anybody.
//
//go:embed errorwords.txt
var errorWords string

var word = regexp.MustCompile(`[A-Za-z]+`)

// sayings returns the error words of a text, each once, with a colon before them; "" if there are none.
func sayings(text string) string {
	shown := strings.Fields(errorWords)
	said := ""
	for _, w := range word.FindAllString(strings.ToLower(text), -1) {
		if slices.Contains(shown, w) {
			shown = slices.DeleteFunc(shown, func(other string) bool { return other == w })
			said += " " + w
		}
	}

	if said == "" {
		return ""
	}
	return ":" + said
}

var (
	fieldName  = regexp.MustCompile(`^[A-Za-z_]{1,40}$`)
	headerName = regexp.MustCompile(`^[A-Za-z0-9-]{1,40}$`)
	enumValue  = regexp.MustCompile(`^[A-Za-z_]{1,24}$`)
	quotaName  = regexp.MustCompile(`^(retry-after|x-ratelimit-.*|ratelimit.*)$`)
	quotaValue = regexp.MustCompile(`^[0-9rtqw=;, ]{1,100}$`)
)

// knownValues are the values that are shown of a header.
var knownValues = map[string][]string{
	"content-type": {"application/json", "application/problem+json", "text/html", "text/plain"},
	"server":       {"cloudflare", "vercel", "nginx", "Google Frontend", "awselb/2.0", "envoy"},
}

// enums are the fields whose values are words of the service, and shown.
var enums = []string{"status", "source", "role", "responseType", "resolutionStatus"}

// unshown stands for a name that a recording does not show.
const unshown = "?"

// shownName returns the name of a field, or unshown.
func shownName(name string, allowed *regexp.Regexp) string {
	if !allowed.MatchString(name) || isKey(name) {
		return unshown
	}
	return name
}

// isKey reports whether a word may be a key.
func isKey(word string) bool {
	return strings.Contains(strings.ReplaceAll(strings.ToLower(word), "-", "_"), "mint_")
}

// headers returns the shapes of a response's headers.
func headers(header http.Header) map[string]string {
	shapes := map[string]string{}
	for name, values := range header {
		if len(values) > 0 {
			shapes[shownName(name, headerName)] = headerShape(strings.ToLower(name), values[0])
		}
	}
	return shapes
}

// headerShape returns the value of a header that says what responded, or when to call again, if it has
// one of the usual forms. Of all other headers it returns the shape.
func headerShape(name, value string) string {
	isQuota := quotaName.MatchString(name) && quotaValue.MatchString(value)
	if name == "content-type" {
		value, _, _ = strings.Cut(value, ";") // the charset
	}
	if isQuota || slices.Contains(knownValues[name], value) {
		return value
	}
	return textShape(value)
}
