package demo

import (
	"fmt"
	"math"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// views are more than visitors: some open a page again.
func (s *site) views(w window) []mintlify.View {
	days := mintlify.VisitorsParams{DateFrom: mintlify.DayOf(w.from), DateTo: mintlify.DayOf(w.to)}
	rows, _ := s.visitors(w.project, days)

	var all []mintlify.View
	for _, row := range rows {
		again := 1.15 + 0.6*noise(row.Path, "again")
		human := int64(math.Ceil(float64(row.Human) * again))
		ai := int64(math.Ceil(float64(row.AI) * (1.02 + again/10)))
		all = append(all, mintlify.View{Path: row.Path, Human: human, AI: ai, Total: human + ai})
	}
	return all
}

// callers ask the assistant mostly on the pages.
func (s *site) callers(w window) mintlify.CallerStats {
	web := int64(w.days() * 6 * (0.9 + 0.2*noise(w.String(), "web")))
	api := int64(w.days() * 1.4 * (0.9 + 0.2*noise(w.String(), "api")))
	other := int64(w.days() * 0.3)
	return mintlify.CallerStats{Web: web, API: api, Other: other, Total: web + api + other}
}

// searches were all made within the window, and before now.
func (s *site) searches(w window, now time.Time) []mintlify.SearchTerm {
	end := w.to
	if now.Before(end) {
		end = now
	}

	var all []mintlify.SearchTerm
	for i, term := range s.Terms {
		phase := 2 * math.Pi * noise(term, "phase")
		fashion := math.Exp(0.4 * math.Sin(w.middle()/(17+3*phase)+phase))
		hits := int64(w.days() * (32/float64(i+3) + 0.15) * fashion * (0.9 + 0.2*noise(w.String(), term)))
		if hits == 0 {
			continue
		}

		ago := time.Duration(noise(w.String(), term, "ago") * float64(end.Sub(w.from)) / float64(hits))
		last := end.Add(-ago - time.Minute).Truncate(time.Second).UTC()
		row := mintlify.SearchTerm{Query: term, Hits: hits, LastSearchedAt: last}
		if noise(term) > 0.45 {
			row.CTR = 20 + 60*noise(term, "ctr")
			row.TopClickedPage = pick(s.Paths[:12], term)
		}
		all = append(all, row)

		if i < typedTerms { // the service counts what readers type on the way
			row = mintlify.SearchTerm{Query: term[:2+i%3], Hits: 1 + hits/3, LastSearchedAt: last}
			all = append(all, row)
		}
	}
	return all
}

const typedTerms = 6

const (
	years       = 2 * 365 * 24 // hours, of what readers say
	thumbsApart = 2            // hours
	turnsApart  = 3            // hours
)

func (s *site) feedback(now time.Time) []mintlify.Feedback {
	var all []mintlify.Feedback
	for hour := thumbsApart; hour < years; hour += thumbsApart {
		at := ago(now, hour)
		key := at.Format(time.DateOnly) + fmt.Sprint(hour)
		path := s.readAt(key)

		helpful := noise(key, "helpful") < 0.35+0.6*noise(path)

		row := mintlify.Feedback{
			ID:        fmt.Sprint("feedback-", hour),
			Path:      path,
			CreatedAt: at,
			Source:    mintlify.FeedbackContextual,
			Status:    mintlify.FeedbackPending,
			Helpful:   &helpful,
		}

		if !helpful && noise(key, "comments") < 0.3 {
			row.Comment = pick(s.Comments, key)
			s.settle(&row, key)
		}
		all = append(all, row)
	}
	return all
}

// settle gives a complaint a status, and makes some those of agents, which give no thumbs.
func (s *site) settle(row *mintlify.Feedback, key string) {
	switch n := noise(key, "status"); {
	case n < 0.3:
		row.Status = mintlify.FeedbackResolved
	case n < 0.4:
		row.Status = mintlify.FeedbackDismissed
	}
	if noise(key, "agent") < 0.2 {
		row.Source = mintlify.FeedbackFromAgent
		row.Helpful = nil
	}
}

func (s *site) conversations(now time.Time) []mintlify.Conversation {
	var all []mintlify.Conversation
	for hour := turnsApart; hour < years; hour += turnsApart {
		at := ago(now, hour)
		key := at.Format(time.DateOnly) + fmt.Sprint(hour, "asks")
		question := pick(s.Questions, key)

		row := mintlify.Conversation{
			ID:               fmt.Sprint("conversation-", hour),
			Timestamp:        at,
			QueryCategory:    question[0],
			Query:            question[1],
			Response:         "See the guides.",
			ResolutionStatus: mintlify.ResolutionAnswered,
			PageURL:          "https://docs.example.com" + s.readAt(key),
		}

		if noise(key, "answered") < 0.4*noise(question[1]) {
			row.Response = "I could not find that in the documentation."
			row.ResolutionStatus = mintlify.ResolutionUnanswered
		}
		all = append(all, row)
	}
	return all
}

// readAt picks the page on which a reader writes something. It picks pages with many readers more often.
func (s *site) readAt(key string) string {
	const saidOn = 33
	for i := 0; ; i++ {
		path := pick(s.Paths[:min(int(3+(saidOn-3)*noise(key)), len(s.Paths))], fmt.Sprint(key, i))
		if s.liked(path) < forMachines { // nobody writes on files for machines
			return path
		}
	}
}

func pick[T any](from []T, key string) T { return from[int(noise(key, "pick")*float64(len(from)))] }

func ago(now time.Time, hours int) time.Time {
	return now.Add(-time.Duration(hours) * time.Hour).Truncate(time.Second).UTC()
}
