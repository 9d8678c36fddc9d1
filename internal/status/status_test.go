package status_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mintlify-community/mintlify-go/internal/status"
)

func TestOf(t *testing.T) {
	for code, want := range map[int]status.Meaning{
		0:   {MayHaveActed: true},
		103: {MayHaveActed: true},
		308: {MayHaveActed: true},
		400: {Kind: status.BadRequest, About: status.PromptOrSetup},
		401: {Kind: status.Unauthorized, NeedsPerson: true},
		402: {Kind: status.PaymentRequired, NeedsPerson: true},
		403: {Kind: status.Forbidden, NeedsPerson: true},
		404: {Kind: status.NotFound, NeedsPerson: true, About: status.Job},
		407: {NeedsPerson: true},
		408: {Passes: true, MayHaveActed: true},
		409: {About: status.Job},
		413: {About: status.Prompt},
		415: {About: status.PromptOrSetup},
		422: {Kind: status.BadRequest, About: status.Prompt},
		425: {Passes: true},
		429: {Kind: status.RateLimited, Passes: true},
		451: {About: status.PromptOrSetup},
		499: {Passes: true, MayHaveActed: true},
		500: {Kind: status.Server, Passes: true, MayHaveActed: true},
		501: {Kind: status.Server, MayHaveActed: true},
		505: {Kind: status.Server, MayHaveActed: true},
		511: {Kind: status.Server, MayHaveActed: true, NeedsPerson: true},
		522: {Kind: status.Server, Passes: true, MayHaveActed: true},
		530: {Kind: status.Server, Passes: true, MayHaveActed: true},
	} {
		assert.Equal(t, want, status.Of(code), code)
	}
}

// What passes is waited for, and what needs a person is not: no status is both.
func TestNoStatusPassesAndNeedsAPerson(t *testing.T) {
	for code := range 1000 {
		meaning := status.Of(code)
		assert.False(t, meaning.Passes && meaning.NeedsPerson, code)
		assert.False(t, meaning.About != 0 && (meaning.Passes || meaning.MayHaveActed), code)
	}
}
