package ci

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode"
)

// Printf logs text, line by line.
func (s *Step) Printf(format string, args ...any) {
	for _, line := range s.Lines(fmt.Sprintf(format, args...)) {
		fmt.Fprintln(s.Stderr, inert(line))
	}
}

// Print writes text to stdout, line by line.
func (s *Step) Print(text string) {
	for line := range strings.SplitSeq(strings.TrimRight(s.redact(text), "\n"), "\n") {
		fmt.Fprintln(s.Stdout, inert(OneLine(line)))
	}
}

// Write logs what packages flag and slog write.
func (s *Step) Write(text []byte) (int, error) {
	s.Printf("%s", text)
	return len(text), nil
}

// annotate logs a line that GitHub also shows on the page of the run.
func (s *Step) annotate(kind, text string) {
	text = inert(s.Clean(text))
	if s.OnGitHub() {
		text = "::" + kind + " title=" + s.Name + "::" + strings.ReplaceAll(text, "%", "%25")
	}
	fmt.Fprintln(s.Stderr, text)
}

// Clean returns foreign text as one line that prints and shows no secret.
func (s *Step) Clean(text string) string { return OneLine(s.redact(text)) }

var credentials = regexp.MustCompile(`(://)[^/@\s]*@`)

func (s *Step) redact(text string) string {
	for _, name := range []string{"MINTLIFY_API_KEY", "GITHUB_TOKEN"} {
		secret := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(s.Getenv(name)), "Bearer "))
		if len(secret) >= 8 {
			text = strings.ReplaceAll(text, secret, "[redacted]")
		}
	}
	return credentials.ReplaceAllString(text, "$1")
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

// lines returns the lines of foreign text that are not blank. A character that does not
// print could end a line, color it or hide it: it becomes a space.
func lines(text string) (all []string) {
	for line := range strings.SplitSeq(strings.ToValidUTF8(text, " "), "\n") {
		line = strings.TrimRight(strings.Map(func(r rune) rune {
			if unicode.IsPrint(r) {
				return r
			}
			return ' '
		}, line), " ")
		if line != "" {
			all = append(all, line)
		}
	}
	return all
}

// OneLine returns foreign text as one line that prints.
func OneLine(text string) string { return strings.Join(lines(text), " ") }

// Link returns text if it is a URL of the web, else "".
func (s *Step) Link(text string) string {
	u, err := url.Parse(s.Clean(text))
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return strings.NewReplacer("<", "%3C", ">", "%3E", " ", "%20").Replace(u.String())
}

// Lines returns the lines of foreign text that are not blank, without secrets.
func (s *Step) Lines(text string) []string { return lines(s.redact(text)) }

// Code returns text as a block of code in Markdown, which cannot end early.
func (s *Step) Code(text string) string {
	var b strings.Builder
	for _, line := range s.Lines(text) {
		b.WriteString("    " + line + "\n")
	}
	return b.String()
}
