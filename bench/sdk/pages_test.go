package sdk

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/bench/service"
)

// export is one page of an export, as large as a full page of visitors.
type export struct {
	name   string
	memory float64 // that a page may allocate, in those of visitors
	body   []byte
	get    func(context.Context, *mintlify.AnalyticsService) error
}

// render repeats rows, each made by format from its number, up to size.
func render(size int, head, format, tail string) []byte {
	body := []byte(head)
	for i := 0; len(body) < size-len(tail); i++ {
		if i > 0 {
			body = append(body, ',')
		}
		body = fmt.Appendf(body, format, i)
	}
	return append(body, tail...)
}

func (e export) analytics() *mintlify.AnalyticsService {
	return connect("http://127.0.0.1:1", service.Fixed{Status: http.StatusOK, Body: e.body}).Analytics
}

func exports() []export {
	visitors := service.FirstPage()
	size := len(visitors)
	response := strings.Repeat("Set the key in the environment, then call `docs.New(…)`.\\n", 15)
	return []export{
		{"visitors", 1.05, visitors, func(ctx context.Context, a *mintlify.AnalyticsService) error {
			_, err := a.GetVisitors(ctx, mintlify.VisitorsParams{})
			return err
		}},
		{"views", 1.05, []byte(strings.Replace(string(visitors), `"visitors"`, `"views"`, 1)), func(ctx context.Context, a *mintlify.AnalyticsService) error {
			_, err := a.GetViews(ctx, mintlify.ViewsParams{})
			return err
		}},
		{"searches", 1.05, render(size, `{"searches":[`, `{"searchQuery":"how to set a key %[1]d","hits":%[1]d,"ctr":41.6,"topClickedPage":"/docs/section/page-%[1]d","lastSearchedAt":"2026-03-05T12:00:00.000Z"}`, `],"totalSearches":9876,"nextCursor":"01HX"}`), func(ctx context.Context, a *mintlify.AnalyticsService) error {
			_, err := a.GetSearches(ctx, mintlify.SearchesParams{})
			return err
		}},
		{"feedback", 1.3, render(size, `{"feedback":[`, `{"id":"65f1c0a2b3d4e5f60718%04[1]d","path":"/docs/section/page-%[1]d","comment":"The example does not say what the default is. I had to read the source to find out.","createdAt":"2026-03-05T12:00:00.000Z","source":"contextual","status":"pending","helpful":false,"contact":"reader-%[1]d@example.com"}`, `],"nextCursor":"01HX","hasMore":true}`), func(ctx context.Context, a *mintlify.AnalyticsService) error {
			_, err := a.GetFeedback(ctx, mintlify.FeedbackParams{})
			return err
		}},
		{"feedback-by-page", 1.05, render(size, `{"feedback":[`, `{"path":"/docs/section/page-%[1]d","thumbsUp":%[1]d,"thumbsDown":3,"code":2,"total":17}`, `],"hasMore":true}`), func(ctx context.Context, a *mintlify.AnalyticsService) error {
			_, err := a.GetFeedbackByPage(ctx, mintlify.FeedbackByPageParams{})
			return err
		}},
		{"conversations", 2.2, render(size, `{"conversations":[`, `{"id":"01HX%[1]d","timestamp":"2026-03-05T12:00:00.000Z","query":"how do I set a key?","response":"`+response+`","responseType":"answer","sources":[{"title":"Keys","url":"/docs/keys"},{"title":"Start","url":"/docs/start"}],"resolutionStatus":"answered","queryCategory":"auth","pageUrl":"https://docs.example.com/page-%[1]d"}`, `],"nextCursor":"01HX","hasMore":true}`), func(ctx context.Context, a *mintlify.AnalyticsService) error {
			_, err := a.GetConversations(ctx, mintlify.ConversationsParams{})
			return err
		}},
	}
}

// BenchmarkPage compares the exports with visitors, by CPU time too.
func BenchmarkPage(b *testing.B) {
	for _, export := range exports() {
		b.Run(export.name, func(b *testing.B) {
			analytics := export.analytics()
			b.SetBytes(int64(len(export.body)))
			b.ReportAllocs()
			start := cpuTime(b)
			for b.Loop() {
				if err := export.get(b.Context(), analytics); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(cpuTime(b)-start)/float64(b.N), "cpu-ns/op")
		})
	}
}

// cpuTime is what the process has used so far. On a busy machine it says more than a clock.
func cpuTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
