package main

import (
	"bytes"
	"cmp"
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

// aroundKey is how many bytes package once adds to a prompt, beside the marker.
const aroundKey = 100

// promptData is what a template may use. Text by others is quoted here already, so that no template can forget it.
type promptData struct {
	Repository, Commit, Base, Tag string
	// Stat has the counts of files and lines.
	Stat string

	title, body, subjects, files *excerpt
	patches                      []*excerpt
}

func (d *promptData) Title() string    { return join(d.title) }
func (d *promptData) Body() string     { return join(d.body) }
func (d *promptData) Subjects() string { return join(d.subjects) }
func (d *promptData) Files() string    { return join(d.files) }
func (d *promptData) Diff() string     { return join(d.patches...) }

// makePrompt writes the prompt, which tells the agent what was merged. Until the prompt fits, it cuts the lists
// and the diffs, each to half of the room if both need more.
func (p *program) makePrompt(c change) (string, error) {
	parsed, err := p.parseTemplate()
	if err != nil {
		return "", err
	}

	data := p.quoteChange(c)
	room := p.options.maxPrompt - len(once.Marker(c.key(""))) - aroundKey
	for {
		var prompt strings.Builder
		if err := parsed.Execute(&prompt, data); err != nil {
			return "", fmt.Errorf("the template cannot be filled in: %w", err)
		}

		over := prompt.Len() - room
		if over <= 0 {
			p.warnOfCuts(c, data)
			return prompt.String(), nil
		}

		if !data.shorten(over) {
			return "", fmt.Errorf("even without lists the prompt has %d bytes: more than -max-prompt allows "+
				"beside the marker", prompt.Len())
		}
	}
}

func (p *program) parseTemplate() (*template.Template, error) {
	text := cmp.Or(p.options.templateText, defaultTemplate)
	if p.options.template != "" {
		file, err := os.ReadFile(p.options.template)
		if err != nil {
			return nil, fmt.Errorf("-template: %w", err)
		}
		text = string(file)
	}

	parsed, err := template.New("prompt").Parse(text)
	if err != nil {
		return nil, fmt.Errorf("the template cannot be parsed: %w", err)
	}
	return parsed, nil
}

func (p *program) quoteChange(c change) *promptData {
	d := &promptData{
		Repository: cmp.Or(c.repository, "owner/name"), // only a dry run may not know it
		Commit:     c.head,
		Base:       c.base,
		Tag:        strings.TrimPrefix(c.tag, tags),
		Stat:       c.stat.String(),
		title:      p.quote(excerpt{text: []byte(c.title)}),
		body:       p.quote(excerpt{text: []byte(c.body)}),
		subjects:   p.quote(c.subjects),
		files:      p.quote(c.files),
	}

	for _, patch := range c.patches {
		d.patches = append(d.patches, p.quote(*patch))
	}
	return d
}

// shorten saves that many bytes, if it can. It reports false if nothing is left to shorten.
func (d *promptData) shorten(over int) bool {
	lists := []*excerpt{d.title, d.body, d.subjects, d.files}
	before := sizeOf(lists) + sizeOf(d.patches)
	room := before - over

	fit(lists, max(room/2, room-sizeOf(d.patches)))
	fit(d.patches, room-sizeOf(lists))
	return sizeOf(lists)+sizeOf(d.patches) < before
}

// warnOfCuts says how much of the change the prompt has, if that is not all.
func (p *program) warnOfCuts(c change, d *promptData) {
	isCut := func(e *excerpt) bool { return e.isCut }
	if !d.files.isCut && !slices.ContainsFunc(d.patches, isCut) {
		return
	}

	whole := 0
	for _, patch := range d.patches {
		if !patch.isCut && len(patch.text) > 0 {
			whole++
		}
	}
	p.step.Warnf("The prompt is truncated: %s of %s files are named, and %s of them with a whole diff",
		thousands(bytes.Count(d.files.text, []byte("\n"))), thousands(c.stat.files), thousands(whole))
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
	text := p.step.Redact(string(e.text))
	return &excerpt{text: []byte(merges.Quote(strings.Trim(text, "\r\n"))), isCut: e.isCut}
}
