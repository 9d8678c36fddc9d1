package main

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/cmd/internal/merges"
)

// options are the flags of the command line. The inputs of a workflow_dispatch set those that
// are not given, and take precedence over base and head.
type options struct {
	base, head string
	paths      []string
	// branches are those that merges count in besides the default one.
	branches []string
	// template is a file, and templateText the text itself.
	template, templateText string

	state      string
	job        string
	repository string
	// docsRepository is owner/name of the repository that gets the pull requests, or "".
	docsRepository string

	skip      merges.Authors
	heartbeat time.Duration
	maxPrompt int
	again     bool
	noWait    bool
	dryRun    bool
	check     bool
	catchUp   bool
	maxJobs   int
	withDiff  bool
}

func (p *program) parse(args []string) error {
	o := &p.options
	o.skip = merges.DefaultAuthors()
	p.step.Timeout = time.Hour

	flags := flag.NewFlagSet(p.step.Name, flag.ContinueOnError)
	flags.StringVar(&o.base, "base", "",
		"the `commit` before the change (default: of the event, else the tag before -head, else its parent)")
	flags.StringVar(&o.head, "head", "",
		"the `commit` or tag after the change (default: of the event, else HEAD)")

	flags.Func("path", "look only at this `pathspec` of git; may be repeated", func(path string) error {
		o.paths = append(o.paths, strings.TrimSpace(path))
		return nil
	})
	flags.Func("branch", "merges into this branch `name` count on the event pull_request, too; may be repeated",
		func(name string) error {
			o.branches = append(o.branches, strings.TrimPrefix(strings.TrimSpace(name), branches))
			return nil
		})
	flags.Func("skip-author", "skip the merges of this `login`, too (default: "+strings.Join(o.skip, ", ")+
		"); may be repeated", o.skip.Add)

	flags.StringVar(&o.template, "template", "",
		"a `file` with the prompt as a text/template (default: built in)")
	flags.StringVar(&o.templateText, "template-text", "",
		"the prompt as a text/template, instead of a file")
	flags.IntVar(&o.maxPrompt, "max-prompt", 32_000, "the longest prompt, in `bytes`")
	flags.BoolVar(&o.withDiff, "diff", true, "put the diff into the prompt, as far as it fits")

	flags.StringVar(&o.state, "state", "",
		"keep the record of jobs in this `directory`, or git:REMOTE in refs of a remote "+
			"(default: the commit's status if origin or -repository is on GitHub, "+
			"else docs-on-merge in the user's configuration directory)")
	flags.StringVar(&o.job, "job", "", "wait for the job with this `id` instead of sending the prompt")
	flags.BoolVar(&o.again, "again", false, "send the prompt again after unknown, failed or canceled")
	flags.DurationVar(&o.heartbeat, "heartbeat", time.Minute, "how often to log a wait without news")
	flags.StringVar(&o.repository, "repository", "",
		"`owner/name` (default: GitHub's or GitLab's, else the path of origin's URL)")
	flags.StringVar(&o.docsRepository, "docs-repository", "",
		"`owner/name` of the documentation on GitHub, whose pull requests tell what became of a lost response "+
			"(default: look once in the change's own repository)")

	flags.BoolVar(&o.noWait, "no-wait", false, "end once the job is made")
	flags.BoolVar(&o.dryRun, "dry-run", false, "print the prompt and make no job; needs no key")
	flags.BoolVar(&o.catchUp, "catch-up", false, "finish what earlier runs have left behind; on any event")
	flags.IntVar(&o.maxJobs, "max-jobs", 10, "the most `jobs` that -catch-up makes")
	flags.BoolVar(&o.check, "check", false, "check the set-up, make no job and write no status; on any event")

	if err := p.step.Parse(flags, args); err != nil {
		return err
	}
	switch {
	case p.step.Demo && flags.NFlag() > 1:
		return errors.New("-demo takes no other flag")
	case o.check && (o.dryRun || o.job != "" || o.again):
		return errors.New("-check excludes -dry-run, -job and -again")
	case o.catchUp && (o.check || o.dryRun || o.job != "" || o.again || o.base != "" || o.head != ""):
		return errors.New("-catch-up excludes -check, -dry-run, -job, -again, -base and -head")
	case o.template != "" && o.templateText != "":
		return errors.New("-template and -template-text exclude each other")
	case o.docsRepository != "" && !repositoryName.MatchString(o.docsRepository):
		return fmt.Errorf("-docs-repository %q is not the owner/name of a repository", o.docsRepository)
	case o.heartbeat <= 0 || o.maxPrompt <= 0 || o.maxJobs <= 0:
		return errors.New("-heartbeat, -max-prompt and -max-jobs must be more than 0")
	}
	return nil
}
