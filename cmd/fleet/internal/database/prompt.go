package database

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	mintlify "github.com/mintlify-community/mintlify-go"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
	"github.com/mintlify-community/mintlify-go/once"
)

const (
	// MaxPrompt is how many bytes a prompt may have.
	MaxPrompt = 64 << 10

	// DefaultPriority is the priority of a prompt that names none.
	DefaultPriority = 2
)

// Prompt is what the agent is to do, once per key.
type Prompt struct {
	Key      string   `json:"key"`                // owner/repo@sha for a merge
	Project  string   `json:"project"`            // the service's project id
	Prompt   string   `json:"prompt"`             // the instruction for the agent
	Pull     string   `json:"pull,omitempty"`     // the merged pull requests, owner/repo#7, which get a comment
	Priority int      `json:"priority,omitempty"` // 1 is the most urgent, 4 the least; 2 unless set
	After    string   `json:"after,omitempty"`    // the key of the prompt to whose job this one is a message
	Author   string   `json:"-"`                  // the login of who wrote the comment that it is
	Authors  []string `json:"-"`                  // the logins of who wrote the merge
	Commits  []string `json:"-"`                  // keys of the other commits of a push
	Line     int      `json:"-"`                  // errors name this line of the input
}

// Check says what is wrong with p before anything is stored. It makes keys and pull requests lower case.
func (p *Prompt) Check() error {
	p.Key = FoldCase(p.Key)
	p.Pull = FoldCase(p.Pull)
	p.After = FoldCase(p.After)
	if p.Priority == 0 {
		p.Priority = DefaultPriority
	}

	if err := p.problem(); err != nil {
		return fmt.Errorf("key %s: %w", safetext.OneLine(p.Key, 300), err)
	}
	return nil
}

func (p *Prompt) problem() error {
	// Package once has the rules of a key and a prompt, the client has the rules of a project.
	err := once.Task{Key: p.Key, Prompt: p.Prompt}.Check()
	if err != nil {
		return err
	}

	_, err = mintlify.NewClient("any-key", p.Project)
	isOfJob := p.Project == "" && p.After != "" // it goes to the project of the job
	if err != nil && !isOfJob {
		return err
	}

	if Clean(p.Prompt) != p.Prompt {
		return errors.New("the prompt has a NUL byte, or is not UTF-8")
	}
	if p.After == p.Key {
		return errors.New("it follows itself")
	}

	if len(p.Prompt) > MaxPrompt {
		return fmt.Errorf("the prompt is %d bytes, want at most %d", len(p.Prompt), MaxPrompt)
	}
	if p.Priority < 1 || p.Priority > 4 {
		return fmt.Errorf("the priority is %d, want 1 to 4", p.Priority)
	}

	for _, text := range strings.Fields(p.Pull) {
		if _, err := ParsePull(text); err != nil {
			return err
		}
	}
	return nil
}

// Repository returns the owner/repo of the key, else of the first pull request; "" if neither has one.
func (p Prompt) Repository() string {
	ofKey, _, _ := strings.Cut(p.Key, "@")
	if RepositoryForm.MatchString(ofKey) {
		return ofKey
	}

	first, _, _ := strings.Cut(p.Pull, " ")
	ofPull, _, _ := strings.Cut(first, "#")
	return ofPull
}

// FoldCase returns a key or a repository in lower case: GitHub ignores case in both. It leaves
// text alone that is not UTF-8, which package once refuses.
func FoldCase(text string) string {
	if !utf8.ValidString(text) {
		return text
	}
	return strings.ToLower(text)
}

// Owner/repo as GitHub allows it is also safe in a URL and in a key.
const repositoryForm = `([\w-]{1,39})/([\w.-]{0,99}[\w-][\w.-]{0,99})`

var (
	// RepositoryForm matches owner/repo.
	RepositoryForm = regexp.MustCompile("^" + repositoryForm + "$")
	pullForm       = regexp.MustCompile("^" + repositoryForm + `#([1-9]\d{0,8})$`)
)

// PullRequest is a pull request.
type PullRequest struct {
	Owner, Repo string
	Number      int
}

// ParsePull parses owner/repo#7.
func ParsePull(text string) (PullRequest, error) {
	parts := pullForm.FindStringSubmatch(text)
	if parts == nil {
		return PullRequest{}, fmt.Errorf("the pull request %.80q does not have the form owner/repo#7", text)
	}
	number, err := strconv.Atoi(parts[3])
	return PullRequest{Owner: parts[1], Repo: parts[2], Number: number}, err
}
