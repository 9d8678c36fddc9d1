package main

import (
	_ "embed"
	"fmt"
	"strings"
	"text/template"
	"unicode"
)

// How much of a merge is told. How many of its commits and files is in merge.tmpl.
const (
	maxTitle = 200  // bytes of a title, a subject, or a file's name
	maxBody  = 4000 // bytes of a pull request's description
)

// merge is what a webhook tells of a merge. All of it is text by others.
type merge struct {
	Repository string // owner/repo
	SHA        string
	Pull       int // number of the pull request; 0 where it is not known
	Title      string
	Body       string
	Commits    []string // subjects
	Files      []string
}

//go:embed merge.tmpl
var mergeTemplate string

// mergePrompt writes a merge into an instruction for the agent. Text by others stands
// in it line by line behind a "> ", which the prompt says is data.
var mergePrompt = template.Must(template.New("merge.tmpl").Funcs(template.FuncMap{
	"line":  func(text string) string { return "> " + oneLine(text, maxTitle) },
	"lines": quoteLines,
	"short": func(sha string) string { return sha[:min(len(sha), 12)] },
	"first": func(n int, all []string) []string { return all[:min(n, len(all))] },
	"rest":  func(n int, all []string) int { return max(0, len(all)-n) },
}).Parse(mergeTemplate))

// prompt returns what is to be enqueued for m.
func (m merge) prompt(project string) (prompt, error) {
	if !isRepository(m.Repository) || !isSHA(m.SHA) {
		return prompt{}, fmt.Errorf("the event's repository %.80q or commit %.80q is not one of GitHub's", m.Repository, m.SHA)
	}
	var text strings.Builder
	if err := mergePrompt.Execute(&text, m); err != nil {
		return prompt{}, err
	}
	p := prompt{Key: m.Repository + "@" + m.SHA, Project: project, Prompt: text.String()}
	if m.Pull > 0 {
		p.Pull = fmt.Sprintf("%s#%d", m.Repository, m.Pull)
	}
	return p, p.check()
}

func isSHA(text string) bool {
	hex := strings.Trim(text, "0123456789abcdef") == ""
	return hex && (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0") != ""
}

func quoteLines(text string) string {
	if len(text) > maxBody {
		text = strings.ToValidUTF8(text[:maxBody], "") + "\n[truncated]"
	}
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n").Replace(strings.TrimSpace(text))
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight("> "+oneLine(line, maxBody), " ")
	}
	return strings.Join(lines, "\n")
}

// oneLine makes text from outside fit for a line: no control or invisible characters,
// white space folded, at most limit bytes.
func oneLine(text string, limit int) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, " "), func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit-len("…")], "") + "…"
}
