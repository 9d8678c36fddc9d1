package main

import (
	"flag"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/database"
	"github.com/mintlify-community/mintlify-go/cmd/internal/usage"
	"github.com/mintlify-community/mintlify-go/internal/redact"
)

// ofRepository says which prompts -repo means, in all commands.
const ofRepository = "owner/repo of the key, else of the first pull request"

// scope is what a command is about: a project, a repository, or all.
type scope struct {
	project, repository string
	all                 bool
}

func (s *scope) define(f *flag.FlagSet) {
	f.StringVar(&s.project, "project", "", "id of the project, from the dashboard")
	f.StringVar(&s.repository, "repo", "", ofRepository)
	f.BoolVar(&s.all, "all", false, "all projects")
}

// check wants one of the scope's flags, or of others.
func (s *scope) check(line commandLine, others ...string) error {
	if err := line.wantOne(append(others, "project", "repo", "all")...); err != nil {
		return err
	}
	return checkRepository(line, &s.repository)
}

func (s *scope) choice() database.Choice {
	return database.Choice{Project: s.project, Repository: s.repository}
}

// checkRepository refuses a -repo that is not a repository's name. It makes the name lower case.
func checkRepository(line commandLine, name *string) error {
	if line.given["repo"] && !database.RepositoryForm.MatchString(*name) {
		return usage.Errorf("-repo is %q, want owner/repo", redact.OneLine(*name, 150))
	}
	*name = database.FoldCase(*name)
	return nil
}
