package ci

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/redact"
)

// minSecret is the shortest secret that is redacted. A shorter one would redact words.
const minSecret = 8

// Printf logs text, line by line.
func (s *Step) Printf(format string, args ...any) {
	for _, line := range s.Lines(fmt.Sprintf(format, args...)) {
		fmt.Fprintln(s.Stderr, inert(line))
	}
}

// Print writes text to stdout, line by line.
func (s *Step) Print(text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		fmt.Fprintln(s.Stdout, inert(s.OneLine(line)))
	}
}

// Write logs what packages flag and slog write.
func (s *Step) Write(text []byte) (int, error) {
	s.Printf("%s", text)
	return len(text), nil
}

// LogPolls returns a hook that logs a wait for people: what changes, what fails, else a
// line each heartbeat.
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

// Lines returns the lines of text from outside that are not blank, without secrets, each as
// [redact.Printable] returns it.
func (s *Step) Lines(text string) (lines []string) {
	for line := range strings.SplitSeq(s.redact(text), "\n") {
		if line = redact.Printable(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// OneLine returns text from outside as one line that prints and shows no secret.
func (s *Step) OneLine(text string) string { return strings.Join(s.Lines(text), " ") }

// Link returns text if it is a URL of the web, else "".
func (s *Step) Link(text string) string {
	u, err := url.Parse(s.OneLine(text))
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return strings.NewReplacer("<", "%3C", ">", "%3E", " ", "%20").Replace(u.String())
}

// Code returns text as a block of code in Markdown, which text cannot end.
func (s *Step) Code(text string) string {
	return "    " + strings.Join(s.Lines(text), "\n    ") + "\n"
}

func (s *Step) redact(text string) string {
	for _, name := range []string{"MINTLIFY_API_KEY", "GITHUB_TOKEN"} {
		secret := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(s.Getenv(name)), "Bearer "))
		if len(secret) >= minSecret {
			text = strings.ReplaceAll(text, secret, "[redacted]")
		}
	}
	return redact.UserInfo(text)
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
