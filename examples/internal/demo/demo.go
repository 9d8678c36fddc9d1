// Package demo lets an example run without a key: on a fake of the service, with made-up
// rows.
package demo

import (
	"fmt"
	"io"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// Connect returns a client of the service, with the key and the project of the environment.
// If there is a reason to use the fake, it returns a client of the fake instead. It prints
// on out which of them the client uses.
func Connect(
	out io.Writer, fake *mintlifytest.Service, reason string, opts ...mintlify.Option,
) (*mintlify.Client, error) {
	if reason != "" {
		fmt.Fprintf(out, "%s: using a fake of the service inside this program (mintlifytest).\n", reason)
		return fake.Client(opts...), nil
	}

	client, err := mintlify.NewClientFromEnv(opts...)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "Using the service, project %s.\n", client.ProjectID())
	return client, nil
}

// Conversations returns n rows for the fake, in any range of dates.
func Conversations(n int) []mintlify.Conversation {
	rows := make([]mintlify.Conversation, n)
	for i := range rows {
		rows[i] = mintlify.Conversation{
			ID:       fmt.Sprintf("conversation-%d", i+1),
			Query:    fmt.Sprintf("What does page %d say?", i+1),
			Response: "Read it.",
		}
	}
	return rows
}

// Visitors returns n rows for the fake. They are not sorted by their counts.
func Visitors(n int) []mintlify.Visitor {
	rows := make([]mintlify.Visitor, n)
	for i := range rows {
		human := int64(i * 7919 % 1009)
		ai := int64(i * 104729 % 503)
		rows[i] = mintlify.Visitor{
			Path:  fmt.Sprintf("/guides/page-%d", i+1),
			Human: human,
			AI:    ai,
			Total: human + ai,
		}
	}
	return rows
}
