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
)

const enqueueBatch = 100 // prompts in a transaction

func (p *program) checkEnqueue() error {
	one := &p.prompt
	isWhole := one.Key != "" && one.Project != "" && one.Prompt != ""
	if p.fromStdin && one.Key != "" || !p.fromStdin && !isWhole {
		return usageError("enqueue wants -key, -project and -prompt, or -stdin without -key")
	}
	if p.fromStdin {
		return nil // the lines may bring what the flags lack
	}

	if err := one.check(); err != nil {
		return usageError("%w", err)
	}
	return nil
}

// enqueue adds the prompt of the flags, or those of stdin before its first bad line.
func (p *program) enqueue(ctx context.Context, s store) error {
	prompts := []prompt{p.prompt}
	var badLine error
	if p.fromStdin {
		prompts, badLine = readLines(p.stdin, p.prompt)
	}

	added, known, err := p.enqueueAll(ctx, s, prompts)
	fmt.Fprintf(p.stdout, "%d enqueued, %d known already\n", added, known)
	if err != nil {
		return err
	}
	return badLine
}

// enqueueAll adds prompts in batches, until one cannot be stored.
func (p *program) enqueueAll(ctx context.Context, s store, prompts []prompt) (added, known int, err error) {
	for batch := range slices.Chunk(prompts, enqueueBatch) {
		n, err := s.add(ctx, batch...)
		if err != nil && p.fromStdin {
			err = fmt.Errorf("lines %d to %d: %w", batch[0].line, batch[len(batch)-1].line, err)
		}
		if err != nil {
			return added, known, err
		}

		added += n
		known += len(batch) - n
	}
	return added, known, nil
}

// readLines returns the prompts before the first bad line. Fields that a line leaves out are
// those of the flags. To run the same input again does no harm.
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
