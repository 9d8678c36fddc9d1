package merges

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/mintlify-community/mintlify-go/internal/safetext"
	"github.com/mintlify-community/mintlify-go/once"
)

const maxLogin = 80 // bytes of an author's name in a reason

// Authors are the logins and names of those whose merges are skipped. Case does not matter.
type Authors []string

// DefaultAuthors returns the authors that are always skipped: the agent, and bots whose
// merges change nothing for readers.
func DefaultAuthors() Authors {
	return Authors{"mintlify[bot]", "dependabot[bot]", "renovate[bot]"}
}

// Add adds a login. A flag that may be repeated can call it.
func (a *Authors) Add(login string) error {
	if login == "" {
		return errors.New("it is empty")
	}

	*a = append(*a, login)
	return nil
}

// WhySkip says why a merge is skipped, or returns "" if it is not. text is the merge's description
// or the messages of its commits. A merge is skipped if [NoneLine] finds one in text, or if
// text has a marker of package once: then it is the agent's own work. It is also skipped if it has
// authors and all of them are skipped. Each author is a list of names.
func (a Authors) WhySkip(text string, authors ...[]string) string {
	if NoneLine(text) != "" {
		return None
	}
	if key, found := once.FindMarker(text); found {
		return "it is the agent's own work for " + key
	}

	if len(authors) == 0 || slices.ContainsFunc(authors, a.lacks) {
		return ""
	}
	return "it is the work of " + safetext.OneLine(authors[0][0], maxLogin)
}

// lacks reports whether none of an author's names is in a.
func (a Authors) lacks(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		return slices.ContainsFunc(a, func(skipped string) bool { return strings.EqualFold(skipped, name) })
	})
}

var noReply = regexp.MustCompile(`^(?:[0-9]+\+)?(.+)@users\.noreply\.github\.com$`)

// Login returns the login in an e-mail address that GitHub has made for a user, or "" for
// any other address.
func Login(email string) string {
	if found := noReply.FindStringSubmatch(email); found != nil {
		return found[1]
	}
	return ""
}
