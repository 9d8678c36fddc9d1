package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/docspulls"
)

// forge is a fake of GitHub's API, as far as this program uses it: the statuses and the
// pull requests of commits.
type forge struct {
	mu       sync.Mutex
	statuses map[string][]status      // by commit, the newest first
	pulls    map[string][]pullRequest // by commit; "" is of any other

	// docs are the pull requests of the documentation, the newest first, by repository.
	docs map[string][]docspulls.Pull
	// docsToken is the token that may read them. "" means that any may.
	docsToken string
	// looks counts the requests for them.
	looks int
}

func newForge() *forge { return &forge{statuses: map[string][]status{}} }

// RoundTrip responds in memory.
func (f *forge) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Context().Err() != nil {
		return nil, r.Context().Err()
	}

	recorder := httptest.NewRecorder()
	f.ServeHTTP(recorder, r)
	return recorder.Result(), nil
}

// ServeHTTP responds as GitHub does.
func (f *forge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	code, body := f.respond(r)
	w.Header().Set("Date", time.Now().UTC().Format(http.TimeFormat))
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}

func (f *forge) respond(r *http.Request) (code int, body any) {
	f.mu.Lock()
	defer f.mu.Unlock()

	parts := strings.Split(r.URL.Path, "/") // "", repos, owner, name, ...
	switch what := r.Method + " " + parts[len(parts)-1]; {
	case what == "GET statuses" && len(parts) == 7:
		size, _ := strconv.Atoi(r.URL.Query().Get("per_page"))
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		all := f.statuses[parts[5]]
		from := min(max(page-1, 0)*size, len(all))
		found := all[from:min(from+size, len(all))]
		return http.StatusOK, slices.Clone(found) // it is encoded without the lock
	case what == "GET pulls" && len(parts) == 7:
		named, ok := f.pulls[parts[5]]
		if !ok {
			named = f.pulls[""]
		}
		return http.StatusOK, mergedAs(named, parts[5])
	case r.Method == http.MethodGet && len(parts) == 6 && parts[4] == "pulls":
		number, _ := strconv.Atoi(parts[5])
		for _, pulls := range f.pulls {
			for _, pull := range pulls {
				if pull.Number == number {
					return http.StatusOK, pull
				}
			}
		}
	case what == "GET pulls" && len(parts) == 5:
		return f.list(parts[2]+"/"+parts[3], r)
	case r.Method == http.MethodPost && len(parts) == 6 && parts[4] == "statuses":
		return f.add(parts[5], r)
	}
	return http.StatusNotFound, map[string]string{"message": "Not Found"}
}

// mergedAs returns pull requests. Those of which a test says nothing else have merged the commit.
func mergedAs(pulls []pullRequest, commit string) []pullRequest {
	pulls = slices.Clone(pulls)
	for i, pull := range pulls {
		pulls[i].Commits = 0
		if pull.MergedAt != "" && pull.MergeCommitSHA == "" && pull.Base.Ref == "" {
			pulls[i].MergeCommitSHA = commit
		}
	}
	return pulls
}

// list returns a page of the documentation's pull requests.
func (f *forge) list(repository string, r *http.Request) (code int, body any) {
	f.looks++
	query := r.URL.Query()
	pulls, isKnown := f.docs[repository]
	mayRead := f.docsToken == "" || r.Header.Get("Authorization") == "Bearer "+f.docsToken
	isNewestFirst := query.Get("state") == "all" && query.Get("sort") == "created" && query.Get("direction") == "desc"
	if !isKnown || !mayRead || !isNewestFirst {
		return http.StatusNotFound, map[string]string{"message": "Not Found"}
	}

	size, _ := strconv.Atoi(query.Get("per_page"))
	page, _ := strconv.Atoi(query.Get("page"))
	from := min((page-1)*size, len(pulls))
	return http.StatusOK, slices.Clone(pulls[from:min(from+size, len(pulls))])
}

// add adds the status of a request.
func (f *forge) add(commit string, r *http.Request) (code int, body any) {
	var s status
	err := json.NewDecoder(r.Body).Decode(&s)
	if err != nil || len(s.Description) > maxDescription {
		return http.StatusUnprocessableEntity, map[string]string{"message": "Validation Failed"}
	}

	s.ID = int64(len(f.statuses[commit]) + 1)
	f.statuses[commit] = slices.Insert(f.statuses[commit], 0, s)
	return http.StatusCreated, s
}
