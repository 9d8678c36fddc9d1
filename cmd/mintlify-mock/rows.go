package main

import (
	"fmt"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// days is how many days have a row of feedback and a conversation each, up to now.
const days = 60

// fill gives each export of fake rows that are made up: one of visitors and views for each page, and
// feedback and conversations of the last weeks.
func fill(fake *mintlifytest.Service, pages int) {
	visitors := make([]mintlify.Visitor, pages)
	views := make([]mintlify.View, pages)

	for i := range pages {
		human := int64(i * 7919 % 1009)
		ai := int64(i * 104729 % 503)

		visitors[i] = mintlify.Visitor{Path: page(i), Human: human, AI: ai, Total: human + ai}
		views[i] = mintlify.View{Path: page(i), Human: 3 * human, AI: 2 * ai, Total: 3*human + 2*ai}
	}
	fake.SetVisitors(visitors)
	fake.SetViews(views)

	now := time.Now().UTC().Truncate(time.Second)
	fake.SetSearches(searches(now))
	fake.SetFeedback(feedback(now))
	fake.SetConversations(conversations(now))
	fake.SetCallerStats(mintlify.CallerStats{Web: 310, API: 45, Other: 5, Total: 360})
}

func page(i int) string { return fmt.Sprintf("/guides/page-%d", i+1) }

func searches(now time.Time) []mintlify.SearchTerm {
	rows := []mintlify.SearchTerm{
		{Query: "api key", Hits: 240, CTR: 60, TopClickedPage: page(0)},
		{Query: "webhook", Hits: 215, CTR: 53, TopClickedPage: page(1)},
		{Query: "rate limit", Hits: 190, CTR: 46, TopClickedPage: page(2)},
		{Query: "sso", Hits: 165, CTR: 39, TopClickedPage: page(3)},
		{Query: "export", Hits: 140, CTR: 32, TopClickedPage: page(4)},
		{Query: "install", Hits: 115, CTR: 25, TopClickedPage: page(5)},
		{Query: "billing", Hits: 90, CTR: 18, TopClickedPage: page(6)},
		{Query: "delete account", Hits: 65},
	}

	for i := range rows {
		rows[i].LastSearchedAt = now.Add(-time.Duration(i+1) * time.Hour)
	}
	return rows
}

func feedback(now time.Time) []mintlify.Feedback {
	comments := []string{"", "The example does not compile.", "This helped, thank you.", "Which plan do I need?"}

	rows := make([]mintlify.Feedback, days)

	for i := range rows {
		isHelpful := i%3 > 0

		rows[i] = mintlify.Feedback{
			ID:        fmt.Sprintf("feedback_%d", i+1),
			Path:      page(i % 7),
			Comment:   comments[i%len(comments)],
			CreatedAt: now.AddDate(0, 0, -i),
			Source:    mintlify.FeedbackContextual,
			Status:    mintlify.FeedbackPending,
			Helpful:   &isHelpful,
		}
	}
	return rows
}

func conversations(now time.Time) []mintlify.Conversation {
	rows := make([]mintlify.Conversation, days)
	for i := range rows {
		source := mintlify.ConversationSource{Title: "A page", URL: "https://docs.example.com" + page(i%7)}

		rows[i] = mintlify.Conversation{
			ID:               fmt.Sprintf("conversation_%d", i/2+1),
			Timestamp:        now.AddDate(0, 0, -i),
			Query:            fmt.Sprintf("What does page %d say?", i%7+1),
			Response:         "Read it.",
			Sources:          []mintlify.ConversationSource{source},
			ResolutionStatus: mintlify.ResolutionAnswered,
		}

		if i%4 == 0 {
			rows[i].Response = "The documentation does not say."
			rows[i].Sources = nil
			rows[i].ResolutionStatus = mintlify.ResolutionUnanswered
		}
	}
	return rows
}
