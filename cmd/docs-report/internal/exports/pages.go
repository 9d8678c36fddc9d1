package exports

import (
	"context"
	"iter"

	mintlify "github.com/mintlify-community/mintlify-go"

	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// pageSizes are the largest that the service allows: the quota counts requests, not rows. Only
// conversations have smaller pages: 1,000 of them may be larger than the SDK reads.
var pageSizes = map[store.Kind]int{
	store.Visitors:       250,
	store.Searches:       100,
	store.FeedbackByPage: 100,
	store.Feedback:       100,
	store.Conversations:  250,
}

type pageSeq = iter.Seq2[*store.Page, error]

// pages returns the pages of an export that are not loaded yet.
func pages(ctx context.Context, client *mintlify.Client, e store.Export) pageSeq {
	switch e.Kind {
	case store.Searches:
		return searchPages(ctx, client, e)
	case store.Feedback:
		return feedbackPages(ctx, client, e)
	case store.FeedbackByPage:
		return feedbackByPage(ctx, client, e)
	case store.Conversations:
		return conversationPages(ctx, client, e)
	}
	return visitorPages(ctx, client, e)
}

func visitorPages(ctx context.Context, client *mintlify.Client, e store.Export) pageSeq {
	params := mintlify.VisitorsParams{DateFrom: e.From, DateTo: e.To, PageSize: pageSizes[e.Kind], Offset: e.Offset}
	return convert(client.Analytics.VisitorPages(ctx, params), func(p *mintlify.VisitorPage) *store.Page {
		return &store.Page{Visitors: p.Visitors, Totals: p.Totals, Next: p.NextOffset, More: p.HasMore}
	})
}

func searchPages(ctx context.Context, client *mintlify.Client, e store.Export) pageSeq {
	params := mintlify.SearchesParams{DateFrom: e.From, DateTo: e.To, PageSize: pageSizes[e.Kind], Cursor: e.Cursor}
	return convert(client.Analytics.SearchPages(ctx, params), func(p *mintlify.SearchPage) *store.Page {
		page := &store.Page{Rows: anyOf(p.Searches), Cursor: p.NextCursor, More: p.NextCursor != ""}
		page.Totals.Total = p.TotalSearches
		return page
	})
}

func feedbackPages(ctx context.Context, client *mintlify.Client, e store.Export) pageSeq {
	params := mintlify.FeedbackParams{DateFrom: e.From, DateTo: e.To, PageSize: pageSizes[e.Kind], Cursor: e.Cursor}
	return convert(client.Analytics.FeedbackPages(ctx, params), func(p *mintlify.FeedbackPage) *store.Page {
		return &store.Page{Rows: anyOf(p.Feedback), Cursor: p.NextCursor, More: p.HasMore}
	})
}

// feedbackByPage returns one page: the service offers no way to ask for a second.
func feedbackByPage(ctx context.Context, client *mintlify.Client, e store.Export) pageSeq {
	params := mintlify.FeedbackCountsParams{DateFrom: e.From, DateTo: e.To, Limit: pageSizes[e.Kind]}
	return func(yield func(*store.Page, error) bool) {
		p, err := client.Analytics.GetFeedbackCounts(ctx, params)
		if err != nil {
			yield(nil, err)
			return
		}
		yield(&store.Page{Rows: anyOf(p.Counts), More: p.HasMore, Last: true}, nil)
	}
}

func conversationPages(ctx context.Context, client *mintlify.Client, e store.Export) pageSeq {
	params := mintlify.ConversationsParams{
		DateFrom: e.From,
		DateTo:   e.To,
		PageSize: pageSizes[e.Kind],
		Cursor:   e.Cursor,
	}

	return convert(client.Analytics.ConversationPages(ctx, params), func(p *mintlify.ConversationPage) *store.Page {
		return &store.Page{Rows: anyOf(p.Conversations), Cursor: p.NextCursor, More: p.HasMore}
	})
}

func convert[P any](pages iter.Seq2[P, error], to func(P) *store.Page) pageSeq {
	return func(yield func(*store.Page, error) bool) {
		for page, err := range pages {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(to(page), nil) {
				return
			}
		}
	}
}

func anyOf[T any](rows []T) []any {
	all := make([]any, len(rows))
	for i, row := range rows {
		all[i] = row
	}
	return all
}
