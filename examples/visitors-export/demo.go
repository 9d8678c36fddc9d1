package main

import (
	"log/slog"
	"os"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/examples/internal/demo"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// connect makes the client, which is of the service, or of a fake that is slow enough to be killed.
func (e *exporter) connect(isDemo bool) error {
	fake := mintlifytest.NewService()
	reason := "" // to use the fake
	if isDemo {
		fill(fake)
		reason = "Demo"
	}

	client, err := demo.Connect(os.Stderr, fake, reason, mintlify.WithLogger(slog.Default()))
	e.client = client
	return err
}

func fill(fake *mintlifytest.Service) {
	const pages = 20
	slow := mintlifytest.Fault{Delay: 100 * time.Millisecond}

	fake.SetVisitors(demo.Visitors(pages * 250))
	fake.FailNext(mintlify.OpGetVisitors, pages, slow)
	fake.SetConversations(demo.Conversations(pages * 250))
	fake.FailNext(mintlify.OpGetConversations, pages, slow)
}
