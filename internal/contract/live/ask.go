package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
)

// terminal is where the command asks and prints.
type terminal struct {
	in         *bufio.Reader
	out, err   io.Writer
	isTerminal bool // a person types what comes from in: the command asks nobody else
}

// action is something that the command does besides reading, if its flag is given.
type action struct {
	flag string
	isOn bool
	says string // what it does and costs
}

func (s settings) actions() []action {
	const publishes = "The agent edits the docs: it opens a pull request, or publishes to the live site if the " +
		"project publishes without a review. It costs about 112 credits."
	return []action{
		{"-scope", s.scope, "It sends a message to a job that does not exist, with the key in " +
			"MINTLIFY_READ_ONLY_KEY. It costs nothing."},
		{"-job", s.job, "It runs a job. " + publishes + " The prompt is: " + s.prompt},
		{"-message", s.message, "It asks the agent for another line in the same job. " + publishes},
		{"-preview", s.preview != "", "It deploys a preview of a branch. It costs no credits."},
		{"-update", s.update, "It deploys the live site. It costs no credits."},
	}
}

// confirm asks for each action whether to do it.
func (c *check) confirm() {
	for _, a := range c.settings.actions() {
		if a.isOn {
			fmt.Fprintf(c.terminal.err, "%s: %s\n", a.flag, a.says)
			c.confirmed[a.flag] = c.settings.yes || c.ctx.Err() == nil && c.terminal.agrees(c.ctx)
		}
	}
}

// agrees asks a person whether to go on.
func (t terminal) agrees(ctx context.Context) bool {
	if !t.isTerminal {
		fmt.Fprintln(t.err, "It is not done: nobody can be asked, since stdin is not a terminal. -yes confirms it.")
		return false
	}

	fmt.Fprint(t.err, "Go on? [y/N] ")
	typed := make(chan string, 1)
	go func() {
		line, _ := t.in.ReadString('\n') // what came before an error is a line, too
		typed <- strings.ToLower(strings.TrimSpace(line))
	}()

	select {
	case answer := <-typed:
		return answer == "y" || answer == "yes"
	case <-ctx.Done():
		return false
	}
}
