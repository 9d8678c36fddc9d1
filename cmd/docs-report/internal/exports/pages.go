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
	store.Views:          250,
	store.Searches:       100,
	store.FeedbackByPage: 100,
	store.Feedback:       100,
	store.Conversations:  250,
	store.Callers:        1,
}

type pageSeq = iter.Seq2[*store.Page, error]

// pages returns the pages of an export that are not loaded yet.
func pages(ctx context.Context, client *mintlify.Client, c store.Claim) pageSeq {
	switch c.Kind {
	case store.Views:
		return viewPages(ctx, client, c)
	case store.Searches:
		return searchPages(ctx, client, c)
	case store.Feedback:
		return feedbackPages(ctx, client, c)
	case store.FeedbackByPage:
		return feedbackByPage(ctx, client, c)
	case store.Conversations:
		return conversationPages(ctx, client, c)
	case store.Callers:
		return callerPages(ctx, client, c)
	}
	return visitorPages(ctx, client, c)
}

func visitorPages(ctx context.Context, client *mintlify.Client, c store.Claim) pageSeq {
	params := mintlify.VisitorsParams{DateFrom: c.From, DateTo: c.To, PageSize: pageSizes[c.Kind], Offset: c.Offset()}
	return convert(client.Analytics.VisitorPages(ctx, params), func(p *mintlify.VisitorPage) *store.Page {
		return &store.Page{Visitors: p.Visitors, Totals: p.Totals, Next: p.NextOffset, More: p.HasMore}
	})
}

func viewPages(ctx context.Context, client *mintlify.Client, c store.Claim) pageSeq {
	params := mintlify.ViewsParams{DateFrom: c.From, DateTo: c.To, PageSize: pageSizes[c.Kind], Offset: c.Offset()}
	return convert(client.Analytics.ViewPages(ctx, params), func(p *mintlify.ViewPage) *store.Page {
		return &store.Page{
			Rows:   anyOf(p.Views),
			Totals: mintlify.VisitorTotals(p.Totals),
			Next:   p.NextOffset,
			More:   p.HasMore,
		}
	})
}

func searchPages(ctx context.Context, client *mintlify.Client, c store.Claim) pageSeq {
	params := mintlify.SearchesParams{DateFrom: c.From, DateTo: c.To, PageSize: pageSizes[c.Kind], Cursor: c.Cursor()}
	return convert(client.Analytics.SearchPages(ctx, params), func(p *mintlify.SearchPage) *store.Page {
		page := &store.Page{Rows: anyOf(p.Searches), Cursor: p.NextCursor, More: p.NextCursor != ""}
		page.IDs = idsOf(p.Searches, func(row mintlify.SearchTerm) string { return row.Query })
		page.Totals.Total = p.TotalSearches
		return page
	})
}

func feedbackPages(ctx context.Context, client *mintlify.Client, c store.Claim) pageSeq {
	params := mintlify.FeedbackParams{DateFrom: c.From, DateTo: c.To, PageSize: pageSizes[c.Kind], Cursor: c.Cursor()}
	return convert(client.Analytics.FeedbackPages(ctx, params), func(p *mintlify.FeedbackPage) *store.Page {
		page := &store.Page{Rows: anyOf(p.Feedback), Cursor: p.NextCursor, More: p.HasMore}
		page.IDs = idsOf(p.Feedback, func(row mintlify.Feedback) string { return row.ID })
		return page
	})
}

// callerPages returns one page with one row.
func callerPages(ctx context.Context, client *mintlify.Client, c store.Claim) pageSeq {
	params := mintlify.CallerStatsParams{DateFrom: c.From, DateTo: c.To}
	return func(yield func(*store.Page, error) bool) {
		stats, err := client.Analytics.GetCallerStats(ctx, params)
		if err != nil {
			yield(nil, err)
			return
		}
		yield(&store.Page{Rows: []any{stats}, Last: true}, nil)
	}
}

// feedbackByPage returns one page: the service offers no way to ask for a second.
func feedbackByPage(ctx context.Context, client *mintlify.Client, c store.Claim) pageSeq {
	params := mintlify.FeedbackCountsParams{DateFrom: c.From, DateTo: c.To, Limit: pageSizes[c.Kind]}
	return func(yield func(*store.Page, error) bool) {
		p, err := client.Analytics.GetFeedbackCounts(ctx, params)
		if err != nil {
			yield(nil, err)
			return
		}
		yield(&store.Page{Rows: anyOf(p.Counts), More: p.HasMore, Last: true}, nil)
	}
}

func conversationPages(ctx context.Context, client *mintlify.Client, c store.Claim) pageSeq {
	params := mintlify.ConversationsParams{
		DateFrom: c.From,
		DateTo:   c.To,
		PageSize: pageSizes[c.Kind],
		Cursor:   c.Cursor(),
	}
	return convert(client.Analytics.ConversationPages(ctx, params), func(p *mintlify.ConversationPage) *store.Page {
		page := &store.Page{Cursor: p.NextCursor, More: p.HasMore}
		page.IDs = idsOf(p.Conversations, func(row mintlify.Conversation) string { return row.ID })
		for _, row := range p.Conversations {
			if !c.Texts {
				row = store.WithoutTexts(row)
			}
			page.Rows = append(page.Rows, row)
		}
		return page
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

func idsOf[T any](rows []T, id func(T) string) []string {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = id(row)
	}
	return ids
}

func anyOf[T any](rows []T) []any {
	all := make([]any, len(rows))
	for i, row := range rows {
		all[i] = row
	}
	return all
}
