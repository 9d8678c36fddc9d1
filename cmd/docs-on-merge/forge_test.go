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
)

// forge is a fake of GitHub's API, as far as this program uses it: the statuses and the
// pull requests of commits.
type forge struct {
	mu       sync.Mutex
	statuses map[string][]status      // by commit, the newest first
	pulls    map[string][]pullRequest // by commit; "" is of any other
}

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
	f.mu.Lock()
	defer f.mu.Unlock()
	var code, body = http.StatusNotFound, any(map[string]string{"message": "Not Found"})
	parts := strings.Split(r.URL.Path, "/") // "", repos, owner, name, ...
	switch what := r.Method + " " + parts[len(parts)-1]; {
	case what == "GET statuses" && len(parts) == 7:
		size, _ := strconv.Atoi(r.URL.Query().Get("per_page"))
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		all := f.statuses[parts[5]]
		from := min(max(page-1, 0)*size, len(all))
		code, body = http.StatusOK, all[from:min(from+size, len(all))]
	case what == "GET pulls" && len(parts) == 7:
		code, body = http.StatusOK, f.pulls[""]
		if of, ok := f.pulls[parts[5]]; ok {
			body = of
		}
	case r.Method == http.MethodPost && len(parts) == 6 && parts[4] == "statuses":
		s := status{}
		code, body = http.StatusUnprocessableEntity, map[string]string{"message": "Validation Failed"}
		if err := json.NewDecoder(r.Body).Decode(&s); err == nil && len(s.Description) <= maxDescription {
			s.ID = int64(len(f.statuses[parts[5]]) + 1)
			f.statuses[parts[5]] = slices.Insert(f.statuses[parts[5]], 0, s)
			code, body = http.StatusCreated, s
		}
	}
	w.Header().Set("Date", time.Now().UTC().Format(http.TimeFormat))
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}
