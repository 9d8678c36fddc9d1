package load

import (
	"context"
	"iter"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/cmd/docs-report/internal/store"
)

// pageSizes are the most rows there are: the quota counts requests, not rows. A page of
// 1,000 conversations may be larger than the SDK reads.
var pageSizes = map[store.Kind]int{
	store.Visitors: 250, store.Views: 250, store.Searches: 100, store.FeedbackByPage: 100, store.Feedback: 100, store.Conversations: 250,
}

// pages returns the pages of an export from where it has come to.
func (l *Loader) pages(ctx context.Context, client *mintlify.Client, e store.Export) iter.Seq2[*store.Page, error] {
	a, limit := client.Analytics, pageSizes[e.Kind]
	switch e.Kind {
	case store.Views:
		pages := a.ViewPages(ctx, mintlify.ViewsParams{DateFrom: e.From, DateTo: e.To, Limit: limit, Offset: e.Offset})
		return convert(pages, func(p *mintlify.ViewPage) *store.Page {
			return &store.Page{Rows: anyOf(p.Views), Totals: mintlify.VisitorTotals(p.Totals), More: p.HasMore}
		})
	case store.Searches:
		pages := a.SearchPages(ctx, mintlify.SearchesParams{DateFrom: e.From, DateTo: e.To, Limit: limit, Cursor: e.Cursor})
		return convert(pages, func(p *mintlify.SearchPage) *store.Page {
			return &store.Page{Rows: anyOf(p.Searches), Totals: mintlify.VisitorTotals{Total: p.TotalSearches}, Cursor: p.NextCursor, More: p.NextCursor != ""}
		})
	case store.Feedback:
		pages := a.FeedbackPages(ctx, mintlify.FeedbackParams{DateFrom: e.From, DateTo: e.To, Limit: limit, Cursor: e.Cursor})
		return convert(pages, func(p *mintlify.FeedbackPage) *store.Page {
			return &store.Page{Rows: anyOf(p.Feedback), Cursor: p.NextCursor, More: p.HasMore}
		})
	case store.FeedbackByPage: // it has no pages
		p, err := a.GetFeedbackByPage(ctx, mintlify.FeedbackByPageParams{DateFrom: e.From, DateTo: e.To, Limit: limit})
		if err != nil {
			p = &mintlify.FeedbackByPage{}
		}
		return func(yield func(*store.Page, error) bool) {
			yield(&store.Page{Rows: anyOf(p.Pages), More: p.HasMore, Last: true}, err)
		}
	case store.Conversations:
		pages := a.ConversationPages(ctx, mintlify.ConversationsParams{DateFrom: e.From, DateTo: e.To, Limit: limit, Cursor: e.Cursor})
		return convert(pages, func(p *mintlify.ConversationPage) *store.Page {
			if !l.Texts {
				dropTexts(p.Conversations)
			}
			return &store.Page{Rows: anyOf(p.Conversations), Cursor: p.NextCursor, More: p.HasMore}
		})
	}
	pages := a.VisitorPages(ctx, mintlify.VisitorsParams{DateFrom: e.From, DateTo: e.To, Limit: limit, Offset: e.Offset})
	return convert(pages, func(p *mintlify.VisitorPage) *store.Page {
		return &store.Page{Visitors: p.Visitors, Totals: p.Totals, More: p.HasMore}
	})
}

// dropTexts leaves what is not personal of conversations. A URL's query may name a person.
func dropTexts(rows []mintlify.Conversation) {
	for i, row := range rows {
		page, _, _ := strings.Cut(strings.ReplaceAll(row.PageURL, "#", "?"), "?")
		rows[i] = mintlify.Conversation{Timestamp: row.Timestamp, ResponseType: row.ResponseType, ResolutionStatus: row.ResolutionStatus, QueryCategory: row.QueryCategory, PageURL: page}
	}
}

func convert[P any](pages iter.Seq2[P, error], to func(P) *store.Page) iter.Seq2[*store.Page, error] {
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
