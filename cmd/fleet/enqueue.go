package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mintlify-community/mintlify-go/internal/redact"
	"github.com/mintlify-community/mintlify-go/once"
)

const enqueueBatch = 100 // prompts in a transaction

func (p *program) checkEnqueue() error {
	one := &p.prompt
	isWhole := one.Key != "" && one.Prompt != "" && (one.Project != "" || one.After != "")
	if p.fromStdin && one.Key != "" || !p.fromStdin && !isWhole {
		return usageError("enqueue wants -key, -project (or -after) and -prompt, or -stdin without -key")
	}
	if p.fromStdin {
		return nil // a line may have what the flags leave out
	}

	if err := one.check(); err != nil {
		return usageError("%w", err)
	}
	return nil
}

// enqueue adds the prompt of the flags, or the prompts on stdin before the first bad line.
func (p *program) enqueue(ctx context.Context, s store) error {
	if p.fromStdin {
		return p.enqueueLines(ctx, s)
	}

	known, err := s.add(ctx, p.prompt)
	if err != nil {
		return err
	}
	p.printKnown(known)
	fmt.Fprintf(p.stdout, "%d enqueued, %d known already\n", 1-len(known), len(known))
	if len(known) == 0 {
		return nil
	}
	return whyKnown(known[0], p.prompt)
}

func (p *program) printKnown(known []once.Record) {
	for _, r := range known {
		fmt.Fprintf(p.stdout, "%s is known already: %s, project %s\n",
			r.Key, nameOf(r.State), redact.OneLine(r.Project, 100))
	}
}

// whyKnown says what to do about a key that is known already.
func whyKnown(r once.Record, p prompt) error {
	if r.Project != p.Project && p.After == "" {
		return usageError("nothing is enqueued. To send it to another project, while no job can exist: "+
			"fleet retry -key %s -project %s -again", r.Key, p.Project)
	}
	return usageError("nothing is enqueued: see fleet show %s", r.Key)
}

// enqueueLines adds the prompts of stdin in batches, until one cannot be stored.
func (p *program) enqueueLines(ctx context.Context, s store) error {
	prompts, badLine := readLines(p.stdin, p.prompt)
	added, known := 0, 0
	defer func() { fmt.Fprintf(p.stdout, "%d enqueued, %d known already\n", added, known) }()

	for batch := range slices.Chunk(prompts, enqueueBatch) {
		records, err := s.add(ctx, batch...)
		if err != nil {
			return fmt.Errorf("lines %d to %d: %w", batch[0].line, batch[len(batch)-1].line, err)
		}

		p.printKnown(records)
		known += len(records)
		added += len(batch) - len(records)
	}
	return badLine
}

// readLines returns the prompts before the first bad line. The flags fill the fields that a
// line leaves out. It is safe to read the same input again.
func readLines(r io.Reader, flags prompt) ([]prompt, error) {
	var prompts []prompt
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 8*maxPrompt) // a prompt in JSON, each byte escaped

	n := 1
	for ; lines.Scan(); n++ {
		line := lines.Text()
		if n == 1 {
			line = strings.TrimPrefix(line, "\ufeff") // a byte order mark, as Windows writes it
		}
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}

		one := flags
		one.line = n
		if err := one.parse(line); err != nil {
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
	return usageError("line %d: %w; the lines before it are enqueued", n, err)
}

// parse reads the fields of one line into p.
func (p *prompt) parse(line string) error {
	decoder := json.NewDecoder(strings.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(p); err != nil {
		return err
	}

	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is something behind the JSON value")
	}
	return p.check()
}
