package ci

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
)

const (
	minSecret  = 8        // bytes of a secret that is redacted: a shorter one would redact words
	maxFolded  = 64 << 10 // bytes of folded text
	codeIndent = "    "   // begins a line of code in Markdown
)

// Printf logs text, line by line.
func (s *Step) Printf(format string, args ...any) {
	for _, line := range s.lines(fmt.Sprintf(format, args...)) {
		fmt.Fprintln(s.Stderr, inert(line))
	}
}

// print writes text to stdout, line by line.
func (s *Step) print(text string) error {
	if text == "" {
		return nil
	}

	var lines strings.Builder
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		lines.WriteString(inert(s.OneLine(line)) + "\n")
	}
	_, err := io.WriteString(s.Stdout, lines.String())
	return err
}

// Write logs what package flag writes.
func (s *Step) Write(text []byte) (int, error) {
	s.Printf("%s", text)
	return len(text), nil
}

// ErrorLog returns a logger for people. It logs the text of errors, and nothing else.
func (s *Step) ErrorLog() *slog.Logger { return slog.New(errorLog{s}) }

type errorLog struct{ step *Step }

func (l errorLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelError }

func (l errorLog) Handle(_ context.Context, r slog.Record) error {
	l.step.Printf("%s", strings.TrimPrefix(r.Message, "once: "))
	return nil
}

func (l errorLog) WithAttrs([]slog.Attr) slog.Handler { return l }

func (l errorLog) WithGroup(string) slog.Handler { return l }

// LogPolls returns a hook that logs a wait for people: each change, each failure and, without
// either, a line each heartbeat.
func (s *Step) LogPolls(what string, heartbeat time.Duration) func(mintlify.Poll) {
	var last string
	var logged time.Duration
	return func(poll mintlify.Poll) {
		text := "the " + what + " is " + poll.Status
		if poll.Err != nil {
			text = fmt.Sprint("a poll failed: ", poll.Err)
		}
		if text == last && poll.Waited-logged < heartbeat {
			return
		}

		last = text
		logged = poll.Waited
		s.Printf("After %v: %s", poll.Waited.Round(time.Second), s.OneLine(text))
	}
}

// lines returns the lines of text from outside that are not blank, without secrets, each as
// [safetext.Printable] returns it.
func (s *Step) lines(text string) (lines []string) {
	for line := range strings.SplitSeq(s.Redact(text), "\n") {
		if line = safetext.Printable(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// OneLine returns text from outside as one line that prints and shows no secret.
func (s *Step) OneLine(text string) string { return strings.Join(s.lines(text), " ") }

// Link returns text if it is a URL of the web, else "".
func (s *Step) Link(text string) string {
	u, err := url.Parse(s.OneLine(text))
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return strings.NewReplacer("<", "%3C", ">", "%3E", " ", "%20").Replace(u.String())
}

// Code returns text as a block of code in Markdown. No text can end the block.
func (s *Step) Code(text string) string {
	return codeIndent + strings.Join(s.lines(text), "\n"+codeIndent) + "\n"
}

// cellEscapes keep text from ending a cell of a table, and from being Markdown or HTML.
var cellEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "|", "&#124;", "`", "&#96;",
	"[", "&#91;", "*", "&#42;", "_", "&#95;", "@", "&#64;", "!", "&#33;", `\`, "&#92;")

// Cell returns text as the text of a table's cell in Markdown.
func (s *Step) Cell(text string) string { return cellEscapes.Replace(s.OneLine(text)) }

// Folded returns text as a block of code in Markdown, folded under a title: at most 64 KiB
// in all. Of a longer text it leaves out the middle.
func (s *Step) Folded(title, text string) string {
	var block strings.Builder
	for line := range strings.SplitSeq(strings.Trim(s.Redact(text), "\n"), "\n") {
		if line = safetext.Printable(line); line != "" {
			line = codeIndent + line
		}
		block.WriteString(line + "\n")
	}

	before := "<details><summary>" + title + "</summary>\n\n"
	after := "\n</details>\n"
	return before + withoutMiddle(block.String(), maxFolded-len(before)-len(after)) + after
}

// withoutMiddle returns a block of code that is at most limit bytes long.
func withoutMiddle(block string, limit int) string {
	if len(block) <= limit {
		return block
	}

	const cut = "\n" + codeIndent + "(truncated)\n" + codeIndent
	half := (limit - len(cut)) / 2
	first := strings.ToValidUTF8(block[:half], "")
	last := strings.ToValidUTF8(block[len(block)-half:], "")
	return first + cut + strings.TrimSpace(last) + "\n"
}

// Redact returns text from outside without the secrets that the step knows.
func (s *Step) Redact(text string) string {
	for _, name := range []string{"MINTLIFY_API_KEY", "GITHUB_TOKEN", "GITHUB_DOCS_TOKEN"} {
		secret := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(s.Getenv(name)), "Bearer "))
		if len(secret) >= minSecret {
			text = strings.ReplaceAll(text, secret, "[redacted]")
		}
	}
	return safetext.WithoutUserInfo(text)
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
