package github

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestBaseURLIsChecked at the start: with a wrong one each result would fail, one by one.
func TestBaseURLIsChecked(t *testing.T) {
	for _, bad := range []string{"nourl", "github.example.com", "ftp://github.example.com", "https://", ":"} {
		_, err := NewAPI("ghp_x", bad, http.DefaultClient)
		assert.ErrorContains(t, err, "GITHUB_API_URL is not a URL", bad)
	}

	for _, good := range []string{"", "https://github.example.com", "http://127.0.0.1:8080/api/v3"} {
		_, err := NewAPI("ghp_x", good, http.DefaultClient)
		assert.NoError(t, err, good)
	}
}
