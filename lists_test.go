package mintlify_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
)

func TestListGivenTwiceIsReadAfresh(t *testing.T) {
	analytics := func(body string) *mintlify.AnalyticsService {
		return newClient(t, respondWith(200, body)).Analytics
	}
	feedback, err := analytics(`{"feedback":[{"id":"f1","contact":"reader@example.com"}],"hasMore":false,"feedback":[{"id":"f2"}]}`).GetFeedback(t.Context(), mintlify.FeedbackParams{})
	require.NoError(t, err)
	assert.Equal(t, []mintlify.Feedback{{ID: "f2"}}, feedback.Feedback)

	byPage, err := analytics(`{"feedback":[{"path":"/a","code":3}],"hasMore":false,"feedback":[{"path":"/b"}]}`).GetFeedbackByPage(t.Context(), mintlify.FeedbackByPageParams{})
	require.NoError(t, err)
	assert.Equal(t, []mintlify.PageFeedback{{Path: "/b"}}, byPage.Pages)

	conversations, err := analytics(`{"conversations":[{"id":"c1","query":"how?"}],"hasMore":false,"conversations":[
		{"id":"c2","sources":[{"title":"A","url":"/a"}],"sources":[{"title":"B"}]}]}`).GetConversations(t.Context(), mintlify.ConversationsParams{})
	require.NoError(t, err)
	assert.Equal(t, []mintlify.Conversation{{ID: "c2", Sources: []mintlify.ConversationSource{{Title: "B"}}}}, conversations.Conversations)

	conversations, err = analytics(`{"hasMore":false,"conversations":[{"id":"c","sources":[{"title":"A","url":"/a"}],"sources":[{"title":"B"}]}]}`).GetConversations(t.Context(), mintlify.ConversationsParams{})
	require.NoError(t, err)
	assert.Equal(t, []mintlify.Conversation{{ID: "c", Sources: []mintlify.ConversationSource{{Title: "B"}}}}, conversations.Conversations)
}

func TestListThatIsThenGivenAsNullIsMissing(t *testing.T) {
	_, err := newClient(t, respondWith(200, `{"conversations":[{"id":"c"}],"conversations":null,"hasMore":false,"new":[]}`)).Analytics.GetConversations(t.Context(), mintlify.ConversationsParams{})
	require.ErrorIs(t, err, mintlify.ErrMalformedResponse)
	assert.ErrorContains(t, err, "missing conversations")
}

// What looks like a list, its end or its items does not count within a text.
func TestTextOfARowCanHoldAnything(t *testing.T) {
	for _, text := range []string{`][{},`, `\"[[`, `\\`, strings.Repeat(",", 600_000), `\"` + strings.Repeat(",", 600_000), `\u005b\u0022,`} {
		page, err := newClient(t, respondWith(200, `{"feedback":[{"id":"f1","code":"`+text+`"},{"id":"f2"}],"hasMore":false,"nextCursor":null}`)).Analytics.GetFeedback(t.Context(), mintlify.FeedbackParams{})
		require.NoError(t, err)
		require.Len(t, page.Feedback, 2)
		assert.NotEmpty(t, page.Feedback[0].Code)
		assert.Equal(t, "f2", page.Feedback[1].ID)
	}
}

func TestListThatIsTooLongIsRefused(t *testing.T) {
	sources := `{"sources":[` + strings.Repeat("{},", 40_000) + `{}]}`
	for name, list := range map[string]string{
		"of rows":                  strings.Repeat("{},", 50_000) + "{}",
		"of rows that are null":    strings.Repeat("null,", 50_000) + "null",
		"of sources":               `{"sources":[` + strings.Repeat("{},", 50_000) + `{}]}`,
		"of rows with many others": strings.Repeat(sources+",", 15) + sources,
	} {
		_, err := newClient(t, respondWith(200, `{"conversations":[`+list+`],"hasMore":false}`)).Analytics.GetConversations(t.Context(), mintlify.ConversationsParams{})
		require.ErrorIs(t, err, mintlify.ErrMalformedResponse, name)
		assert.ErrorContains(t, err, "a list of more than 50000 items", name)
	}
	page, err := newClient(t, respondWith(200, `{"conversations":[`+strings.Repeat("{},", 49_999)+`{}],"hasMore":false}`)).Analytics.GetConversations(t.Context(), mintlify.ConversationsParams{})
	require.NoError(t, err)
	assert.Len(t, page.Conversations, 50_000)
}
