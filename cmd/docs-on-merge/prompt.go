package main

import (
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/template"
)

//go:embed prompt.tmpl
var defaultTemplate string

const quotedWidth = 400 // characters of a quoted line

// promptData is what a template may use. What others wrote is quoted here, so that no
// template can forget to.
type promptData struct {
	Repository, Commit, Base     string
	Marker                       string // to find the pull request by
	Stat                         string // the counts of files and lines
	Title, Body, Subjects, Files quoted
}

// prompt tells the agent what was merged. Lists are halved, the longest first, until
// it fits.
func (p *program) prompt(c change) (string, error) {
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
	var files strings.Builder
	for _, f := range c.files {
		fmt.Fprintf(&files, "+%d -%d %s\n", f.added, f.removed, oneLine(f.path))
	}
	data := promptData{Repository: c.repository, Commit: c.head, Base: c.base, Marker: "docs-on-merge " + c.repository + "@" + c.head, Stat: c.stat(),
		Title: p.quote(oneLine(c.title)), Body: p.quote(c.body), Subjects: p.quote(c.subjects), Files: p.quote(files.String())}
	for {
		var prompt strings.Builder
		if err := parsed.Execute(&prompt, data); err != nil {
			return "", fmt.Errorf("the template cannot be filled in: %w", err)
		}
		if prompt.Len() <= p.options.maxPrompt {
			return prompt.String(), nil
		}
		longest := slices.MaxFunc([]*quoted{&data.Files, &data.Subjects, &data.Body, &data.Title}, func(a, b *quoted) int { return len(a.String()) - len(b.String()) })
		if !longest.halve() {
			return "", fmt.Errorf("the prompt has %d bytes without any list: more than -max-prompt", prompt.Len())
		}
	}
}

func (c change) stat() string {
	added, removed := count(c.files)
	return fmt.Sprintf("files: %d, lines added: %d, removed: %d", len(c.files), added, removed)
}

// quoted is foreign text, a line at a time.
type quoted []string

const truncated = "(truncated)" // the last line of a list that was halved

func (p *program) quote(text string) (q quoted) {
	for _, line := range lines(p.log.secrets.Replace(text)) {
		for part := range slices.Chunk([]rune(line), quotedWidth) {
			q = append(q, "> "+string(part))
		}
	}
	return q
}

// halve drops the second half, and reports whether there was anything to drop.
func (q *quoted) halve() bool {
	kept := *q
	if len(kept) > 0 && kept[len(kept)-1] == truncated {
		kept = kept[:len(kept)-1]
	}
	*q = append(slices.Clip(kept[:len(kept)/2]), truncated)
	return len(kept) > 0
}

func (q quoted) String() string { return strings.Join(q, "\n") }
