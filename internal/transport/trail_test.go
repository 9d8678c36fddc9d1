package transport

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var stepNames = map[string]step{
	"get":       changesNothing,
	"a-body":    aBody,
	"ask":       asked,
	"new":       gotNew,
	"reused":    gotReused,
	"header":    wroteHeader,
	"read":      beganBody,
	"written":   wroteRequest,
	"informed":  informed,
	"byte":      gotByte,
	"responded": responded,
	"abandoned": abandoned,
	"no-proxy":  proxyFailed,
}

func trailOf(t *testing.T, steps string) *trail {
	t.Helper()
	way := new(trail)
	for _, name := range strings.Fields(steps) {
		kind, ok := stepNames[name]
		require.True(t, ok, name)
		way.add(kind)
	}
	return way
}

// conclusions returns what a trail concludes, and what its end with err proves.
func conclusions(way *trail, err error) string {
	v := way.judge(err, context.Canceled)
	var names []string
	for _, c := range []struct {
		name string
		is   bool
	}{
		{"responding", way.isResponding()},
		{"sent", way.isSent()},
		{"never sent", v.neverSent},
		{"again", errors.Is(v.err, ErrRepeatable)},
		{"certificate", errors.Is(v.err, ErrClientCertificate)},
		{"canceled", errors.Is(v.err, context.Canceled)},
		{"must not restart", errors.Is(way.mustEnd(), errRetried)},
		{"own request", errors.Is(way.mustEnd(), errOwnRequest)},
		{"ten headers", errors.Is(way.mustEnd(), errHeaders)},
	} {
		if c.is {
			names = append(names, c.name)
		}
	}
	return strings.Join(names, ", ")
}

func TestWhatATrailConcludes(t *testing.T) {
	lost := errors.New("the connection was lost")
	away := errors.New(goAway)
	rewind := errors.New(cannotRewind)
	bad := alert("tls: bad certificate")

	const token = " ask new header written byte "
	const tenTokens = token + token + token + token + token + token + token + token + token + token
	for _, tc := range []struct {
		steps string
		err   error
		want  string
	}{
		// Without an event nothing is known.
		{"", lost, ""},
		{"a-body", lost, ""},
		{"a-body read", lost, ""},
		{"a-body abandoned", lost, "canceled"},
		{"a-body read abandoned", lost, "canceled"},
		{"no-proxy", lost, "never sent"},
		{"a-body no-proxy", lost, "never sent"},
		{"a-body read no-proxy", lost, "never sent"},

		// No connection.
		{"ask", lost, "never sent"},
		{"a-body ask", lost, "never sent"},
		{"a-body read ask", lost, "never sent"},
		{"a-body ask abandoned", lost, "never sent, canceled"},
		{"a-body read ask abandoned", lost, "never sent, canceled"},
		{"get ask", lost, "never sent"},

		// A connection, and no header.
		{"ask new", lost, "never sent"},
		{"ask new abandoned", lost, "canceled"},
		{"a-body ask new", lost, "never sent"},
		{"a-body ask new abandoned", lost, "never sent, canceled"},
		{"a-body ask new read", lost, "never sent"},
		{"a-body ask new read abandoned", lost, "canceled"},

		// A header.
		{"ask new header", lost, "sent, must not restart"},
		{"get ask new header", lost, "sent"},
		{"a-body ask new header", lost, "never sent"},
		{"a-body ask new header read", lost, "sent, must not restart"},
		{"a-body ask new header read written", lost, "sent, must not restart"},
		{"a-body ask new read header", lost, "sent, must not restart"},
		{"a-body ask new header abandoned", lost, "never sent, canceled"},
		{"a-body ask new header read abandoned", lost, "sent, canceled, must not restart"},
		{"ask new written", lost, "sent, must not restart"},

		// A response.
		{"ask new header written byte", lost, "responding, sent, own request"},
		{"ask new header written byte informed", lost, "sent, must not restart"},
		{"ask new header written byte informed byte", lost, "responding, sent, own request"},
		{"a-body ask new header read written byte", lost, "responding, sent, own request"},
		{"a-body ask new header read byte informed", lost, "sent, must not restart"},
		{"a-body responded", lost, "responding, sent, own request"},
		{"a-body ask abandoned responded", lost, "responding, sent, own request"},
		{"get ask abandoned responded", lost, "responding, sent, canceled"},
		{"ask responded abandoned", lost, "responding, sent, canceled, own request"},

		// A request of the transport's own, such as one for a token.
		{token, lost, "responding, sent, own request"},
		{"a-body" + token, lost, "never sent"},
		{"a-body" + token + "ask", lost, "never sent"},
		{"a-body" + token + "ask new header", lost, "never sent"},
		{"a-body" + token + "ask new header read", lost, "sent, must not restart"},
		{"a-body" + token + "ask new read", lost, "sent, must not restart"},
		{"a-body" + token + "ask new header read byte", lost, "responding, sent, own request"},
		{"a-body" + tenTokens, lost, "never sent, ten headers"},
		{"get" + tenTokens, lost, "responding, sent, ten headers"},

		// A GOAWAY that refuses the request.
		{"a-body ask new header read", away, "sent, never sent, again, must not restart"},
		{"a-body ask reused header read", away, "sent, never sent, again, must not restart"},
		{"a-body ask new header read written", away, "sent, never sent, again, must not restart"},
		{"a-body ask new header", away, "never sent, again"},
		{"a-body ask new header header", away, "never sent, again"},
		{"a-body", away, ""},
		{"a-body ask new read header", away, "sent, must not restart"},
		{"a-body ask new header read header", away, "sent, must not restart"},
		{"a-body ask new header header read", away, "sent, must not restart"},
		{"a-body ask new header read informed", away, "sent, must not restart"},
		{"a-body ask new header read byte", away, "responding, sent, own request"},
		{"a-body" + token + "ask new header read", away, "sent, must not restart"},
		{"ask new header", away, "sent, must not restart"},
		{"a-body ask new header read abandoned", away, "sent, never sent, canceled, must not restart"},

		// A connection that fails as a request takes it.
		{"a-body ask reused", lost, "never sent, again"},
		{"a-body ask reused header", lost, "never sent, again"},
		{"a-body ask reused header read", lost, "sent, must not restart"},
		{"ask reused", lost, "never sent"},
		{"a-body ask reused ask", lost, "never sent"},
		{"a-body ask reused ask new", lost, "never sent"},
		{"a-body ask new", rewind, "never sent, again"},
		{"a-body ask new header read", rewind, "sent, must not restart"},

		// A client certificate that the peer refuses.
		{"a-body ask new header read", bad, "sent, never sent, certificate, must not restart"},
		{"ask new header", bad, "sent, never sent, certificate, must not restart"},
		{"a-body ask", bad, "never sent, certificate"},
		{"a-body", bad, ""},
		{"a-body ask reused header read", bad, "sent, must not restart"},
		{"a-body ask new header read header", bad, "sent, must not restart"},
		{"a-body ask new header read ask new", bad, "sent, must not restart"},
		{"a-body ask new header read new", bad, "sent, must not restart"},
		{"a-body ask new header read byte", bad, "responding, sent, own request"},
	} {
		way := trailOf(t, tc.steps)
		before := slices.Clone(way.steps)
		assert.Equal(t, tc.want, conclusions(way, tc.err), "%s: %v", tc.steps, tc.err)
		assert.Equal(t, before, way.steps, "a conclusion changes nothing")
	}
}

// HTTP/2 asks for connections again and again.
func TestTrailKeepsTheLatestOfEachKind(t *testing.T) {
	way := trailOf(t, "a-body ask new header read")
	for range 3 * maxSteps {
		way.add(asked)
	}
	assert.Equal(t, maxSteps, way.count(asked))
	assert.Len(t, way.steps, maxSteps+4)
	assert.Equal(t, "sent, never sent, again, must not restart", conclusions(way, errors.New(goAway)), "no proof is lost")

	way.add(gotReused)
	for range maxSteps - 1 {
		way.add(wroteHeader)
	}
	assert.Equal(t, maxSteps, way.count(wroteHeader))
	assert.True(t, way.isOnReused())
	way.add(wroteHeader)
	assert.False(t, way.isReadAfterOnlyHeader(), "the first header was dropped, and is not forgotten")
}
