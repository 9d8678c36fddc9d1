package database

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPromptsThatAreRefused(t *testing.T) {
	good := Prompt{Key: "acme/repo@1", Project: "project-1", Prompt: "Document it"}
	require.NoError(t, good.Check())
	for name, change := range map[string]func(*Prompt){
		"no key":              func(p *Prompt) { p.Key = "" },
		"white space":         func(p *Prompt) { p.Key = "a b" },
		"two lines":           func(p *Prompt) { p.Key = "a\nb" },
		"invisible":           func(p *Prompt) { p.Key = "a\u200bb" },
		"not UTF-8":           func(p *Prompt) { p.Key = "a\xff" },
		"long key":            func(p *Prompt) { p.Key = strings.Repeat("k", 301) },
		"no project":          func(p *Prompt) { p.Project = "" },
		"a key for a project": func(p *Prompt) { p.Project = "mint_x" },
		"no prompt":           func(p *Prompt) { p.Prompt = " \n" },
		"long prompt":         func(p *Prompt) { p.Prompt = strings.Repeat("p", MaxPrompt+1) },
		"no pull request":     func(p *Prompt) { p.Pull = "acme/repo" },
	} {
		bad := good
		change(&bad)
		assert.Error(t, bad.Check(), name)
	}
}

func TestParsePull(t *testing.T) {
	pr, err := ParsePull("acme/my.repo-1#17")
	require.NoError(t, err)
	assert.Equal(t, PullRequest{Owner: "acme", Repo: "my.repo-1", Number: 17}, pr)

	for _, bad := range []string{
		"", "acme/repo#", "acme/repo#0", "acme/repo#-1", "acme/repo#1x", "acme/repo#01", "acme#1", "a/b/c#1",
		"../repo#1", "acme/..#1", "acme/re po#1", "acme/repo?#1",
		fmt.Sprintf("acme/%s#1", strings.Repeat("x", 200)),
	} {
		_, err := ParsePull(bad)
		assert.Error(t, err, bad)
	}
}
