//go:build unix

package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/processtest"
	"github.com/mintlify-community/mintlify-go/mintlifytest"
	"github.com/mintlify-community/mintlify-go/once"
)

// TestMain runs the program itself in the processes that the tests start.
func TestMain(m *testing.M) {
	if os.Getenv("MERGE_SERVICE_TEST_PROCESS") != "" {
		main()
	}
	os.Exit(m.Run())
}

// process is a process of the program.
type process struct {
	*exec.Cmd
	log *bufio.Reader
}

func newProcess(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // it ends by itself
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = slices.Concat(env, []string{"MERGE_SERVICE_TEST_PROCESS=1"})
	cmd.Dir = t.TempDir()
	cmd.SysProcAttr = processtest.DyingWithParent()
	return cmd
}

// start starts the service, and returns the address at which it listens.
func start(t *testing.T, env []string) (*process, string) {
	t.Helper()
	cmd := newProcess(t, env)
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())

	p := &process{cmd, bufio.NewReader(stderr)}
	return p, p.await(t, `msg=listening addr=(\S+)`)
}

// await reads the log until a line matches pattern, and returns its first group.
func (p *process) await(t *testing.T, pattern string) string {
	t.Helper()
	wanted := regexp.MustCompile(pattern)
	for {
		line, err := p.log.ReadString('\n')
		if found := wanted.FindStringSubmatch(line); found != nil {
			return found[1]
		}
		require.NoError(t, err, "no line %s, the last one is %q", pattern, line)
	}
}

// end has the process stop, and returns the rest of its log.
func (p *process) end(t *testing.T) string {
	t.Helper()
	rest, err := io.ReadAll(p.log)
	require.NoError(t, err)
	require.NoError(t, p.Wait(), "%s", rest)
	return string(rest)
}

// environment returns the settings of a service on a fake, whose chat sends to texts.
func environment(t *testing.T, fake *mintlifytest.Service, records string, texts chan<- string) []string {
	t.Helper()
	api := httptest.NewServer(fake)
	t.Cleanup(api.Close)

	chat := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		texts <- string(text)
	}))
	t.Cleanup(chat.Close)

	return []string{
		"MINTLIFY_API_KEY=" + mintlifytest.APIKey,
		"MINTLIFY_PROJECT_ID=" + mintlifytest.ProjectID,
		"MINTLIFY_BASE_URL=" + api.URL,
		"WEBHOOK_SECRET=" + secret,
		"CHAT_URL=" + chat.URL,
		"RECORDS=" + records,
		"ADDR=127.0.0.1:0",
	}
}

func TestRequestInProgressAtSIGTERMIsFinished(t *testing.T) {
	fake := mintlifytest.NewService()
	fake.ScriptJob(mintlifytest.JobStep{Status: mintlify.JobCompleted}) // at the first poll
	records := filepath.Join(t.TempDir(), "records")
	texts := make(chan string, 1)
	env := environment(t, fake, records, texts)

	p, addr := start(t, env)
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	defer conn.Close()
	request := begin(t, conn)
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	awaitClosed(t, addr)
	assert.Equal(t, "HTTP/1.1 202 Accepted", request.finish(t))
	p.end(t)

	store, err := once.NewDir(records)
	require.NoError(t, err)
	record, err := store.Get(t.Context(), key)
	require.NoError(t, err)
	assert.Equal(t, once.Pending, record.State)
	assert.Empty(t, fake.Jobs())

	p, _ = start(t, env)
	assert.Contains(t, <-texts, "Docs for "+key)
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	log := p.end(t)
	assert.NotContains(t, log, mintlifytest.APIKey)
	assert.Len(t, fake.Jobs(), 1)
}

// awaitClosed waits until a listener takes no more connections: its process got the signal.
func awaitClosed(t *testing.T, addr string) {
	t.Helper()
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return true
		}
		conn.Close()
		return false
	}, time.Minute, time.Millisecond)
}

func TestCommandLine(t *testing.T) {
	fake := mintlifytest.NewService()
	full := environment(t, fake, filepath.Join(t.TempDir(), "records"), nil)
	taken, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()

	unset := []string{"MINTLIFY_API_KEY=", "MINTLIFY_PROJECT_ID=", "WEBHOOK_SECRET=", "CHAT_URL="}
	for name, test := range map[string]struct {
		env  []string // other values than full has
		args string
		code int
		says string
	}{
		"nothing set":       {unset, "", 2, "MINTLIFY_API_KEY, MINTLIFY_PROJECT_ID, WEBHOOK_SECRET, CHAT_URL must"},
		"an empty secret":   {[]string{"WEBHOOK_SECRET= "}, "", 2, "WEBHOOK_SECRET must be set"},
		"a bad key":         {[]string{"MINTLIFY_API_KEY=my key"}, "", 2, "white space"},
		"a bad chat":        {[]string{"CHAT_URL=hooks.example.com"}, "", 2, "CHAT_URL is not an http or https URL"},
		"a file as records": {[]string{"RECORDS=/dev/null"}, "", 2, "RECORDS cannot be used"},
		"an address in use": {[]string{"ADDR=" + taken.Addr().String()}, "", 2, "ADDR cannot be used: listen tcp"},
		"help":              {unset, "-h", 0, "WEBHOOK_SECRET"},
		"an unknown flag":   {nil, "-x", 2, "-x"},
		"an argument":       {nil, "demo", 2, `unexpected argument "demo"`},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := newProcess(t, slices.Concat(full, test.env), strings.Fields(test.args)...)
			var stdout, stderr strings.Builder
			cmd.Stdout = &stdout
			cmd.Stderr = &stderr
			_ = cmd.Run()
			assert.Equal(t, test.code, cmd.ProcessState.ExitCode(), stderr.String())
			if test.code == 0 {
				assert.Contains(t, stdout.String(), test.says)
				return
			}
			assert.Contains(t, stderr.String(), test.says)
			assert.Empty(t, stdout.String())
		})
	}
	assert.Empty(t, fake.Requests())
}

func TestDemo(t *testing.T) {
	said, err := newProcess(t, nil, "-demo").Output()
	require.NoError(t, err)
	assert.Equal(t, `This is a demo: it uses a fake of the service inside this program (mintlifytest).
A pull request is merged: 202, pending
GitHub delivers it again: 202, pending
The agent's pull request is merged: 200, nothing to do: the agent's own work for acme/api@5907854
Somebody guesses the secret: 401, not a whole event signed with this server's WEBHOOK_SECRET: payload signature check failed
The chat is told: Docs for acme/api@5907854: done https://github.com/example/docs/pull/1
Jobs of the agent: 1
`, string(said))
}
