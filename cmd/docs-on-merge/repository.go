package main

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"strings"
)

var errNoRepository = errors.New("the repository is not known, since the clone has no origin on a server: " +
	"give it as -repository owner/name, always the same")

// findRepository returns owner/name of the repository, or "". The folder's name is not part
// of it: by their folders, two clones of one repository would make two jobs.
func (p *program) findRepository(ctx context.Context, g git) string {
	known := cmp.Or(p.options.repository, p.step.Getenv("GITHUB_REPOSITORY"), p.step.Getenv("CI_PROJECT_PATH"))
	if known != "" {
		return known
	}
	return pathOfRemote(g.run(ctx, "remote", "get-url", "origin"))
}

// pathOfRemote returns the path of a remote's URL, without .git and escaped, or "" if the
// remote is a folder.
func pathOfRemote(remote string) string {
	scheme, address, isURL := strings.Cut(remote, "://")
	var path string
	if isURL && scheme != "file" {
		_, path, _ = strings.Cut(address, "/")
	}
	if !isURL {
		host, rest, _ := strings.Cut(remote, ":") // user@host:path
		isDrive := len(host) == 1
		if !isDrive && !strings.ContainsAny(host, `/\`) {
			path = rest
		}
	}

	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	escaped := url.URL{Path: path}
	return escaped.EscapedPath()
}
