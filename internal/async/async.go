// Package async runs a function in a goroutine of its own as if it ran in the caller's: a
// panic or Goexit surfaces in whoever waits for it.
package async

import "runtime"

// Run is a running function, made by [Go].
type Run struct {
	done     chan struct{}
	returned bool
	panicked any
}

// Go runs f in a goroutine of its own.
func Go(f func()) *Run {
	r := &Run{done: make(chan struct{})}

	go func() {
		defer close(r.done)
		defer func() {
			if !r.returned {
				r.panicked = recover() // nil after runtime.Goexit
			}
		}()

		f()
		r.returned = true
	}()

	return r
}

// Done is closed when f has ended.
func (r *Run) Done() <-chan struct{} { return r.done }

// Wait returns when f has returned. If f panicked, Wait panics with the same value. If f
// ended its goroutine, as t.FailNow does, Wait ends the caller's.
func (r *Run) Wait() {
	<-r.done

	switch {
	case r.returned:
	case r.panicked != nil:
		panic(r.panicked)
	default:
		runtime.Goexit()
	}
}
