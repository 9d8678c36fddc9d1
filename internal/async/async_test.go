package async_test

import (
	"errors"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mintlify-community/mintlify-go/internal/async"
)

// surfaced runs f by async.Go, and tells whether waiting for it returned, or else the panic
// that ended the wait.
func surfaced(f func()) (bool, any) {
	var returned bool
	var panicked any
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { panicked = recover() }()
		async.Go(f).Wait()
		returned = true
	}()
	<-done

	return returned, panicked
}

func TestWaitEndsAsTheFunctionDid(t *testing.T) {
	boom := errors.New("boom")
	for name, tc := range map[string]struct {
		f        func()
		returned bool
		panicked any
	}{
		"return": {func() {}, true, nil},
		"panic":  {func() { panic(boom) }, false, boom},
		"Goexit": {runtime.Goexit, false, nil},
	} {
		returned, panicked := surfaced(tc.f)
		assert.Equal(t, tc.returned, returned, name)
		assert.Equal(t, tc.panicked, panicked, name)
	}

	_, panicked := surfaced(func() { panic(nil) })
	assert.IsType(t, new(runtime.PanicNilError), panicked)
}

func TestDoneIsClosedHoweverTheFunctionEnds(t *testing.T) {
	for _, f := range []func(){func() {}, func() { panic("boom") }, runtime.Goexit} {
		run := async.Go(f)
		<-run.Done()
	}
}

func TestGoDoesNotWait(t *testing.T) {
	release := make(chan struct{})
	run := async.Go(func() { <-release })

	select {
	case <-run.Done():
		t.Error("the function has not ended")
	default:
	}

	close(release)
	run.Wait()
}
