package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
)

// git runs git in a folder. If something fails, err says why, and git does not run any more.
type git struct {
	dir string
	// env is the environment that git gets. If it is nil, git gets the environment of the process.
	env []string
	// exec runs a command, such as (*exec.Cmd).Run.
	exec func(*exec.Cmd) error
	err  error
}

// maxOutput is how many bytes of git's output are kept.
const maxOutput = 8 << 20

// With gitEnv git neither translates its messages nor asks questions, and needs no user's name.
var gitEnv = []string{
	"LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0",
	"GIT_AUTHOR_NAME=docs-on-merge", "GIT_AUTHOR_EMAIL=docs-on-merge@localhost",
	"GIT_COMMITTER_NAME=docs-on-merge", "GIT_COMMITTER_EMAIL=docs-on-merge@localhost",
}

// isolatedEnv returns the environment for a repository that is not the user's. It leaves out all
// that has git use another repository, or hooks, templates and settings of the user. Git sets GIT_DIR
// in hooks and for rebase --exec. home is where git looks for settings.
func isolatedEnv(home string) []string {
	env := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return strings.HasPrefix(strings.ToUpper(variable), "GIT_")
	})
	return append(env, "HOME="+home, "XDG_CONFIG_HOME="+home,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
}

// gitSettings take precedence over the configuration of the user. Git 2.25 has no option that does. Version 2 of
// the protocol sends only the refs that are asked for.
var gitSettings = []string{
	"-c", "core.quotePath=off", "-c", "diff.relative=false", "-c", "protocol.version=2",
	"-c", "i18n.logOutputEncoding=UTF-8", "-c", "i18n.commitEncoding=UTF-8",
}

// run returns what git prints, up to maxOutput, without the last line break.
func (g *git) run(ctx context.Context, args ...string) string {
	out := excerpt{limit: maxOutput}
	g.runTo(ctx, &out, args...)
	return strings.TrimSuffix(string(out.text), "\n")
}

// runTo writes what git prints to stdout.
func (g *git) runTo(ctx context.Context, stdout io.Writer, args ...string) {
	if g.err != nil {
		return
	}

	cmd := exec.CommandContext(ctx, "git", slices.Concat(gitSettings, args)...)
	cmd.Dir = g.dir
	cmd.Env = g.env
	cmd.Env = append(cmd.Environ(), gitEnv...)
	cmd.WaitDelay = time.Second // the programs that git starts may outlive it
	stderr := excerpt{limit: maxOutput}
	cmd.Stdout = stdout
	cmd.Stderr = &stderr

	err := g.exec(cmd)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		return
	}

	// A terminal sends Ctrl-C to git, too, maybe before this process takes note of it.
	wasKilled := cmd.ProcessState != nil && cmd.ProcessState.ExitCode() < 0
	if wasKilled {
		err = ci.NotStarted.Of(err)
	}

	g.err = fmt.Errorf("git %s: %w", args[0], err)
	if said := bytes.TrimSpace(stderr.text); len(said) > 0 {
		g.err = fmt.Errorf("%w:\n%s", g.err, said)
	}
}

// fail sets err, unless something has failed before: git does not run any more.
func (g *git) fail(err error) {
	if g.err == nil {
		g.err = err
	}
}

const maxAttempts = 3

// retried calls a function again, up to maxAttempts times in all, as long as its error may pass: its
// outcome is not-started.
func retried(ctx context.Context, call func() error) error {
	for attempt := 1; ; attempt++ {
		err := call()
		isOver := attempt == maxAttempts || ci.OutcomeOf(err) != ci.NotStarted
		if isOver || !ci.Sleep(ctx, time.Duration(attempt)*time.Second) {
			return err
		}
	}
}

// unreachable matches what git, curl and ssh say if the network or the server fails.
var unreachable = regexp.MustCompile(`(?i)could not resolve|couldn't connect|(failed|unable) to connect|` +
	`unable to look up|connection (refused|reset|closed|timed out)|closed by remote host|broken pipe|timed out|` +
	`network is unreachable|no route to host|empty reply from server|(send|recv) failure|transfer closed|` +
	`not closed cleanly|early EOF|(HTTP|returned error:) (429|5[0-9][0-9])`)

// remoteTime is for each attempt: a send leaves time for another one.
const remoteTime = 30 * time.Second

var errStalled = ci.NotStarted.Of(fmt.Errorf("the remote did not respond within %v", remoteTime))

// runRemote is like run, for a command that uses a remote and is safe to repeat. It retries what
// fails because of the network. What it transfers must be small.
func (g *git) runRemote(ctx context.Context, args ...string) {
	if g.err != nil {
		return
	}

	g.err = retried(ctx, func() error {
		inTime, cancel := context.WithTimeoutCause(ctx, remoteTime, errStalled)
		defer cancel()

		attempt := *g
		attempt.run(inTime, args...)

		if attempt.err != nil && unreachable.MatchString(attempt.err.Error()) {
			return ci.NotStarted.Of(attempt.err)
		}
		return attempt.err
	})
}

// find returns the full name of the commit that ref names, or "" if there is none.
func (g *git) find(ctx context.Context, ref string) string {
	probe := *g
	return probe.run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
}

// commit is like find, but fails if there is no such commit.
func (g *git) commit(ctx context.Context, ref string) string {
	name := g.find(ctx, ref)
	if name != "" || g.err != nil {
		return name
	}

	if g.run(ctx, "rev-parse", "--is-shallow-repository") == "true" {
		g.fail(fmt.Errorf("%s is not in this clone, which is shallow: fetch all of it "+
			"(fetch-depth: 0 of actions/checkout, GIT_DEPTH: 0 of GitLab)", ref))
	}
	g.fail(fmt.Errorf("%q is not a commit of this clone (left out by a force push, misspelled, or not fetched): "+
		"give another base or head, or fetch all of it (fetch-depth: 0 of actions/checkout)", ref))
	return ""
}

// parent returns the first parent of a commit, or the empty tree if it has none.
func (g *git) parent(ctx context.Context, commit string) string {
	header := strings.Fields(g.run(ctx, "cat-file", "-p", commit)) // "tree", its name, "parent", its name
	if len(header) > 3 && header[2] == "parent" {
		return g.commit(ctx, header[3])
	}
	return g.emptyTree(ctx)
}

func (g *git) emptyTree(ctx context.Context) string {
	return g.run(ctx, "hash-object", "-w", "-t", "tree", os.DevNull)
}
