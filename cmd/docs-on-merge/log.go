package main

import (
	"fmt"
	"io"
	"net/url"
	"strings"
	"unicode"
)

// log writes lines for people. A runner reads its commands from the same lines: what
// comes from outside must not become one, and no line shows a secret.
type log struct {
	out      io.Writer
	annotate bool // in GitHub's way
	secrets  *strings.Replacer
}

func (p *program) newLog(out io.Writer, annotate bool) *log {
	var pairs []string
	for _, name := range []string{"MINTLIFY_API_KEY", "GITHUB_TOKEN"} {
		secret := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(p.getenv(name)), "Bearer "))
		if len(secret) >= 8 {
			pairs = append(pairs, secret, "[redacted]")
		}
	}
	return &log{out, annotate, strings.NewReplacer(pairs...)}
}

// printf writes text, line by line.
func (l *log) printf(format string, args ...any) {
	text := l.secrets.Replace(fmt.Sprintf(format, args...))
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		fmt.Fprintln(l.out, inert(oneLine(line)))
	}
}

// Write logs what package flag has to say.
func (l *log) Write(text []byte) (int, error) {
	l.printf("%s", text)
	return len(text), nil
}

// conclude writes what GitHub is to show on the run's page: a notice or an error.
func (l *log) conclude(kind, text string) {
	text = inert(oneLine(l.secrets.Replace(text)))
	if l.annotate {
		text = "::" + kind + " title=docs-on-merge::" + strings.ReplaceAll(text, "%", "%25")
	}
	fmt.Fprintln(l.out, text)
}

// inert breaks up what a runner would take for a command: :: at the start of a line,
// and the old ##[ anywhere in it.
func inert(line string) string {
	line = strings.ReplaceAll(line, "##[", "# #[")
	if start := strings.TrimSpace(line); strings.HasPrefix(start, "::") {
		return ": " + start[1:]
	}
	return line
}

// lines returns the lines of foreign text that are not blank. What does not print, and
// so could end a line for a runner or hide one, becomes a space.
func lines(text string) (lines []string) {
	for line := range strings.SplitSeq(strings.ToValidUTF8(text, " "), "\n") {
		line = strings.TrimRight(strings.Map(func(r rune) rune {
			if unicode.IsPrint(r) {
				return r
			}
			return ' '
		}, line), " ")
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func oneLine(text string) string { return strings.Join(lines(text), " ") }

// link returns a URL of the web, or "" for anything else.
func link(text string) string {
	u, err := url.Parse(oneLine(text))
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return strings.NewReplacer("<", "%3C", ">", "%3E", " ", "%20").Replace(u.String())
}
