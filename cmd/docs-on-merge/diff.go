package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// stat counts the files and lines of a change. A binary file counts as a file without lines.
type stat struct{ files, added, removed int }

func (s stat) String() string {
	return fmt.Sprintf("files: %d, lines added: %d, removed: %d", s.files, s.added, s.removed)
}

// The options of git diff that take precedence over the user's configuration.
var diffOptions = []string{
	"--no-color", "--no-ext-diff", "--no-textconv", "--find-renames", "--diff-algorithm=default",
	"--submodule=short", "--ignore-submodules=none", "--src-prefix=a/", "--dst-prefix=b/",
	"-O/dev/null",
}

// maxPatches is how many bytes of a diff are read. A prompt has room for far less.
const maxPatches = 32 << 20

// read adds what differs between two commits within the pathspecs, cut to what may fit into a prompt of room bytes.
func (c *change) read(ctx context.Context, g *git, base, head string, paths []string, room int) {
	args := append([]string{base, head, "--"}, paths...)
	c.files.limit = room
	c.readCounts(ctx, g, args)

	patches := excerpt{limit: maxPatches}
	g.runDiff(ctx, &patches, []string{"--patch", "--unified=3", "--inter-hunk-context=0"}, args)
	added := split(patches)
	fit(added, room)
	c.patches = append(c.patches, added...)
}

func (g *git) runDiff(ctx context.Context, stdout io.Writer, format, args []string) {
	g.runTo(ctx, stdout, slices.Concat([]string{"diff"}, diffOptions, format, args)...)
}

// readCounts reads lines of --numstat: the counts of added and of removed lines, and the path.
func (c *change) readCounts(ctx context.Context, g *git, args []string) {
	var counts bytes.Buffer
	g.runDiff(ctx, &counts, []string{"--numstat"}, args)

	for line := range strings.Lines(counts.String()) {
		addedText, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		removedText, path, _ := strings.Cut(rest, "\t")
		added, _ := strconv.Atoi(addedText) // a binary file has "-", which becomes 0
		removed, _ := strconv.Atoi(removedText)

		c.stat.files++
		c.stat.added += added
		c.stat.removed += removed
		fmt.Fprintf(&c.files, "+%d -%d %s\n", added, removed, path)
	}
}

// split returns the patch of each file.
func split(all excerpt) []*excerpt {
	var patches []*excerpt
	for line := range bytes.Lines(all.text) {
		if bytes.HasPrefix(line, []byte("diff --git ")) {
			patches = append(patches, new(excerpt))
		}
		if len(patches) > 0 {
			last := patches[len(patches)-1]
			last.text = append(last.text, line...)
		}
	}

	if all.isCut && len(patches) > 0 {
		patches[len(patches)-1].isCut = true
	}
	return patches
}
