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
	size := pageSizes[e.Kind]
	switch e.Kind {
	case store.Searches:
		params := mintlify.SearchesParams{DateFrom: e.From, DateTo: e.To, PageSize: size, Cursor: e.Cursor}
		return convert(client.Analytics.SearchPages(ctx, params), func(p *mintlify.SearchPage) *store.Page {
			page := listPage(p.Searches, p.NextCursor, p.NextCursor != "")
			page.Totals.Total = p.TotalSearches
			return page
		})

	case store.Feedback:
		params := mintlify.FeedbackParams{DateFrom: e.From, DateTo: e.To, PageSize: size, Cursor: e.Cursor}
		return convert(client.Analytics.FeedbackPages(ctx, params), func(p *mintlify.FeedbackPage) *store.Page {
			return listPage(p.Feedback, p.NextCursor, p.HasMore)
		})

	case store.FeedbackByPage: // is one page: the service offers no way to ask for a second
		params := mintlify.FeedbackCountsParams{DateFrom: e.From, DateTo: e.To, Limit: size}
		page := one(client.Analytics.GetFeedbackCounts(ctx, params))
		return convert(page, func(p *mintlify.FeedbackCounts) *store.Page {
			return listPage(p.Counts, "", p.HasMore)
		})

	case store.Conversations:
		params := mintlify.ConversationsParams{DateFrom: e.From, DateTo: e.To, PageSize: size, Cursor: e.Cursor}
		return convert(client.Analytics.ConversationPages(ctx, params), func(p *mintlify.ConversationPage) *store.Page {
			return listPage(p.Conversations, p.NextCursor, p.HasMore)
		})
	}

	params := mintlify.VisitorsParams{DateFrom: e.From, DateTo: e.To, PageSize: size, Offset: e.Offset}
	return convert(client.Analytics.VisitorPages(ctx, params), func(p *mintlify.VisitorPage) *store.Page {
		return &store.Page{Visitors: p.Visitors, Totals: p.Totals, Next: p.NextOffset, More: p.HasMore}
	})
}

func one[P any](page P, err error) iter.Seq2[P, error] {
	return func(yield func(P, error) bool) { yield(page, err) }
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

func listPage[T any](rows []T, cursor string, more bool) *store.Page {
	page := &store.Page{Cursor: cursor, More: more, Last: cursor == ""}
	for _, row := range rows {
		page.Rows = append(page.Rows, row)
	}
	return page
}
