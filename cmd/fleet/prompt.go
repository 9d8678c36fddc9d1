package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

const (
	maxPrompt       = 64 << 10 // bytes
	defaultPriority = 2
)

// prompt is what the agent is to do, once per key.
type prompt struct {
	Key      string   `json:"key"`                // owner/repo@sha for a merge
	Project  string   `json:"project"`            // the service's project id
	Prompt   string   `json:"prompt"`             // the instruction for the agent
	Pull     string   `json:"pull,omitempty"`     // the merged pull requests, owner/repo#7, which get a comment
	Priority int      `json:"priority,omitempty"` // 1 is the most urgent, 4 the least; 2 unless set
	After    string   `json:"after,omitempty"`    // the key of the prompt to whose job this one is a message
	commits  []string // keys of the other commits of a push
	line     int      // of the input
}

// check says what is wrong with p before anything is stored. It makes keys and pull requests lower case.
func (p *prompt) check() error {
	p.Key = foldCase(p.Key)
	p.Pull = foldCase(p.Pull)
	p.After = foldCase(p.After)
	if p.Priority == 0 {
		p.Priority = defaultPriority
	}
	if err := p.problem(); err != nil {
		return fmt.Errorf("key %s: %w", redact.OneLine(p.Key, 300), err)
	}
	return nil
}

func (p *prompt) problem() error {
	runner, err := once.New(nil, once.NewMemory())
	if err != nil {
		return err
	}

	// Package once has the rules of a key and a prompt, the client has the rules of a project.
	if _, _, err := runner.Add(context.Background(), once.Task{Key: p.Key, Prompt: p.Prompt}); err != nil {
		return err
	}

	if p.Project == "" && p.After != "" {
		return p.checkRest() // it goes to the project of the job
	}
	if _, err := mintlify.NewClient("any-key", p.Project); err != nil {
		return err
	}

	return p.checkRest()
}

func (p *prompt) checkRest() error {
	if p.After == p.Key {
		return errors.New("it follows itself")
	}

	if len(p.Prompt) > maxPrompt {
		return fmt.Errorf("the prompt is %d bytes, want at most %d", len(p.Prompt), maxPrompt)
	}
	if p.Priority < 1 || p.Priority > 4 {
		return fmt.Errorf("the priority is %d, want 1 to 4", p.Priority)
	}
	for _, text := range strings.Fields(p.Pull) {
		if _, err := parsePull(text); err != nil {
			return err
		}
	}
	return nil
}

// foldCase returns a key or a repository in lower case: GitHub ignores case in both. It leaves
// text alone that is not UTF-8, which package once refuses.
func foldCase(text string) string {
	if !utf8.ValidString(text) {
		return text
	}
	return strings.ToLower(text)
}

// owner/repo as GitHub allows it is also safe in a URL and in a key.
const repositoryForm = `([\w-]{1,39})/([\w.-]{0,99}[\w-][\w.-]{0,99})`

var (
	repository = regexp.MustCompile("^" + repositoryForm + "$")
	pullForm   = regexp.MustCompile("^" + repositoryForm + `#([1-9]\d{0,8})$`)
)

// pull is a pull request.
type pull struct {
	owner, repo string
	number      int
}

func parsePull(text string) (pull, error) {
	parts := pullForm.FindStringSubmatch(text)
	if parts == nil {
		return pull{}, fmt.Errorf("the pull request %.80q does not have the form owner/repo#7", text)
	}
	number, err := strconv.Atoi(parts[3])
	return pull{owner: parts[1], repo: parts[2], number: number}, err
}
