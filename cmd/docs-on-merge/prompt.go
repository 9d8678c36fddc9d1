package main

import (
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/template"

	"github.com/mintlify-community/mintlify-go/cmd/internal/merges"
	"github.com/mintlify-community/mintlify-go/once"
)

//go:embed prompt.tmpl
var defaultTemplate string

const (
	truncated = "(truncated)\n"
	maxText   = 8 << 20 // bytes of a text that are looked at at all
	aroundKey = 100     // bytes that package once adds to a prompt, and the project's hash
)

// promptData is what a template may use. What others wrote is quoted here, so that no
// template can forget to.
type promptData struct {
	Repository, Commit, Base, Tag      string
	Stat                               string // the counts of files and lines
	Title, Body, Subjects, Files, Diff string
}

// makePrompt tells the agent what was merged. It is made to fit by halving what is
// largest: the diff of a file, or a list once no diff is left.
func (p *program) makePrompt(c change) (string, error) {
	text := defaultTemplate
	if p.options.template != "" {
		file, err := os.ReadFile(p.options.template)
		if err != nil {
			return "", fmt.Errorf("-template: %w", err)
		}
		text = string(file)
	}
	parsed, err := template.New("prompt").Option("missingkey=error").Parse(text)
	if err != nil {
		return "", fmt.Errorf("the template cannot be parsed: %w", err)
	}
	title, body, subjects, files := p.quote(c.title), p.quote(c.body), p.quote(c.subjects), p.quote(c.files)
	diffs := make([]*quoted, len(c.diffs))
	for i, diff := range c.diffs {
		diffs[i] = p.quote("diff --git " + diff)
	}
	for {
		var prompt strings.Builder
		data := promptData{c.repository, c.head, c.base, strings.TrimPrefix(c.tag, tags), c.stat.String(), join(title), join(body), join(subjects), join(files), join(diffs...)}
		if err := parsed.Execute(&prompt, data); err != nil {
			return "", fmt.Errorf("the template cannot be filled in: %w", err)
		}
		over := prompt.Len() + len(once.Marker(c.key())) + aroundKey - p.options.maxPrompt
		if over <= 0 {
			return prompt.String(), nil
		}
		for over > 0 {
			saved := halveLargest(diffs...)
			if saved == 0 {
				saved = halveLargest(files, subjects, body, title)
			}
			if over -= saved; saved == 0 {
				return "", fmt.Errorf("the prompt has %d bytes without any list: more than -max-prompt leaves beside the marker", prompt.Len())
			}
		}
	}
}

// quoted is foreign text, of which each line begins with "> ".
type quoted struct {
	text string
	cut  bool
}

func (p *program) quote(text string) *quoted {
	lines := p.step.Lines(text[:min(len(text), maxText)])
	return &quoted{text: merges.Quote(strings.Join(lines, "\n"))}
}

// join returns texts as one, which says where something was cut: once for neighbors that
// are gone.
func join(texts ...*quoted) string {
	var joined strings.Builder
	for _, q := range texts {
		joined.WriteString(q.text)
		if text := joined.String(); q.cut && text != truncated && !strings.HasSuffix(text, "\n"+truncated) {
			joined.WriteString(truncated)
		}
	}
	return strings.TrimSuffix(joined.String(), "\n")
}

// halveLargest drops the second half of the largest text, and returns how many bytes that
// saves: 0 if nothing is left.
func halveLargest(all ...*quoted) (saved int) {
	if len(all) == 0 {
		return 0
	}
	q := slices.MaxFunc(all, func(a, b *quoted) int { return len(a.text) - len(b.text) })
	half := strings.LastIndex(q.text[:len(q.text)/2], "\n") + 1
	saved = len(q.text) - half
	q.text, q.cut = q.text[:half], true
	return saved
}
