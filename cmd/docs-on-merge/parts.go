package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mintlify-community/mintlify-go/cmd/internal/merges"
)

// maxMerges is how many merges of a change, the newest, are checked one by one.
const maxMerges = 100

type part struct{ base, head string }

// merge is one of the merges of a change: a commit that the change has added to the branch.
type merge struct {
	part
	// pull is the zero value if the pull request is not known.
	pull pullRequest
	// skip says why the merge is left out. "" means that it is not.
	skip string
	// kept is what is left of the merge if some of its commits are left out. nil means that none is.
	kept []part
	// isUnrelated says that the merge touches none of the paths. Its words stay here.
	isUnrelated bool
}

// findMerges returns the merges of a change, the oldest first. pull is the pull request if the
// change is one.
func (p *program) findMerges(ctx context.Context, g *git, pull pullRequest, c change) []merge {
	all := part{c.base, c.head}
	if pull.Merged {
		return []merge{p.judge(ctx, g, merge{part: all, pull: pull})}
	}

	related := p.listRelated(ctx, g, all.head, "^"+all.base)
	found := p.listMerges(ctx, g, all)
	for i, one := range found {
		if related != nil && !related[one.head] {
			found[i].isUnrelated = true
			continue
		}

		pull, err := p.pullOf(ctx, c, one.head)
		if err != nil {
			g.fail(err)
			return nil
		}

		one.pull = pull
		found[i] = p.judge(ctx, g, one)
		if why := found[i].skip; why != "" {
			p.step.Printf("Left out %s: %s", one.head, why)
		}
	}
	return found
}

// listRelated returns the merges that touch a path of -path, or nil without -path.
func (p *program) listRelated(ctx context.Context, g *git, revisions ...string) map[string]bool {
	if len(p.options.paths) == 0 {
		return nil
	}

	args := []string{"log", "--no-show-signature", "--format=%H", "--first-parent", "--full-history"}
	args = append(append(args, revisions...), "--")
	related := map[string]bool{}
	for name := range strings.Lines(g.run(ctx, append(args, p.options.paths...)...)) {
		related[strings.TrimSpace(name)] = true
	}
	return related
}

// listMerges returns the commits that the change has added to the branch, the oldest first.
func (p *program) listMerges(ctx context.Context, g *git, all part) []merge {
	lines := g.run(ctx, "rev-list", "--first-parent", "--parents", fmt.Sprintf("--max-count=%d", maxMerges),
		all.head, "^"+all.base)
	var found []merge
	for line := range strings.Lines(lines) {
		names := strings.Fields(line) // itself, its parents
		one := merge{part: part{base: all.base, head: names[0]}}
		if len(names) > 1 {
			one.base = names[1]
		}
		found = append(found, one)
	}

	if len(found) == maxMerges {
		p.step.Printf("Only the newest %d merges are checked one by one.", maxMerges)
	}
	slices.Reverse(found)
	return found
}

// findParts returns the change without the merges that are left out. If there is none to leave
// out, the whole change is one part.
func (c change) findParts(found []merge) []part {
	return c.without(found, func(m merge) bool { return m.skip != "" })
}

// findTold returns the parts whose commits the prompt may list: of a merge that touches none of the
// paths it tells nothing.
func (c change) findTold(found []merge) []part {
	hasUnrelated := slices.ContainsFunc(found, func(m merge) bool { return m.isUnrelated })
	if hasUnrelated {
		c.base = found[0].base // of what came before nobody has checked the paths
	}
	return c.without(found, func(m merge) bool { return m.skip != "" || m.isUnrelated })
}

// without returns the parts of the change that are left if some merges are taken out, and of others the commits that
// are left out.
func (c change) without(found []merge, isOut func(merge) bool) []part {
	var parts []part
	base := c.base
	for _, merge := range found {
		isWhole := merge.kept == nil && !isOut(merge)
		if isWhole {
			continue
		}

		if base != merge.base {
			parts = append(parts, part{base, merge.base})
		}
		if !isOut(merge) {
			parts = append(parts, merge.kept...)
		}
		base = merge.head
	}

	if base != c.head {
		parts = append(parts, part{base, c.head})
	}
	return parts
}

// tell returns the titles and descriptions of the pull requests that are not left out.
func tell(found []merge) (title, body string) {
	told := map[int]bool{} // by number: a rebased pull request is several merges
	for _, merge := range found {
		if merge.skip != "" || merge.isUnrelated || told[merge.pull.Number] {
			continue
		}

		told[merge.pull.Number] = true
		title += strings.TrimSpace(merge.pull.Title) + "\n"
		body += strings.TrimSpace(merge.pull.Body) + "\n"
	}
	return title, body
}

// whySkip says why a merge needs no job, or returns "". If its pull request is not known, the
// messages and authors of its commits decide.
func (p *program) whySkip(m merge, commits []commit) string {
	if line := merges.NoneLine(m.pull.Body); line != "" {
		p.quoteNone(m.head, line)
		return merges.None
	}

	authors := authorsOf(commits)
	if m.pull.User.Login != "" {
		authors = [][]string{{m.pull.User.Login}}
	}
	return p.options.skip.WhySkip(m.pull.Body, authors...)
}

// quoteNone warns of a line that is read as the one that skips, but is written in another way.
func (p *program) quoteNone(commit, line string) {
	if !strings.EqualFold(line, merges.None) {
		p.step.Warnf("Commit %s is skipped because of the line %q, which is read as %q.", commit, line, merges.None)
	}
}
