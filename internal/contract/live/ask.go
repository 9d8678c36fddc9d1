package main

import (
	"fmt"
	"io"
	"strings"

	mintlify "github.com/mintlify-community/mintlify-go"
)

// terminal is where the command asks and prints.
type terminal struct {
	in       io.Reader
	out, err io.Writer
	// isTerminal says that a person types what comes from in. The command asks nobody else.
	isTerminal bool
}

// ask returns a line that a person types, in lower case; "" if there is none.
func (t terminal) ask(question string) string {
	fmt.Fprint(t.err, question+" ")

	var line strings.Builder
	one := make([]byte, 1) // more would take the next answer along
	for {
		n, err := t.in.Read(one)
		if n == 0 && err != nil || n == 1 && one[0] == '\n' {
			return strings.ToLower(strings.TrimSpace(line.String()))
		}
		line.Write(one[:n])
	}
}

// write is something that the command does besides reading.
type write struct {
	flag string
	// says is what it does and costs.
	says string
	rows []expectation
}

const (
	flagScope        = "-scope"
	flagJob          = "-job"
	flagMessage      = "-message"
	flagPreview      = "-preview"
	flagUpdate       = "-update"
	flagSecondUpdate = "-second-update"
)

// writes returns what the flags ask for.
func (s settings) writes() []write {
	var all []write
	add := func(on bool, flag, says string, rows ...expectation) {
		if on {
			all = append(all, write{flag, says, rows})
		}
	}

	add(s.scope, flagScope,
		"It sends a message to a job that does not exist, with the key in MINTLIFY_READ_ONLY_KEY. It costs nothing.",
		expectScope)

	add(s.job, flagJob, fmt.Sprintf("It runs a job: the agent edits the docs and opens a pull request. "+
		"It costs about 112 credits. The prompt is: %s", s.prompt),
		expectFirstStatus, expectJobEnds, expectMarker, bodyOf(mintlify.OpCreateJob))

	add(s.message, flagMessage, "It asks the agent for another line in the same pull request. "+
		"It costs about 112 credits.",
		expectActiveAgain, expectMessageEnds, bodyOf(mintlify.OpSendMessage))

	add(s.preview != "", flagPreview, "It deploys a preview of a branch. It costs no credits.",
		bodyOf(mintlify.OpTriggerPreview))

	add(s.update || s.secondUpdate, flagUpdate, "It deploys the site. It costs no credits.",
		expectEmptyBody, bodyOf(mintlify.OpTriggerUpdate))

	add(s.secondUpdate, flagSecondUpdate, "It deploys the site a second time while the first deployment is queued. "+
		"The project's queue may then stand still: one user saw deployments stay queued for good.",
		expectSecondUpdate)
	return all
}

// writing returns the flags whose writes were confirmed.
func (c *check) writing() []string {
	var flags []string
	for _, w := range c.settings.writes() {
		if c.confirmed[w.flag] {
			flags = append(flags, w.flag)
		}
	}
	return flags
}

// confirm asks for each write whether to do it.
func (c *check) confirm() {
	for _, w := range c.settings.writes() {
		why := c.declined(w)
		if why == "" {
			c.confirmed[w.flag] = true
			continue
		}
		for _, row := range w.rows {
			c.report.notTried(row, why)
		}
	}
}

// declined says why the command must not do a write; "" if it may.
func (c *check) declined(w write) string {
	switch {
	case c.settings.yes:
		fmt.Fprintf(c.terminal.err, "%s: %s\n", w.flag, w.says)
		return ""
	case !c.terminal.isTerminal:
		fmt.Fprintf(c.terminal.err, "%s: not done. Nobody can be asked, since stdin is not a terminal; "+
			"-yes confirms it.\n", w.flag)
		return w.flag + " was not confirmed: nobody could be asked"
	}

	answer := c.terminal.ask(fmt.Sprintf("%s: %s\nGo on? [y/N]", w.flag, w.says))
	if answer == "y" || answer == "yes" {
		return ""
	}
	return w.flag + " was not confirmed"
}
