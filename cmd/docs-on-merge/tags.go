package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
)

var (
	// version matches the name of a tag with a version: what stands before its first digit, and the rest.
	version = regexp.MustCompile(`^([^0-9]*)([0-9].*)$`)

	// prerelease matches the rest of a prerelease, such as 1.5.0-rc.1 and 1.5.0rc1.
	prerelease = regexp.MustCompile(`(?i)^[0-9]+([._][0-9]+)*(-|[._]?(a|b|c|m|rc|cr|ea|alpha|beta|pre|preview|dev|` +
		`snapshot|nightly|canary|next)[0-9]*([.-].*)?$)`)
)

func isPrerelease(tag string) bool {
	found := version.FindStringSubmatch(tag)
	return found != nil && prerelease.MatchString(found[2])
}

// previousTag returns the commit of the release before the change's own: of the nearest tag that has the same text
// before its first digit. Only a prerelease counts those before it.
func (p *program) previousTag(ctx context.Context, g *git, c change) string {
	own := strings.TrimPrefix(c.tag, tags)
	args := []string{"describe", "--tags", "--abbrev=0"}
	if found := version.FindStringSubmatch(own); found != nil {
		args = append(args, "--match="+escapeGlob(found[1])+"[0-9]*")
	}

	for {
		previous := g.run(ctx, append(args, c.head+"^")...)
		if g.err != nil {
			break
		}
		if isPrerelease(own) || !isPrerelease(previous) {
			p.step.Printf("The release before %s is %s.", own, previous)
			return g.commit(ctx, tags+previous)
		}
		args = append(args, "--exclude="+escapeGlob(previous))
	}

	hasRun := errors.As(g.err, new(*exec.ExitError))
	if c.head != "" && hasRun {
		g.err = fmt.Errorf("no tag before %s is in this clone: fetch all of it with its tags (fetch-depth: 0 of "+
			"actions/checkout), or enter as base where the change begins (on a command line: -base): %w", c.tag, g.err)
	}
	return ""
}

// escapeGlob returns a pattern of git that matches nothing but the name.
func escapeGlob(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(name)
}
