package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
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
	if err := checkProject(p.Project); err != nil {
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

// checkProject asks the SDK, which sends nothing.
func checkProject(id string) error {
	_, err := mintlify.NewClient("any-key", id)
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
	name, digits, _ := strings.Cut(text, "#")
	owner, repo, _ := strings.Cut(name, "/")
	number, err := strconv.Atoi(digits)
	if err != nil || number < 1 || strconv.Itoa(number) != digits || !isRepository(name) {
		return pull{}, fmt.Errorf("the pull request %.80q is not of the form owner/repo#7", text)
	}
	return pull{owner, repo, number}, nil
}

// repository is owner/repo as GitHub allows it, which is also safe in a URL and in a key.
var repository = regexp.MustCompile(`^[\w.-]{1,75}/[\w.-]{1,75}$`)

func isRepository(name string) bool {
	return repository.MatchString(name) && !slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return strings.Trim(part, ".") == "" })
}
