package version

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestStringTellsTheLinkersValues(t *testing.T) {
	defer func() { version, commit = "", "" }()
	version, commit = "v0.1.0", "5907854"
	assert.Equal(t, "publish v0.1.0, commit 5907854", String("publish"))
}

func TestStringWithoutTheLinkersValuesTellsTheBuild(t *testing.T) {
	assert.Regexp(t, `^publish \S+, commit \S+$`, String("publish"))
}
