package main

import "slices"

// action is something that the command does besides reading, if its flag is given.
type action struct {
	flag string
	isOn bool
	says string // what it does and costs
}

// writes returns what the flags have the command do besides reading.
func (s settings) writes() []action {
	const publishes = "The agent edits the docs: it opens a pull request, or publishes to the live site if the " +
		"project publishes without a review. It costs about 112 credits."
	all := []action{
		{"-job", s.job, "It runs a job. " + publishes + " The prompt is: " + s.prompt},
		{"-message", s.message, "It asks the agent for another line in the same job. " + publishes},
		{"-preview", s.preview != "", "It deploys a preview of a branch. It costs no credits."},
		{"-update", s.update, "It deploys the live site. It costs no credits."},
	}
	return slices.DeleteFunc(all, func(a action) bool { return !a.isOn })
}

// isOn reports whether a flag is given that has the command write.
func (s settings) isOn(flag string) bool {
	return slices.ContainsFunc(s.writes(), func(a action) bool { return a.flag == flag })
}
