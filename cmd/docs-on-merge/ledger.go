package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mintlify-community/mintlify-go/once"
)

// ledgerSize is how many of a branch's newest commits a ledger has.
const ledgerSize = 30

// ledger has the newest commits of a branch, the newest first, with what is on record of them.
type ledger struct {
	// branch is the branch's name, if that is known, and ref is the branch as the clone has it.
	branch, ref string
	commits     []entry
	// tags are the tags at these commits.
	tags []entry
}

// entry is a commit or a tag, and its record.
type entry struct {
	change
	commit commit
	record once.Record
	// isKnown says that there is a record or a skip.
	isKnown bool
}

func (e entry) name() string {
	if e.tag != "" {
		return e.head + " (" + e.tag + ")"
	}
	return e.head
}

// state is the state of the record. A claim that nobody can settle any more is unknown.
func (e entry) state() once.State {
	isLost := e.record.State == once.Sending && time.Now().After(e.record.Deadline)
	if isLost {
		return once.Unknown
	}
	return e.record.State
}

func (e entry) isYoungerThan(age time.Duration) bool { return time.Since(e.record.UpdatedAt) <= age }

// readLedgers reads the ledgers of the default branch and of each -branch. c has the repository. A commit of several
// branches is an entry of the first.
func (p *program) readLedgers(ctx context.Context, c change, projectID string, store once.Store) ([]ledger, error) {
	g := p.git
	tagsAt := g.tagsAt(ctx)
	name := p.defaultBranchName(ctx, g)
	ref := g.firstOf(ctx, "refs/remotes/origin/"+name, "refs/remotes/origin/HEAD", "HEAD")
	ledgers := []ledger{{branch: name, ref: ref}}
	for _, name := range p.options.branches {
		ref := g.firstOf(ctx, "refs/remotes/origin/"+name, branches+name)
		ledgers = append(ledgers, ledger{branch: name, ref: ref})
	}

	met := map[string]bool{}
	for i := range ledgers {
		l := &ledgers[i]
		c.branch = l.branch
		for _, found := range g.readLog(ctx, "--first-parent", fmt.Sprintf("--max-count=%d", ledgerSize), l.ref) {
			if met[found.name] {
				break
			}

			met[found.name] = true
			l.add(c, found, tagsAt[found.name])
		}
	}
	if g.err != nil {
		return nil, g.err
	}

	for _, l := range ledgers {
		for _, entries := range [][]entry{l.commits, l.tags} {
			if err := p.readRecords(ctx, entries, projectID, store); err != nil {
				return nil, err
			}
		}
	}
	return ledgers, nil
}

// add adds a commit and its tags.
func (l *ledger) add(c change, found commit, tagsOf []string) {
	c.head = found.name
	l.commits = append(l.commits, entry{change: c, commit: found})
	for _, tag := range tagsOf {
		c.tag = tag
		l.tags = append(l.tags, entry{change: c, commit: found})
	}
}

// readRecords reads what is on record of entries.
func (p *program) readRecords(ctx context.Context, entries []entry, projectID string, store once.Store) error {
	for i := range entries {
		e := &entries[i]
		var err error
		e.record, e.isKnown, err = p.recordOf(ctx, e.change, e.key(projectID), store)
		if err != nil {
			return err
		}
	}
	return nil
}

// firstOf returns the first of some refs that the clone has, and fails if it has none.
func (g *git) firstOf(ctx context.Context, refs ...string) string {
	for _, ref := range refs {
		if g.find(ctx, ref) != "" {
			return ref
		}
	}
	return g.commit(ctx, refs[0])
}

// tagsAt returns the tags of each commit that has some.
func (g *git) tagsAt(ctx context.Context) map[string][]string {
	at := map[string][]string{}
	list := g.run(ctx, "for-each-ref", "--format=%(objectname) %(*objectname) %(refname)", tags)
	for line := range strings.Lines(list) {
		names := strings.Fields(line) // the tag's object, its commit if that is another one, its name
		commit := names[len(names)-2]
		at[commit] = append(at[commit], names[len(names)-1])
	}
	return at
}

// baseOfEntry returns the commit before the change of the i-th commit, which no record has: where its pull request
// begins, else the nearest commit before it with a record or a skip. It returns "" if neither is known.
func (p *program) baseOfEntry(ctx context.Context, l ledger, i int) (string, error) {
	e := l.commits[i]
	pull, err := p.pullOf(ctx, e.change, e.head)
	if err == nil && pull.Number > 0 {
		pull, err = p.readPull(ctx, e.repository, pull.Number)
	}
	if err != nil {
		return "", err
	}

	if pull.Number > 0 {
		g := p.git
		base := p.baseOf(ctx, &g, pull, e.change)
		return base, g.err
	}

	earlier := slices.IndexFunc(l.commits[i+1:], func(e entry) bool { return e.isKnown })
	if earlier < 0 {
		return "", nil
	}
	return l.commits[i+1+earlier].head, nil
}

// withoutRecord returns the names of the commits that should have a record and have none: those since the first that
// has one which no change includes, but for those that no run documents. The young ones are of the last day, and their
// run may not have begun.
func (p *program) withoutRecord(ctx context.Context, l ledger) (old, young []string, err error) {
	g := p.git
	related := p.listRelated(ctx, &g, l.ref)
	covered := "" // the commit where the change begins that includes the commits before it
	for i, e := range l.sinceFirst() {
		if e.head == covered {
			covered = ""
		}

		isMissing := covered == "" && (related == nil || related[e.head]) && !p.isLeftAlone(e.commit)
		switch {
		case e.isKnown:
			covered, err = p.reach(ctx, l, i)
			if err != nil {
				return nil, nil, err
			}

		case isMissing && time.Since(e.commit.date) > longRunning:
			old = append(old, e.name())
		case isMissing:
			young = append(young, e.name())
		}
	}
	return old, young, g.err
}

// sinceFirst returns the commits from the oldest that has a record.
func (l ledger) sinceFirst() []entry {
	first := 0
	for i, e := range l.commits {
		if e.record.Version > 0 {
			first = i + 1
		}
	}
	return l.commits[:first]
}

// reach returns where the change of the i-th commit begins, if the commit before it is not known by itself.
func (p *program) reach(ctx context.Context, l ledger, i int) (string, error) {
	isAlone := i+1 == len(l.commits) || l.commits[i+1].isKnown
	if isAlone {
		return "", nil
	}
	return p.baseOfEntry(ctx, l, i)
}

// skipsRuns has what a commit's message says so that GitHub starts no run for it.
var skipsRuns = []string{"[skip ci]", "[ci skip]", "[no ci]", "[skip actions]", "[actions skip]", "skip-checks: true"}

// isLeftAlone reports whether no run documents a commit, or none may run.
func (p *program) isLeftAlone(c commit) bool {
	says := func(text string) bool { return strings.Contains(c.message, text) }
	return slices.ContainsFunc(skipsRuns, says) || p.options.skip.WhySkipCommit(c.message, c.author) != ""
}
