package processes

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Run is a process of a program.
type Run struct {
	*exec.Cmd
	// Output is what the process prints where the command does not say otherwise.
	Output *Output

	ended chan struct{}
	err   error // how it ended, once ended is closed
}

// Self returns a command that runs the test's own program, whose TestMain looks at the environment. On Linux
// it dies with the test's process.
func Self(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)

	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.SysProcAttr = DyingWithParent()
	return cmd
}

// Start starts a command, and kills its process at the end of the test.
func Start(t *testing.T, cmd *exec.Cmd) *Run {
	t.Helper()
	r := &Run{Cmd: cmd, Output: &Output{began: make(chan struct{})}, ended: make(chan struct{})}
	if cmd.Stdout == nil {
		cmd.Stdout = r.Output
	}
	if cmd.Stderr == nil {
		cmd.Stderr = r.Output
	}
	require.NoError(t, cmd.Start())

	go func() {
		defer close(r.ended)
		r.err = cmd.Wait()
	}()
	t.Cleanup(func() { _ = r.End(os.Kill) })
	return r
}

// Wait waits until the process has ended, and returns how.
func (r *Run) Wait() error {
	<-r.ended
	return r.err
}

// HasEnded reports whether the process has ended.
func (r *Run) HasEnded() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// End sends the process a signal, unless it has ended, and waits for its end.
func (r *Run) End(signal os.Signal) error {
	_ = r.Process.Signal(signal)
	return r.Wait()
}

// WasKilled waits until the process has ended, and reports whether a signal has ended it.
func (r *Run) WasKilled() bool {
	<-r.ended
	return r.ProcessState.ExitCode() == -1
}

// KillAfter kills the process after a while. It reports false if the process has ended before by itself.
func (r *Run) KillAfter(while time.Duration) bool {
	select {
	case <-r.ended:
	case <-time.After(while):
		_ = r.End(os.Kill)
	}
	return r.WasKilled()
}

// UntilSignOfLife waits until the process has printed something, or has ended.
func (r *Run) UntilSignOfLife() {
	select {
	case <-r.ended:
	case <-r.Output.began:
	}
}

// Until waits until it finds that moment has come, or that the process has ended.
func (r *Run) Until(moment func() bool) {
	for !r.HasEnded() && !moment() {
		<-time.After(rand.N(5 * time.Millisecond)) // between two looks
	}
}

// Output is what a process has printed so far.
type Output struct {
	mu    sync.Mutex
	text  bytes.Buffer
	began chan struct{} // closed when the first of it comes
}

// Write implements [io.Writer].
func (o *Output) Write(data []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()

	if o.text.Len() == 0 {
		close(o.began)
	}
	return o.text.Write(data)
}

// String returns what was printed.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()

	return o.text.String()
}
