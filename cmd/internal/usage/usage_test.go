package usage_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
)

func TestErrorfMarksAnErrorThroughWrapping(t *testing.T) {
	cause := errors.New("no such folder")
	err := fmt.Errorf("open: %w", usage.Errorf("-db: %w", cause))

	assert.True(t, usage.Is(err))
	assert.ErrorIs(t, err, cause)
	assert.EqualError(t, err, "open: -db: no such folder")

	assert.False(t, usage.Is(cause))
	assert.False(t, usage.Is(nil))
}
