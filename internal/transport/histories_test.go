package transport

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"testing"

	"github.com/stretchr/testify/require"
)

var histories = flag.Int("histories", 20_000, "random histories that compare the trail with the flags")

var (
	errAlert = alert("tls: bad certificate")
	errLost  = errors.New("the connection was lost")
	errGone  = errors.New("the caller has gone")
)

// The trail concludes the same as the flags beside it.
func TestTrailConcludesAsTheFlagsDo(t *testing.T) {
	for range *histories {
		seed := rand.Uint64()
		compare(t, rand.New(rand.NewPCG(seed, 0)), seed)
	}
}

func compare(t *testing.T, random *rand.Rand, seed uint64) {
	t.Helper()
	a := &Attempt{isGet: random.IntN(8) == 0}
	a.ctx, a.cancel = context.WithCancelCause(context.Background())
	defer a.cancel(nil)
	if a.isGet {
		a.trail.add(changesNothing)
	}
	if !a.isGet && random.IntN(3) > 0 {
		a.trail.add(aBody)
		a.hasBody = true
	}

	n := 1 + random.IntN(14)
	weights := make([]int, 12)
	for i := range weights {
		weights[i] = random.IntN(3)
		if i > 7 {
			weights[i] = random.IntN(2)
		}
	}
	if random.IntN(2000) == 0 {
		n = 3000 // more than a trail keeps of a kind
	}

	for range n {
		takeStep(a, random.IntN(12), weights)
		if n < 100 || random.IntN(100) == 0 {
			requireEqual(t, a, seed)
		}
	}
	requireEqual(t, a, seed)

	if a.responded {
		return
	}
	a.noProxy = random.IntN(10) == 0
	if a.noProxy {
		a.trail.add(proxyFailed)
	}
	err := []error{errLost, errors.New(goAway), errors.New(cannotRewind), errAlert}[random.IntN(4)]
	isAbandoned := a.abandoned
	v := a.trail.judge(err, isAbandoned)
	was := a.judge(err)
	if v.neverSent != a.NeverSent() || v.err.Error() != was.Error() ||
		errors.Is(v.err, ErrRepeatable) != errors.Is(was, ErrRepeatable) ||
		errors.Is(v.err, ErrClientCertificate) != errors.Is(was, ErrClientCertificate) {
		require.Failf(t, "verdicts differ", "seed %d, steps %v: %v, not %v, of %v", seed, a.trail.steps, v, was, err)
	}
}

func takeStep(a *Attempt, i int, weights []int) {
	if weights[i] == 0 {
		return
	}
	switch i {
	case 0:
		a.getConn("")
	case 1:
		a.gotConn(httptrace.GotConnInfo{})
	case 2:
		a.gotConn(httptrace.GotConnInfo{Reused: true})
	case 3:
		a.wroteHeaders()
	case 4:
		a.wroteRequest(httptrace.WroteRequestInfo{})
	case 5:
		a.gotFirstByte()
	case 6:
		if !a.isGet {
			_ = a.informational(103, nil)
		}
	case 7:
		if a.hasBody {
			_ = a.startRead()
		}
	case 8:
		a.end(errGone)
	case 9:
		a.mu.Lock()
		a.abandon(errGone)
		a.mu.Unlock()
	case 10:
		if !a.responded && weights[11] > 0 {
			a.respond(&http.Response{Body: http.NoBody})
		}
	}
	if a.grace != nil {
		a.grace.Stop()
	}
}

func requireEqual(t *testing.T, a *Attempt, seed uint64) {
	t.Helper()
	b := &a.trail
	was := []bool{
		a.isUnread(), a.isResponding(), a.isSent(), a.isUnsent(), a.abandoned != nil, a.responding, a.reused,
		a.hasBody && a.bodyRead && a.isReadAfterOnlyHeader(), a.isOnFirstConnection(), a.heard,
		errors.Is(a.retriedError(), errOwnRequest), a.headersWritten >= maxHeaders,
		a.informationals > maxInformationals,
	}
	is := []bool{
		b.isUnread(), b.isResponding(), b.isSent(), b.isUnsent(), b.isAbandoned(), b.hasByte(), b.isOnReused(),
		b.has(aBody) && b.isReadAfterOnlyHeader(), b.isOnFirstConnection(), b.isHeard(),
		errors.Is(b.retriedError(), errOwnRequest), b.count(wroteHeader) >= maxHeaders,
		b.count(informed) > maxInformationals,
	}
	for i := range was {
		if was[i] != is[i] {
			require.Failf(t, "conclusions differ", "%d: %v, not %v, seed %d, steps %v", i, is[i], was[i], seed, b.steps)
		}
	}
}
