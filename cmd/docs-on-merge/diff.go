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

func (s stat) plus(t stat) stat {
	return stat{files: s.files + t.files, added: s.added + t.added, removed: s.removed + t.removed}
}

func (s stat) String() string {
	return fmt.Sprintf("files: %d, lines added: %d, removed: %d", s.files, s.added, s.removed)
}

// difference is the diff of two commits, cut to what may fit into a prompt.
type difference struct {
	stat stat
	// files has a line for each file.
	files excerpt
	// patches has one for each file.
	patches []*excerpt
}

// The options of git diff that take precedence over the user's configuration.
var diffOptions = []string{
	"--no-color", "--no-ext-diff", "--no-textconv", "--find-renames", "--diff-algorithm=default",
	"--submodule=short", "--ignore-submodules=none", "--src-prefix=a/", "--dst-prefix=b/",
	"-O/dev/null",
}

// maxPatches is how many bytes of a diff are read. A prompt has room for far less.
const maxPatches = 32 << 20

// counts counts the files and lines that differ between two commits.
func (g *git) counts(ctx context.Context, base, head string) stat {
	return g.readCounts(ctx, []string{base, head, "--"}, 0).stat
}

// diff compares two commits within the pathspecs, and keeps what may fit into a prompt of room bytes.
func (g *git) diff(ctx context.Context, base, head string, paths []string, room int) difference {
	args := append([]string{base, head, "--"}, paths...)
	d := g.readCounts(ctx, args, room)

	patches := excerpt{limit: maxPatches}
	g.runDiff(ctx, &patches, []string{"--patch", "--unified=3", "--inter-hunk-context=0"}, args)
	d.patches = split(patches)
	fit(d.patches, room)
	return d
}

func (g *git) runDiff(ctx context.Context, stdout io.Writer, format, args []string) {
	g.runTo(ctx, stdout, slices.Concat([]string{"diff"}, diffOptions, format, args)...)
}

// readCounts reads the difference without patches, and keeps at most room bytes of the list of files.
func (g *git) readCounts(ctx context.Context, args []string, room int) difference {
	var counts bytes.Buffer
	g.runDiff(ctx, &counts, []string{"--numstat"}, args)

	d := difference{files: excerpt{limit: room}}
	for line := range strings.Lines(counts.String()) {
		d.addCounts(strings.TrimSuffix(line, "\n"))
	}
	return d
}

// addCounts reads a line of --numstat: the counts of added and of removed lines, and the path.
func (d *difference) addCounts(line string) {
	addedText, rest, _ := strings.Cut(line, "\t")
	removedText, path, _ := strings.Cut(rest, "\t")
	added, _ := strconv.Atoi(addedText) // a binary file has "-", which becomes 0
	removed, _ := strconv.Atoi(removedText)

	d.stat = d.stat.plus(stat{files: 1, added: added, removed: removed})
	fmt.Fprintf(&d.files, "+%d -%d %s\n", added, removed, path)
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
