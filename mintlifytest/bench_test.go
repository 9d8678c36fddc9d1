package mintlifytest_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

func visitorRows(n int) []mintlify.Visitor {
	rows := make([]mintlify.Visitor, n)
	for i := range rows {
		rows[i] = mintlify.Visitor{Path: fmt.Sprint("/guides/page-", i), Human: int64(i), AI: 2, Total: int64(i) + 2}
	}
	return rows
}

func BenchmarkVisitorPages(b *testing.B) {
	svc := mintlifytest.NewService()
	svc.SetVisitors(visitorRows(5000))
	client := svc.Client()
	b.Run("through a client", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, err := range client.Analytics.VisitorPages(b.Context(), mintlify.VisitorsParams{}) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("alone", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for offset := 0; offset < 5000; offset += 250 {
				r, _ := http.NewRequestWithContext(b.Context(), "GET", fmt.Sprintf("https://api.example.com/v1/analytics/p/visitors?limit=250&offset=%d", offset), nil)
				r.Header.Set("Authorization", "Bearer "+mintlifytest.APIKey)
				resp, err := svc.RoundTrip(r)
				if err != nil || resp.StatusCode != 200 {
					b.Fatal(err, resp)
				}
				io.Copy(io.Discard, resp.Body)
			}
		}
	})
}
