package demo

import (
	"fmt"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
)

// NewService returns a fake of the service with made-up numbers of a site of that many
// pages, up to now.
func NewService(pages int, now time.Time) *mintlifytest.Service {
	svc := mintlifytest.NewService()
	svc.SetVisitorsFunc(Visitors(pages))
	svc.SetSearches(searches(now))
	svc.SetFeedback(feedback(now))
	svc.SetConversations(conversations(now))
	var views []mintlify.View
	for i, path := range paths(pages) {
		human := int64(52_000 / (i + 5))
		views = append(views, mintlify.View{Path: path, Human: human, AI: human / 3, Total: human + human/3})
	}
	svc.SetViews(views)
	return svc
}

const (
	readers = 730 * 24 // hours that the demo goes back
	each    = 5        // hours between two readers who say something
)

var terms = strings.Split("webhooks,rate limit,terraform,api key,sso,custom domain,dark mode,graphql,kubernetes,export csv,"+
	"docker compose,audit log,billing,invoice pdf,saml,webhook retry,pagination,sandbox,delete account,okta,python sdk,ruby sdk,"+
	"changelog rss,status page,ip allowlist,migration v1,quotas,search operators,localization,service account", ",")

// searches has terms that lead nowhere among those that do.
func searches(now time.Time) []mintlify.SearchTerm {
	var rows []mintlify.SearchTerm
	for i, term := range terms {
		row := mintlify.SearchTerm{Query: term, Hits: int64(900/(i+3)) + 4, LastSearchedAt: now.Add(-time.Duration(i*7) * time.Hour).UTC()}
		if noise(term) > 0.45 {
			row.CTR, row.TopClickedPage = 20+60*noise(term, "ctr"), wellKnown[i%len(wellKnown)]
		}
		rows = append(rows, row)
	}
	return rows
}

func feedback(now time.Time) []mintlify.Feedback {
	comments := []string{"The example does not compile with the current version.", "Which scopes does the key need?", "The link to the reference is broken.",
		"I could not find what the limit is.", "The screenshot shows an old dashboard."}
	var rows []mintlify.Feedback
	for hour := each; hour < readers; hour += each {
		key := fmt.Sprint(hour)
		at := int(noise(key, "page") * noise(key, "again") * float64(len(wellKnown)))
		helpful := noise(key, "helpful") < 0.35+0.6*noise(wellKnown[at])
		row := mintlify.Feedback{ID: "feedback-" + key, Path: wellKnown[at], CreatedAt: ago(now, hour), Source: mintlify.FeedbackContextual, Status: mintlify.FeedbackPending, Helpful: &helpful}
		if !helpful && hour%4 == 0 {
			row.Comment = comments[int(noise(key, "comment")*float64(len(comments)))]
		}
		rows = append(rows, row)
	}
	return rows
}

func conversations(now time.Time) []mintlify.Conversation {
	questions := map[string][]string{
		"Authentication": {"How do I rotate a key without downtime?", "Can one key serve two projects?", "How do I sign in with Okta?"},
		"Billing":        {"Can I get an invoice in euros?", "What happens at the end of the trial?"},
		"Integrations":   {"Is there a Terraform provider?", "How do I verify a webhook's signature?", "Does it work with GitLab on premises?"},
		"Limits":         {"How large may an upload be?", "What does a 429 mean here?"},
	}
	categories := []string{"Authentication", "Billing", "Integrations", "Limits"}
	var rows []mintlify.Conversation
	for hour := each; hour < readers; hour += each {
		key := fmt.Sprint(hour)
		category := categories[int(noise(key, "category")*float64(len(categories)))]
		asked := questions[category][int(noise(key, "question")*float64(len(questions[category])))]
		row := mintlify.Conversation{ID: "conversation-" + key, Timestamp: ago(now, hour), Query: asked, Response: "See the guides.", ResolutionStatus: mintlify.ResolutionAnswered,
			QueryCategory: category, PageURL: "https://docs.example.com" + wellKnown[int(noise(key, "page")*float64(len(wellKnown)))]}
		if noise(key, "answered") < 0.4*noise(asked) {
			row.Response, row.ResolutionStatus = "I could not find that in the documentation.", mintlify.ResolutionUnanswered
		}
		rows = append(rows, row)
	}
	return rows
}

func ago(now time.Time, hours int) time.Time {
	return now.Add(-time.Duration(hours) * time.Hour).Truncate(time.Second).UTC()
}
