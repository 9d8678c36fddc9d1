package main

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	mintlify "github.com/mintlify-community/mintlify-go"
)

const (
	maxKey    = 200      // bytes
	maxPrompt = 64 << 10 // bytes
)

// prompt is what the agent is to do, once per key.
type prompt struct {
	Key     string `json:"key"`            // owner/repo@sha for a merge
	Project string `json:"project"`        // the service's project id
	Prompt  string `json:"prompt"`         // the instruction for the agent
	Pull    string `json:"pull,omitempty"` // the merged pull request, owner/repo#7, for a comment with the result
}

// check says what is wrong with p before anything is stored.
func (p prompt) check() error {
	if err := checkKey(p.Key); err != nil {
		return err
	}
	if _, err := mintlify.NewClient("any-key", p.Project); err != nil { // it sends nothing
		return fmt.Errorf("key %s: %w", p.Key, err)
	}
	switch {
	case strings.TrimSpace(p.Prompt) == "":
		return fmt.Errorf("key %s: the prompt is empty", p.Key)
	case len(p.Prompt) > maxPrompt:
		return fmt.Errorf("key %s: the prompt is %d bytes, want at most %d", p.Key, len(p.Prompt), maxPrompt)
	case !utf8.ValidString(p.Prompt) || strings.ContainsRune(p.Prompt, 0):
		return fmt.Errorf("key %s: the prompt is not text in UTF-8", p.Key)
	}
	if p.Pull == "" {
		return nil
	}
	_, err := parsePull(p.Pull)
	return err
}

func checkKey(key string) error {
	switch {
	case key == "":
		return errors.New("the key is empty: give the prompt one, owner/repo@sha for a merge")
	case len(key) > maxKey:
		return fmt.Errorf("the key is %d bytes, want at most %d", len(key), maxKey)
	case !utf8.ValidString(key) || strings.ContainsFunc(key, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }):
		return fmt.Errorf("the key %q has white space or a character that cannot be printed", key)
	}
	return nil
}

// marked is the prompt as it is sent: with a line by which a person finds the pull
// request of a prompt whose outcome is unknown.
func marked(prompt, key string) string {
	return fmt.Sprintf("%s\n\nPut this line, as it is, at the end of the pull request's description:\nfleet: %s\n", strings.TrimRight(prompt, "\n"), key)
}

// pull is a pull request on GitHub.
type pull struct {
	owner, repo string
	number      int
}

func parsePull(text string) (pull, error) {
	var p pull
	name, number, _ := strings.Cut(text, "#")
	owner, repo, _ := strings.Cut(name, "/")
	if _, err := fmt.Sscanf(number, "%d", &p.number); err != nil || p.number < 1 || fmt.Sprint(p.number) != number || !isRepository(name) {
		return pull{}, fmt.Errorf("the pull request %.80q is not of the form owner/repo#7", text)
	}
	p.owner, p.repo = owner, repo
	return p, nil
}

// isRepository reports whether name is owner/repo as GitHub allows it, which is also
// safe in a URL and in a key.
func isRepository(name string) bool {
	owner, repo, ok := strings.Cut(name, "/")
	return ok && len(name) <= 150 && isName(owner) && isName(repo)
}

func isName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r)
	})
}
