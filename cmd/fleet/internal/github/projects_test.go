package github

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestProjects(t *testing.T) {
	p := NewMapping()
	of := func(repository string) string {
		project, known := p.Projects.Of(repository)
		return fmt.Sprint(project, known)
	}
	require.NoError(t, p.Set("acme/repo=one", "line 1"))
	assert.Equal(t, "false", of("acme/other"))

	require.NoError(t, p.Set("rest", "line 2"))
	require.NoError(t, p.Set("acme/none=", "line 3"))
	assert.Equal(t, "onetrue", of("Acme/Repo"))
	assert.Equal(t, "resttrue", of("acme/other"))
	assert.Equal(t, "true", of("acme/none"))

	for _, bad := range []string{"repo=one", "", "=x", "a/b/c=x", "acme/repo=mint_key"} {
		assert.Error(t, p.Set(bad, "line 4"), bad)
	}
}
