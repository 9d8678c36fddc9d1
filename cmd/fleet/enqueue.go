package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/internal/safetext"
	"github.com/mintlify-community/mintlify-go/once"
)

const enqueueBatch = 100 // prompts in a transaction

// enqueueCommand adds a prompt, or those of stdin.
type enqueueCommand struct {
	*program
	prompt    database.Prompt
	fromStdin bool
}

func (c *enqueueCommand) define(f *flag.FlagSet) {
	f.StringVar(&c.prompt.Key, "key", "", "key of the prompt, owner/repo@sha for a merge; again it adds nothing")
	f.StringVar(&c.prompt.Project, "project", "", "id of the project, from the dashboard")
	f.StringVar(&c.prompt.Prompt, "prompt", "", "what the agent is to do")
	f.StringVar(&c.prompt.Pull, "pull", "", "the merged pull request, owner/repo#7, for a comment with the result")
	f.StringVar(&c.prompt.After, "after", "",
		"key of the prompt to whose job this one is a message, once that has ended")
	f.IntVar(&c.prompt.Priority, "priority", database.DefaultPriority, "1 is the most urgent, 4 the least")
	f.BoolVar(&c.fromStdin, "stdin", false, "read JSON Lines with the other flags as fields")
}

func (c *enqueueCommand) check() error {
	one := &c.prompt
	isWhole := one.Key != "" && one.Prompt != "" && (one.Project != "" || one.After != "")
	if c.fromStdin && one.Key != "" || !c.fromStdin && !isWhole {
		return usage.Errorf("enqueue wants -key, -project (or -after) and -prompt, or -stdin without -key")
	}
	if c.fromStdin {
		return nil // a line may have what the flags leave out
	}

	if err := one.Check(); err != nil {
		return usage.Errorf("%w", err)
	}
	return nil
}

func (c *enqueueCommand) run(ctx context.Context, s queue.Queue) error {
	prompts := []database.Prompt{c.prompt}
	var badLine error
	if c.fromStdin {
		prompts, badLine = readLines(c.stdin, c.prompt)
	}

	known, err := c.enqueue(ctx, s, prompts)
	switch {
	case err != nil:
		return err
	case c.fromStdin || len(known) == 0:
		return badLine
	case known[0].ProjectID != c.prompt.Project && c.prompt.After == "":
		return usage.Errorf("nothing is enqueued. To send it to another project, while no job can exist: "+
			"fleet retry -key %s -project %s -again", known[0].Key, c.prompt.Project)
	}
	return usage.Errorf("nothing is enqueued: see fleet show %s", known[0].Key)
}

// enqueue adds prompts in batches, until one cannot be stored. It prints and returns those that are known already.
func (c *enqueueCommand) enqueue(
	ctx context.Context, s queue.Queue, prompts []database.Prompt,
) ([]once.Record, error) {
	var known []once.Record
	stored := 0
	defer func() { fmt.Fprintf(c.stdout, "%d enqueued, %d known already\n", stored-len(known), len(known)) }()

	for batch := range slices.Chunk(prompts, enqueueBatch) {
		some, err := s.Enqueue(ctx, batch...)
		if err != nil && c.fromStdin {
			err = fmt.Errorf("lines %d to %d: %w", batch[0].Line, batch[len(batch)-1].Line, err)
		}
		if err != nil {
			return nil, err
		}

		stored += len(batch)
		known = append(known, some...)
		for _, r := range some {
			fmt.Fprintf(c.stdout, "%s is known already: %s, project %s\n",
				r.Key, database.NameOf(r.State), safetext.OneLine(r.ProjectID, 100))
		}
	}
	return known, nil
}

// readLines returns the prompts before the first bad line. The flags fill the fields that a
// line leaves out. It is safe to read the same input again.
func readLines(r io.Reader, flags database.Prompt) ([]database.Prompt, error) {
	var prompts []database.Prompt
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 8*database.MaxPrompt) // a prompt in JSON, each byte escaped

	n := 1
	for ; lines.Scan(); n++ {
		line := strings.TrimPrefix(lines.Text(), "\ufeff") // a byte order mark, as Windows writes it
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}

		one := flags
		one.Line = n
		if err := parsePrompt(&one, line); err != nil {
			return prompts, lineError(n, err)
		}
		prompts = append(prompts, one)
	}

	if err := lines.Err(); err != nil {
		return prompts, lineError(n, err)
	}
	return prompts, nil
}

func lineError(n int, err error) error {
	return usage.Errorf("line %d: %w; the lines before it are enqueued", n, err)
}

func parsePrompt(p *database.Prompt, line string) error {
	decoder := json.NewDecoder(strings.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(p); err != nil {
		return err
	}

	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is something behind the JSON value")
	}
	return p.Check()
}
