// Visitors-export writes two lists of a project's analytics to files, as JSON Lines: the visitors of
// each page, which the service lists by offset, and the conversations with the assistant, which it
// lists by cursor. Stop it whenever you like: the same command resumes it, and writes each row once.
package main

import (
	"context"
	"flag"
	"log"
	"os"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// exporter exports two lists of a project, between two dates, to files in a folder.
type exporter struct {
	client   *mintlify.Client
	folder   string
	from, to mintlify.Date
}

func main() {
	var e exporter
	flag.StringVar(&e.folder, "o", "", "the `folder` to write to")
	flag.TextVar(&e.from, "from", mintlify.Date{}, "the first `date`, 2026-01-01 or 2026-01-01T12:00:00Z")
	flag.TextVar(&e.to, "to", mintlify.Date{}, "the `date` to end before")
	isDemo := flag.Bool("demo", false, "export made-up rows of a fake of the service, without a key")
	flag.Parse() // it exits with 2 if it fails

	if e.folder == "" || e.from.IsZero() || e.to.IsZero() || flag.NArg() > 0 {
		log.Print("-o, -from and -to are required, and no other arguments:")
		flag.Usage()
		os.Exit(2)
	}
	if err := e.connect(*isDemo); err != nil {
		log.Print(err)
		os.Exit(2)
	}

	err := e.run(context.Background())
	if wait, ok := mintlify.RetryAfter(err); ok {
		log.Fatalf("%v\nRun the same command again in %v to resume.", err, wait)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func (e *exporter) run(ctx context.Context) error {
	if err := e.exportVisitors(ctx); err != nil {
		return err
	}
	return e.exportConversations(ctx)
}

// exportVisitors exports a list by offset.
func (e *exporter) exportVisitors(ctx context.Context) error {
	out, err := e.open("visitors.jsonl")
	if err != nil || out.Next.Done {
		return err
	}

	params := mintlify.VisitorsParams{DateFrom: e.from, DateTo: e.to, Offset: out.Next.Offset}
	for page, err := range e.client.Analytics.VisitorPages(ctx, params, mintlify.WithPrefetch(1)) {
		if err != nil {
			return err
		}
		next := position{Offset: page.NextOffset, Done: !page.HasMore}
		if err := appendPage(out, page.Visitors, next); err != nil {
			return err
		}
	}
	return nil
}

// exportConversations exports a list by cursor. A cursor is for the same dates.
func (e *exporter) exportConversations(ctx context.Context) error {
	out, err := e.open("conversations.jsonl")
	if err != nil || out.Next.Done {
		return err
	}

	params := mintlify.ConversationsParams{DateFrom: e.from, DateTo: e.to, Cursor: out.Next.Cursor}
	for page, err := range e.client.Analytics.ConversationPages(ctx, params, mintlify.WithPrefetch(1)) {
		if err != nil {
			return err
		}
		next := position{Cursor: page.NextCursor, Done: !page.HasMore}
		if err := appendPage(out, page.Conversations, next); err != nil {
			return err
		}
	}
	return nil
}
