package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
	"github.com/mintlify-community/mintlify-go/once/oncetest"
)

const commentEvent = `{
  "action": "created",
  "issue": {"number": 9, "body": "Documents --json.\n\ndocs-job: %s", "user": {"login": "mintlify[bot]"}},
  "comment": {"id": %d, "body": "/docs %s", "author_association": "MEMBER"},
  "repository": {"full_name": "acme/docs"}
}`

const openedEvent = `{
  "action": "opened",
  "pull_request": {
    "number": 9, "body": "Documents --json.\n\ndocs-job: %s", "user": {"login": "mintlify[bot]"},
    "html_url": "https://github.com/acme/docs/pull/9", "created_at": "%s"
  },
  "repository": {"full_name": "acme/docs", "default_branch": "main"}
}`

func TestCommentsReachTheJobInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(t, oncetest.NewStore())
		s.deliver(t, merge("It prints JSON."))
		for i := range 3 {
			time.Sleep(time.Second)
			for range 2 { // GitHub may deliver it twice
				comment := fmt.Sprintf(commentEvent, key, i, fmt.Sprint("change ", i))
				response := s.deliverEvent(t, "issue_comment", comment)
				assert.Equal(t, http.StatusAccepted, response.Code)
			}
		}
		s.workFor(t, time.Hour)

		var said []string
		for _, request := range s.fake.Requests() {
			if request.Operation == mintlify.OpSendMessage {
				_, text, _ := strings.Cut(request.Prompt, "\n\n")
				said = append(said, text)
			}
		}
		assert.Equal(t, []string{"change 0", "change 1", "change 2"}, said)
		assert.Len(t, s.fake.Jobs(), 1)
		assert.Len(t, s.texts, 4, "the chat is told of each")
	})
}

func TestWhichCommentsAreLeftOut(t *testing.T) {
	s := newSetup(t, oncetest.NewStore())
	good := fmt.Sprintf(commentEvent, key, 1, "x")

	for _, change := range [][2]string{
		{"created", "edited"},
		{"/docs ", "docs "},
		{"MEMBER", "NONE"},
		{"mintlify[bot]", "octocat"},
		{"docs-job: ", ""},
	} {
		require.Contains(t, good, change[0])

		response := s.deliverEvent(t, "issue_comment", strings.Replace(good, change[0], change[1], 1))
		assert.Equal(t, http.StatusOK, response.Code, change)
		assert.Contains(t, response.Body.String(), "nothing to do")
	}
	assertNothingStored(t, s.store)

	assert.Equal(t, http.StatusUnprocessableEntity, s.deliverEvent(t, "issue_comment", good).Code, "no merge is known")
}

// The response to a prompt is lost. GitHub tells of the agent's pull request: nobody has to look.
func TestPullRequestOfAnUnknownIsFound(t *testing.T) {
	for name, test := range map[string]struct {
		after time.Duration // from the merge, when the pull request was opened
		want  once.State
	}{
		"of this send": {5 * time.Minute, once.Done},
		"an older one": {-time.Hour, once.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSetup(t, oncetest.NewStore())
				s.fake.FailNext(mintlify.OpCreateJob, 1, mintlifytest.Fault{Status: 504, Acted: true})
				s.deliver(t, merge("It prints JSON."))
				opened := time.Now().Add(test.after).UTC().Format(time.RFC3339)
				s.workFor(t, 6*time.Minute)
				require.Len(t, s.texts, 1)
				assert.Contains(t, s.texts[0], key+": unknown", "a person is told")

				response := s.deliver(t, fmt.Sprintf(openedEvent, key, opened))
				assert.Equal(t, http.StatusOK, response.Code, response.Body)
				s.workFor(t, 10*time.Minute)

				record, err := s.store.Get(t.Context(), key)
				require.NoError(t, err)
				assert.Equal(t, test.want, record.State)
				if test.want == once.Done {
					assert.Contains(t, s.texts[len(s.texts)-1], "done https://github.com/acme/docs/pull/9")
				}
				assert.Len(t, s.fake.Jobs(), 1)
			})
		})
	}
}

// The chat is down while a merge ends, and the service restarts: the link is not lost.
func TestChatThatIsDownIsToldLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSetup(t, oncetest.NewStore())
		s.chatIsDown = true
		s.deliver(t, merge("It prints JSON."))
		s.workFor(t, 24*time.Hour)
		assert.Empty(t, s.texts)

		s.restart(t)
		s.chatIsDown = false
		s.workFor(t, time.Minute)
		assert.Equal(t, []string{"Docs for " + key + ": done https://github.com/example/docs/pull/1"}, s.texts)
	})
}
