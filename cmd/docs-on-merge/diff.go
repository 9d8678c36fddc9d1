package main

import (
	"bytes"
	"context"
	"fmt"
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
	"--no-color", "--no-ext-diff", "--no-textconv", "--find-renames", "--diff-algorithm=default", "--unified=3",
	"--inter-hunk-context=0", "--submodule=short", "--ignore-submodules=none", "--src-prefix=a/", "--dst-prefix=b/",
	"-O/dev/null",
}

// counts counts the files and lines that differ between two commits.
func (g *git) counts(ctx context.Context, base, head string) stat {
	reader := diffReader{line: excerpt{limit: maxOutput}}
	args := append([]string{"diff", "--numstat"}, diffOptions...)
	g.runTo(ctx, &reader, append(args, base, head, "--")...)

	return reader.diff.stat
}

// diff compares two commits within the pathspecs. However large the change is, diff keeps only
// what may fit into a prompt of room bytes.
func (g *git) diff(ctx context.Context, base, head string, paths []string, room int) difference {
	reader := diffReader{room: room, line: excerpt{limit: room}}
	reader.diff.files.limit = room

	args := append([]string{"diff", "--numstat", "--patch"}, diffOptions...)
	args = append(args, base, head, "--")
	g.runTo(ctx, &reader, append(args, paths...)...)
	if len(reader.line.text) > 0 {
		reader.endLine() // the last line may have no line break
	}

	reader.diff.trim(room)
	return reader.diff
}

// diffReader reads what git diff --numstat --patch prints as it comes.
type diffReader struct {
	diff difference
	room int
	// line is the beginning of a line whose end has not come yet.
	line excerpt
	// isInPatches says that the counts have ended and the patches have begun.
	isInPatches bool
	// kept counts the bytes of the patches.
	kept int
}

// Write implements [io.Writer].
func (d *diffReader) Write(data []byte) (int, error) {
	for rest := data; len(rest) > 0; {
		line, after, hasEnded := bytes.Cut(rest, []byte("\n"))
		_, _ = d.line.Write(line) // it cannot fail
		if hasEnded {
			d.endLine()
		}
		rest = after
	}
	return len(data), nil
}

func (d *diffReader) endLine() {
	switch {
	case d.isInPatches:
		d.addToPatches(d.line)
	case len(d.line.text) == 0:
		d.isInPatches = true
	default:
		d.addCounts(string(d.line.text))
	}

	d.line.text = d.line.text[:0]
	d.line.isCut = false
}

// addCounts reads a line of --numstat: the counts of added and of removed lines, and the path.
func (d *diffReader) addCounts(line string) {
	addedText, rest, _ := strings.Cut(line, "\t")
	removedText, path, _ := strings.Cut(rest, "\t")
	added, _ := strconv.Atoi(addedText) // a binary file has "-", which becomes 0
	removed, _ := strconv.Atoi(removedText)

	d.diff.stat = d.diff.stat.plus(stat{files: 1, added: added, removed: removed})
	fmt.Fprintf(&d.diff.files, "+%d -%d %s\n", added, removed, path)
}

// patchesKept limits the memory: once the patches take patchesKept times the room of a prompt,
// addToPatches cuts them.
const patchesKept = 8

func (d *diffReader) addToPatches(line excerpt) {
	if bytes.HasPrefix(line.text, []byte("diff --git ")) {
		d.diff.patches = append(d.diff.patches, &excerpt{limit: d.room})
	}
	if len(d.diff.patches) == 0 {
		return
	}

	last := d.diff.patches[len(d.diff.patches)-1]
	before := len(last.text)
	line.text = append(line.text, '\n')
	last.add(line, d.room)
	d.kept += len(last.text) - before

	if d.kept > patchesKept*d.room {
		d.diff.trim(patchesKept / 2 * d.room)
		d.kept = sizeOf(d.diff.patches)
	}
}

// trim cuts patches until all of them have at most room bytes.
func (d *difference) trim(room int) {
	fit(d.patches, room)
	d.patches = withoutGone(d.patches)
}
