// Docs-on-merge turns a merge into a pull request of the documentation: it tells the
// documentation agent what was merged, waits, and puts the link where people look. It
// makes at most one job per project and merge, however often it runs. README.md says how
// to add it to a pipeline; -demo shows it on a fake of the service.
//
// Exit codes: 0 pull request, none needed, or skipped; 1 the job failed; 2 set-up; 3
// unknown, a job may exist; 4 still running; 5 not started.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"net/http"
	"os/exec"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/ci"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/once"
)

func main() {
	ci.Main("docs-on-merge", func(ctx context.Context, step *ci.Step, args []string) int {
		p := &program{step: step, git: git{exec: (*exec.Cmd).Run}, settle: time.Second, sendTime: time.Minute}
		return p.run(ctx, args)
	})
}

// program has the options and the tools of a run. What the run finds out goes as a value from
// step to step: an occasion becomes a change, the change a prompt, and the prompt a result, which
// is reported.
type program struct {
	step *ci.Step
	// git runs in the repository. Each use copies it, since it keeps its first error.
	git git
	// forge sends requests to GitHub's API. nil is the default transport.
	forge http.RoundTripper
	// gitHub has the job's token, and docsGitHub the token that may read the documentation's pull requests.
	gitHub, docsGitHub gitHub
	// place is the directory of the records, once that is open.
	place once.Store
	// settle is how long a status waits before it is read back.
	settle time.Duration
	// sendTime is for once.WithSendTime.
	sendTime time.Duration
	// isBlind says that GitHub has refused to tell about pull requests.
	isBlind bool

	options options
}

// result is what became of a change.
type result struct {
	// prompt is "" until it is made.
	prompt string
	// record is what is on record of the change's job. Its version is 0 if there is no record.
	record once.Record
	// hasSent says that this run has begun to send the prompt.
	hasSent bool
	// lost is what this run got instead of a response, if it has lost one.
	lost error
	// unrecorded is why the record of the job that this run has made could not be written, or nil.
	unrecorded error
	// finder is nil if there is nowhere to look for the pull request of a lost response.
	finder *finder
	// err says why the run ended before the job.
	err error
}

func (p *program) run(ctx context.Context, args []string) int {
	err := p.parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return p.report(change{}, result{err: err})
	case p.step.Demo:
		return p.demo(ctx)
	}

	if err := p.connectGitHub(); err != nil {
		return p.report(change{}, result{err: err})
	}

	ctx, cancel := context.WithTimeout(ctx, p.step.Timeout)
	defer cancel()
	switch {
	case p.options.check:
		return p.reportChecks(ctx)
	case p.options.catchUp:
		return p.reportCatchUp(ctx)
	}
	return p.report(p.work(ctx))
}

// connectGitHub makes the clients of GitHub, for all that asks it.
func (p *program) connectGitHub() error {
	token, err := p.token("GITHUB_TOKEN")
	if err != nil {
		return err
	}
	docsToken, err := p.token("GITHUB_DOCS_TOKEN")
	if err != nil {
		return err
	}

	p.gitHub = p.newGitHub(token)
	p.docsGitHub = p.newGitHub(cmp.Or(docsToken, token))
	return nil
}

// token returns a token of the environment without blanks at its ends. It refuses what net/http would not send: the
// run would take that for an outage.
func (p *program) token(name string) (string, error) {
	token := strings.TrimSpace(p.step.Getenv(name))
	isControl := func(r rune) bool { return r < ' ' || r == 0x7f }
	if strings.ContainsFunc(token, isControl) {
		return "", usage.Errorf("%s has a line break or another control character within it: it is not a token", name)
	}
	return token, nil
}

// work finds the change and documents it, or only makes its prompt.
func (p *program) work(ctx context.Context) (change, result) {
	what, err := p.findOccasion()
	if err == nil && p.options.job != "" && p.options.again {
		err = errors.New("job and again exclude each other")
	}
	if err != nil || what.skip != "" {
		return change{skip: what.skip}, result{err: err}
	}

	var c change
	err = p.patiently(ctx, func() (err error) {
		c, err = p.findChange(ctx, what)
		return err
	})
	if err != nil {
		return c, result{err: err}
	}
	if c.skip != "" {
		p.note(ctx, c, meanings[skipped].words+": "+c.skip)
		return c, result{}
	}

	if p.options.dryRun {
		return c, p.rehearse(ctx, c)
	}
	return c, p.documentPatiently(ctx, c, p.options.noWait)
}

// rehearse makes the prompt for a dry run, and checks the set-up.
func (p *program) rehearse(ctx context.Context, c change) result {
	prompt, err := p.makePrompt(c)
	wrong := p.logChecks(ctx) // tells what is wrong, also if there is no prompt
	if err == nil {
		err = wrong
	}
	if err == nil {
		p.note(ctx, c, meanings[rehearsed].words)
	}
	return result{prompt: prompt, err: err}
}
