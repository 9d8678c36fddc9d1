package demo

import (
	"fmt"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// NewService returns a fake of the service with made-up numbers of a site of that many
// pages, up to now.
func NewService(pages int, now time.Time) *mintlifytest.Service {
	site, svc := newSite(pages), mintlifytest.NewService()
	svc.SetVisitorsFunc(site.visitors)
	var views []mintlify.View
	for i, page := range site.pages {
		human := int64(52_000 / (i + 5))
		views = append(views, mintlify.View{Path: page.path, Human: human, AI: human / 3, Total: human + human/3})
	}
	svc.SetViews(views)
	var searches []mintlify.SearchTerm
	for i, term := range site.Terms {
		row := mintlify.SearchTerm{Query: term, Hits: int64(900/(i+3)) + 4, LastSearchedAt: ago(now, 7*i)}
		if noise(term) > 0.45 {
			row.CTR, row.TopClickedPage = 20+60*noise(term, "ctr"), pick(site.Paths, term)
		}
		searches = append(searches, row)
	}
	svc.SetSearches(searches)

	const years, apart = 2 * 365 * 24, 5 // hours between two readers who say something
	var feedback []mintlify.Feedback
	var conversations []mintlify.Conversation
	for hour := apart; hour < years; hour += apart {
		key := fmt.Sprint(hour)
		path, question := pick(site.Paths[:int(3+30*noise(key))], key), pick(site.Questions, key)
		helpful := noise(key, "helpful") < 0.35+0.6*noise(path)
		comment := mintlify.Feedback{ID: key, Path: path, CreatedAt: ago(now, hour), Source: mintlify.FeedbackContextual, Status: mintlify.FeedbackPending, Helpful: &helpful}
		if !helpful && hour%4 == 0 {
			comment.Comment = pick(site.Comments, key)
		}
		feedback = append(feedback, comment)
		turn := mintlify.Conversation{ID: key, Timestamp: ago(now, hour), QueryCategory: question[0], Query: question[1], Response: "See the guides.",
			ResolutionStatus: mintlify.ResolutionAnswered, PageURL: "https://docs.example.com" + path}
		if noise(key, "answered") < 0.4*noise(question[1]) {
			turn.Response, turn.ResolutionStatus = "I could not find that in the documentation.", mintlify.ResolutionUnanswered
		}
		conversations = append(conversations, turn)
	}
	svc.SetFeedback(feedback)
	svc.SetConversations(conversations)
	return svc
}

func pick[T any](from []T, key string) T { return from[int(noise(key, "pick")*float64(len(from)))] }

func ago(now time.Time, hours int) time.Time {
	return now.Add(-time.Duration(hours) * time.Hour).Truncate(time.Second).UTC()
}
