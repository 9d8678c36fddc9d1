package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/mintlify-community/mintlify-go/cmd/internal/merges"
	"github.com/mintlify-community/mintlify-go/once"
)

//go:embed prompt.tmpl
var defaultTemplate string

const (
	maxText   = 8 << 20 // bytes of a text: the rest is not read
	aroundKey = 100     // bytes that package once adds to a prompt, and the project's hash
)

// promptData has the fields that a template may use. Text by others is quoted here already, so
// that no template can forget it.
type promptData struct {
	Repository, Commit, Base, Tag string
	// Stat has the counts of files and lines.
	Stat string

	Title, Body, Subjects, Files, Diff string
}

// quotes are the texts of a change that others wrote.
type quotes struct {
	title, body, subjects, files *excerpt
	patches                      []*excerpt
}

// makePrompt writes the prompt, which tells the agent what was merged. Until the prompt fits, it cuts the lists
// and the diffs, each to half of the room if both need more.
func (p *program) makePrompt(c change) (string, error) {
	parsed, err := p.parseTemplate()
	if err != nil {
		return "", err
	}

	q := p.quoteChange(c)
	room := p.options.maxPrompt - len(once.Marker(c.key())) - aroundKey
	for {
		var prompt strings.Builder
		if err := parsed.Execute(&prompt, c.data(q)); err != nil {
			return "", fmt.Errorf("the template cannot be filled in: %w", err)
		}

		over := prompt.Len() - room
		if over <= 0 {
			p.warnOfCuts(c, q)
			return prompt.String(), nil
		}

		if !q.shorten(over) {
			return "", fmt.Errorf("even without lists the prompt has %d bytes: more than -max-prompt allows "+
				"beside the marker", prompt.Len())
		}
	}
}

func (p *program) parseTemplate() (*template.Template, error) {
	text, err := p.readTemplate()
	if err != nil {
		return nil, err
	}

	parsed, err := template.New("prompt").Option("missingkey=error").Parse(text)
	if err != nil {
		return nil, fmt.Errorf("the template cannot be parsed: %w", err)
	}
	return parsed, nil
}

func (p *program) readTemplate() (string, error) {
	switch {
	case p.options.templateText != "":
		return p.options.templateText, nil
	case p.options.template == "":
		return defaultTemplate, nil
	}

	file, err := os.ReadFile(p.options.template)
	if err != nil {
		return "", fmt.Errorf("-template: %w", err)
	}
	return string(file), nil
}

func (p *program) quoteChange(c change) quotes {
	title := excerpt{text: []byte(c.title)}
	body := excerpt{text: []byte(c.body)}
	q := quotes{title: p.quote(title), body: p.quote(body), subjects: p.quote(c.subjects), files: p.quote(c.files)}
	for _, patch := range c.patches {
		q.patches = append(q.patches, p.quote(*patch))
	}
	return q
}

func (c change) data(q quotes) promptData {
	return promptData{
		Repository: c.repository,
		Commit:     c.head,
		Base:       c.base,
		Tag:        strings.TrimPrefix(c.tag, tags),
		Stat:       c.stat.String(),
		Title:      join(q.title),
		Body:       join(q.body),
		Subjects:   join(q.subjects),
		Files:      join(q.files),
		Diff:       join(q.patches...),
	}
}

// shorten saves that many bytes, if it can. It reports false if nothing is left to shorten.
func (q quotes) shorten(over int) bool {
	lists := []*excerpt{q.title, q.body, q.subjects, q.files}
	before := sizeOf(lists) + sizeOf(q.patches)
	room := before - over

	fit(lists, max(room/2, room-sizeOf(q.patches)))
	fit(q.patches, room-sizeOf(lists))
	return sizeOf(lists)+sizeOf(q.patches) < before
}

// warnOfCuts says how much of the change the prompt has, if that is not all.
func (p *program) warnOfCuts(c change, q quotes) {
	isCut := func(e *excerpt) bool { return e.isCut }
	if !q.files.isCut && !slices.ContainsFunc(q.patches, isCut) {
		return
	}

	whole := 0
	for _, patch := range q.patches {
		if !patch.isCut && len(patch.text) > 0 {
			whole++
		}
	}
	p.step.Warnf("The prompt is truncated: %s of %s files are named, and %s of them with a whole diff",
		thousands(bytes.Count(q.files.text, []byte("\n"))), thousands(c.stat.files), thousands(whole))
}

// thousands writes a number as 2,000.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// quote returns text by others with "> " before each line.
func (p *program) quote(e excerpt) *excerpt {
	text := p.step.Redact(string(e.text[:min(len(e.text), maxText)]))
	return &excerpt{text: []byte(merges.Quote(strings.Trim(text, "\r\n"))), isCut: e.isCut}
}
