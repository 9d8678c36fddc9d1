// Package settle tells package once the settle time of a client.
package settle

import (
	"context"
	"errors"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/waits"
)

// Of returns the settle time in the client's WithWaitDefaults, 0 if there is none. isInstant
// reports whether the client has mintlifytest's Options, and no WithRealSchedule: there a message
// takes effect at once. It sends nothing.
func Of(client *mintlify.Client) (own time.Duration, isInstant bool) {
	_, err := client.Jobs.Poll(context.Background(), "none", 0, waits.Reveal)

	var revealed *waits.Revealed
	if !errors.As(err, &revealed) {
		return 0, false
	}
	return revealed.SettleTime, revealed.Instant
}
