package kit

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// Kinds has every kind of error, by its name.
var Kinds = map[string]error{
	"ErrInvalidArgument":   mintlify.ErrInvalidArgument,
	"ErrBadRequest":        mintlify.ErrBadRequest,
	"ErrUnauthorized":      mintlify.ErrUnauthorized,
	"ErrForbidden":         mintlify.ErrForbidden,
	"ErrNotFound":          mintlify.ErrNotFound,
	"ErrPaymentRequired":   mintlify.ErrPaymentRequired,
	"ErrRateLimited":       mintlify.ErrRateLimited,
	"ErrServer":            mintlify.ErrServer,
	"ErrMalformedResponse": mintlify.ErrMalformedResponse,
	"ErrOutcomeUnknown":    mintlify.ErrOutcomeUnknown,
	"ErrJobFailed":         mintlify.ErrJobFailed,
	"ErrDeploymentFailed":  mintlify.ErrDeploymentFailed,
}

// KindsOf returns the names of the kinds that err matches.
func KindsOf(err error) []string {
	var names []string
	for name, kind := range Kinds {
		if errors.Is(err, kind) {
			names = append(names, name)
		}
	}
	return names
}

// IsOutcomeUnknown reports whether the service may have acted on a call that failed.
func IsOutcomeUnknown(err error) bool { return errors.Is(err, mintlify.ErrOutcomeUnknown) }

// RequireAs requires that err is an error of a type, and returns that error.
func RequireAs[E error](t *testing.T, err error) E {
	t.Helper()
	var target E
	require.ErrorAs(t, err, &target)
	return target
}

// RequireArgumentError requires that err refuses the argument with a name, and returns it.
func RequireArgumentError(t *testing.T, err error, name string) *mintlify.ArgumentError {
	t.Helper()
	require.ErrorIs(t, err, mintlify.ErrInvalidArgument)
	argument := RequireAs[*mintlify.ArgumentError](t, err)
	assert.Equal(t, name, argument.Name)
	assert.NotEmpty(t, argument.Reason)
	return argument
}

// AssertReadable asserts that a message is one line, printable and under 1 KB.
func AssertReadable(t *testing.T, err error) {
	t.Helper()
	assert.Less(t, len(err.Error()), 1024)
	assert.NotContains(t, err.Error(), Key)
	isUnprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	assert.Equal(t, -1, strings.IndexFunc(err.Error(), isUnprintable), "%q", err.Error())
}

// AssertRoundTrip asserts that what is behind v marshals to JSON that reads back to it.
func AssertRoundTrip(t *testing.T, v any) {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	back := reflect.New(reflect.TypeOf(v).Elem()).Interface()
	require.NoError(t, json.Unmarshal(text, back))
	assert.Equal(t, v, back)
}
