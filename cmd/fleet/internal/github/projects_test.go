package github

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestProjects(t *testing.T) {
	of := func(repository string, flags ...string) string {
		p, err := ReadProjects(flags, "")
		require.NoError(t, err)
		project, known := p.Of(repository)
		return fmt.Sprint(project, known)
	}
	all := []string{"acme/repo=one", "rest", "acme/none="}
	assert.Equal(t, "false", of("acme/other", all[0]))
	assert.Equal(t, "onetrue", of("Acme/Repo", all...))
	assert.Equal(t, "resttrue", of("acme/other", all...))
	assert.Equal(t, "true", of("acme/none", all...))

	for _, bad := range []string{"repo=one", "", "=x", "a/b/c=x", "acme/repo=mint_key"} {
		_, err := ReadProjects([]string{bad}, "")
		assert.Error(t, err, bad)
	}
}
