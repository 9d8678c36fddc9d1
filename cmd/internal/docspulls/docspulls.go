// Package docspulls looks in a repository of the documentation, on GitHub, for the pull request of a prompt
// whose response was lost: by the marker in its description.
package docspulls

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/once"
)

const (
	perPage  = 30
	maxPages = 10
	// margin is how much older than a send the pull requests of the last page are: GitHub orders them by a
	// time that its servers do not share.
	margin = 24 * time.Hour
	// clockError is how far a clock may be from that of GitHub, and wrongClock how far one may be that nobody has set.
	clockError = 2 * time.Minute
	wrongClock = 24 * time.Hour
)

// Pull has the fields that we read from a pull request of the documentation.
type Pull struct {
	HTMLURL   string    `json:"html_url"`
	Body      string    `json:"body"`
	CreatedAt time.Time `json:"created_at"`
	Head      Head      `json:"head"`
}

// Head is where a pull request comes from.
type Head struct {
	// Repo is null if a fork was deleted.
	Repo *Repository `json:"repo"`
}

// Repository is a repository of GitHub.
type Repository struct {
	FullName string `json:"full_name"`
}

// Get requests a path of GitHub's API, such as repos/acme/docs/pulls, and decodes the response. Its errors are
// those of the program, and so is what it does about limits.
type Get func(ctx context.Context, path string, into any) error

// SentAfter returns the time before which the pull request of a prompt cannot have been opened. After the first send
// nothing older has the marker, so that the sender's clock may have been wrong. After a later one the pull requests of
// the sends before have it, too.
func SentAfter(record once.Record, sendTime time.Duration) time.Time {
	sent := record.Deadline.Add(-sendTime)
	if record.Sends == 1 {
		return sent.Add(-wrongClock)
	}
	return sent.Add(-clockError)
}

// ErrTooMany is that more pull requests were opened since a time than are read.
var ErrTooMany = fmt.Errorf("more than %d pull requests were opened since: the older ones are not read",
	perPage*maxPages)

// Pages reads the pull requests of a repository, the newest first, until they are older than since: at most
// 300, and then ErrTooMany. An error ends it.
func Pages(ctx context.Context, get Get, repository string, since time.Time) iter.Seq2[[]Pull, error] {
	return func(yield func([]Pull, error) bool) {
		for page := 1; page <= maxPages; page++ {
			pulls, err := Page(ctx, get, repository, page)
			if !yield(pulls, err) || err != nil {
				return
			}

			isLast := len(pulls) < perPage
			if isLast || pulls[len(pulls)-1].CreatedAt.Before(since.Add(-margin)) {
				return
			}
		}
		yield(nil, ErrTooMany)
	}
}

// Page reads one page of the pull requests, from 1.
func Page(ctx context.Context, get Get, repository string, page int) ([]Pull, error) {
	path := fmt.Sprintf("repos/%s/pulls?state=all&sort=created&direction=desc&per_page=%d&page=%d",
		repository, perPage, page)
	var pulls []Pull
	err := get(ctx, path, &pulls)
	return pulls, err
}

// Find returns the link of the first pull request whose marker has a key that isKey accepts, or "". It must have
// been opened since a time, and not come from a fork: anybody can write one there.
func Find(pulls []Pull, repository string, since time.Time, isKey func(key string) bool) string {
	for _, pull := range pulls {
		key, isMarked := once.FindMarker(pull.Body)
		isOwn := pull.Head.Repo != nil && strings.EqualFold(pull.Head.Repo.FullName, repository)
		if isMarked && isOwn && !pull.CreatedAt.Before(since) && isKey(key) {
			return pull.HTMLURL
		}
	}
	return ""
}
