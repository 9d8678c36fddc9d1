package mintlify

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mintlify-community/mintlify-go/internal/transport"
)

// argument is a value from the caller, with the name that the caller knows.
type argument struct {
	name        string
	value       string
	missing     string // the reason if it is empty
	bothMissing string // the reason if another one is empty, too
}

func parameter(name, value string) argument {
	return argument{name: name, value: value, missing: "is empty", bothMissing: "are empty"}
}

func environment(name string) argument {
	return argument{name: name, value: os.Getenv(name), missing: "is not set", bothMissing: "are not set"}
}

func (a argument) isBlank() bool { return strings.TrimSpace(a.value) == "" }

func (a argument) refuse(reason string) error { return &ArgumentError{a.name, reason} }

// cleanKey removes what people paste along with a key, and refuses what cannot be an admin
// key, without showing it.
func cleanKey(arg argument) (string, error) {
	key := trimScheme(arg.value)
	if key == "" {
		return "", arg.refuse(arg.missing)
	}

	switch {
	case looksUnfilled(key) != "":
		return "", arg.refuse(looksUnfilled(key) + ": give the key itself")
	case isSampleKey(key):
		return "", arg.refuse("looks like a placeholder: give the key itself")
	case strings.ContainsFunc(key, unicode.IsSpace):
		return "", arg.refuse("contains white space or a line break")
	case strings.ContainsFunc(key, func(r rune) bool { return r < ' ' || r > '~' }):
		return "", arg.refuse("contains a control, invisible or non-ASCII character: copy it again from the dashboard")
	case strings.HasPrefix(key, "mint_dsc_"):
		return "", arg.refuse("is an assistant key (mint_dsc_…), which does not work here: make an admin key")
	case strings.HasPrefix(key, "mint_us_"):
		return "", arg.refuse("is an index key (mint_us_…), which does not work here: make an admin key")
	}
	return key, nil
}

// looksUnfilled says what a value looks like whose place nobody has filled in; "" if it may be real.
func looksUnfilled(text string) string {
	switch {
	case text != strings.Trim(text, "\"'“”‘’"):
		return "has a quote at an end"
	case strings.HasPrefix(text, "$"), isEnclosed(text, "%", "%"):
		return "looks like a variable that was not expanded"
	case strings.HasPrefix(text, "{{"):
		return "looks like a template that was not filled in"
	case isEnclosed(text, "<", ">"):
		return "is a placeholder"
	case strings.Contains(text, "..."), strings.Contains(text, "…"):
		return "contains three dots, as if it were shortened"
	}
	return ""
}

func isEnclosed(text, begin, end string) bool {
	rest, ok := strings.CutPrefix(text, begin)
	return ok && strings.HasSuffix(rest, end)
}

// isSampleKey reports whether key is one of those that documents show.
func isSampleKey(key string) bool {
	rest, ok := strings.CutPrefix(strings.ToLower(key), "mint_")
	if !ok {
		return false
	}

	isMasked := len(rest) >= 4 && strings.Trim(rest, "x*") == "" // mint_x is the key of somebody's test
	return strings.HasPrefix(rest, "your-") || strings.HasPrefix(rest, "your_") || isMasked
}

// trimScheme removes white space and a pasted "Bearer " from a key.
func trimScheme(text string) string {
	const scheme = "bearer"

	text = strings.TrimSpace(text)
	if len(text) < len(scheme) || !strings.EqualFold(text[:len(scheme)], scheme) {
		return text
	}

	rest := text[len(scheme):]
	if rest != "" && rest == strings.TrimSpace(rest) {
		return text // the key itself begins with bearer
	}
	return strings.TrimSpace(rest)
}

func cleanProjectID(arg argument) (string, error) {
	id := strings.TrimSpace(arg.value)

	if strings.HasPrefix(trimScheme(id), "mint_") {
		return "", arg.refuse("starts like an API key: the key and the project id are swapped")
	}

	if reason := cmp.Or(looksUnfilled(id), looksLike(id)); reason != "" {
		return "", arg.refuse(reason + ": copy the project id from the API keys page of the dashboard")
	}

	if reason := refusedID(id); reason != "" {
		if id == "" {
			reason = arg.missing
		}
		return "", arg.refuse(reason)
	}
	return id, nil
}

// looksLike says what an id that cannot be a project id looks like; "" if it can be one.
func looksLike(id string) string {
	switch {
	case strings.Contains(id, "://"):
		return "is a URL"
	case strings.ContainsAny(id, "<>"):
		return "is a placeholder"
	case strings.Contains(id, "/"):
		return "contains a slash, like a path or repository name"
	case strings.Contains(id, ":"):
		return "contains a colon, like a host with a port"
	case strings.ContainsFunc(id, unicode.IsSpace):
		return "contains white space"
	}
	return ""
}

// checkText checks a text that the service requires.
func checkText(name, text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return &ArgumentError{name, "is empty"}
	case !utf8.ValidString(text):
		return &ArgumentError{name, "is not valid UTF-8"}
	}
	return nil
}

// checkID checks an id that goes into a path.
func checkID(id string) error {
	if reason := refusedID(id); reason != "" {
		return &ArgumentError{"id", reason}
	}
	return nil
}

// refusedID says why id cannot be a segment of a path; "" if it can.
func refusedID(id string) string {
	switch {
	case strings.TrimSpace(id) == "":
		return "is empty"
	case id == "." || id == "..":
		return "is not a valid id"
	}
	return stray(id)
}

// stray says which character of an id or a branch nobody means to send; "" if there is none. White
// space within an id may be the service's own.
func stray(text string) string {
	switch {
	case text != strings.TrimSpace(text):
		return "has white space at an end, such as a line break: remove it"
	case strings.ContainsFunc(text, unicode.IsControl):
		return "contains a control character"
	}
	return ""
}

// checkBranch checks the name of a branch.
func checkBranch(branch string) error {
	if err := checkText("branch", branch); err != nil {
		return err
	}
	if reason := stray(branch); reason != "" {
		return &ArgumentError{"branch", reason}
	}
	return nil
}

// parseBaseURL sets origin and prefix. Its errors do not show the URL, which may hold a
// password, or be the key.
func (cfg *config) parseBaseURL() error {
	u, err := url.Parse(strings.TrimSpace(cfg.baseURL.value))

	switch {
	case err != nil:
		return cfg.baseURL.refuse("is not a URL: want one such as " + DefaultBaseURL)
	case u.Scheme != "https" && u.Scheme != "http":
		return cfg.baseURL.refuse("starts neither with https:// nor, for this machine, with http://")
	case !hasHost(u):
		return cfg.baseURL.refuse("has no host")
	case !hasValidPort(u):
		return cfg.baseURL.refuse("has a port that is not in the range 1 to 65535")
	case u.User != nil:
		return cfg.baseURL.refuse("has user info: the API key is what authenticates")
	case u.RawQuery != "" || u.ForceQuery:
		return cfg.baseURL.refuse("has a query")
	case u.Fragment != "":
		return cfg.baseURL.refuse("has a fragment")
	case u.Scheme == "http" && !cfg.insecureHTTP && !isLoopback(u.Hostname()):
		return cfg.baseURL.refuse("is plain http, which would show the key to the network: " +
			"use https, or WithInsecureHTTP")
	}

	cfg.origin = &url.URL{Scheme: u.Scheme, Host: u.Host}
	cfg.prefix = cfg.origin.String() + strings.TrimRight(u.EscapedPath(), "/")
	return nil
}

// checkHeader refuses a header that is the SDK's own, or that net/http could not send.
func checkHeader(header http.Header) error {
	for name, values := range header {
		switch http.CanonicalHeaderKey(name) {
		case "Authorization", "Host", "User-Agent", "Content-Length", "Transfer-Encoding", "Connection":
			return &ArgumentError{"header", fmt.Sprintf("has %s, which the SDK sets itself", name)}
		}

		if name == "" || strings.ContainsFunc(name, isNoToken) {
			return &ArgumentError{"header", fmt.Sprintf("has %.40q, which is not the name of a header", name)}
		}
		if slices.ContainsFunc(values, hasControl) {
			return &ArgumentError{"header", fmt.Sprintf("has a control character in %s", name)}
		}
	}
	return nil
}

// isNoToken reports whether r cannot be in the name of a header.
func isNoToken(r rune) bool {
	isLetterOrDigit := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	return !isLetterOrDigit && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

// hasControl reports whether the value of a header has a character that cannot be sent.
func hasControl(value string) bool {
	return strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

func hasHost(u *url.URL) bool {
	host := u.Hostname()
	if strings.Contains(host, ":") || strings.HasPrefix(u.Host, "[") {
		_, err := netip.ParseAddr(host)
		return err == nil && strings.HasPrefix(u.Host, "[")
	}
	return host != ""
}

func hasValidPort(u *url.URL) bool {
	if u.Port() == "" {
		return true
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	return err == nil && port > 0
}

func isLoopback(host string) bool {
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}

func isSameOrigin(a, b *url.URL) bool {
	isSameHost := strings.EqualFold(a.Hostname(), b.Hostname()) && transport.PortOf(a) == transport.PortOf(b)
	return a.Scheme == b.Scheme && isSameHost
}
