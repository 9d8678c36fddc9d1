package service

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/mintlify-community/mintlify-go/bench"
)

// Row is the i-th row of every export.
func Row(i int) bench.Row {
	return bench.Row{Path: fmt.Sprintf("/docs/section-%d/page-%d", i/100, i), Human: int64(i), AI: int64(i % 1000), Total: int64(i + 1)}
}

// FirstPage is the body of a full page.
func FirstPage() []byte { return render(0, bench.MaxLimit, bench.MaxLimit+1) }

var firstDay = time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)

// Search is the i-th row of the export of searches.
func Search(i int) bench.Search {
	return bench.Search{Query: fmt.Sprint("how to set option ", i), TopClickedPage: fmt.Sprintf("/docs/options/option-%d", i), Hits: int64(1000 - i), CTR: float64(i%100) + 0.5, LastSearchedAt: firstDay.Add(time.Duration(i) * time.Minute)}
}

// SearchesPage is the body of a full page of searches, which another one follows.
var SearchesPage = sync.OnceValue(func() []byte {
	body := []byte(`{"totalSearches":123456,"searches":[`)
	for i := range bench.SearchesLimit {
		row := Search(i)
		body = fmt.Appendf(body, `{"searchQuery":%q,"hits":%d,"ctr":%g,"topClickedPage":%q,"lastSearchedAt":%q},`, row.Query, row.Hits, row.CTR, row.TopClickedPage, row.LastSearchedAt.Format(time.RFC3339))
	}
	return append(body[:len(body)-1], `],"nextCursor":"c2"}`...)
})

// Conversation is the i-th row of the export of conversations, with a response of 9,000
// characters.
func Conversation(i int) bench.Conversation {
	return bench.Conversation{ID: fmt.Sprint("conversation-", i), Query: fmt.Sprint("How do I set option ", i, "?"), Response: response, Timestamp: firstDay.Add(time.Duration(i) * time.Minute), Sources: 2}
}

// response is as Markdown is: of many lines, which JSON escapes.
var response = strings.Repeat("Set it in the file `docs.json`, beside the name of the site.\n", 150)[:9000]

// ConversationsPage is the body of a page of conversations of the service's own size,
// which another one follows.
var ConversationsPage = sync.OnceValue(func() []byte {
	body := []byte(`{"conversations":[`)
	for i := range bench.ConversationsLimit {
		row := Conversation(i)
		body = fmt.Appendf(body, `{"id":%q,"timestamp":%q,"query":%q,"response":%q,"responseType":"answer",`, row.ID, row.Timestamp.Format(time.RFC3339), row.Query, row.Response)
		body = append(body, `"sources":[{"title":"Options","url":"/docs/options"},{"title":"docs.json","url":"/docs/settings"}],`...)
		body = append(body, `"resolutionStatus":"answered","queryCategory":null,"pageUrl":"/docs/options"},`...)
	}
	return append(body[:len(body)-1], `],"nextCursor":"c2","hasMore":true}`...)
})
