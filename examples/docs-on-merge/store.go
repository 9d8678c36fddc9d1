package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// openStore returns the store of a commit: its status on GitHub, a directory elsewhere.
func (p *program) openStore(c change, projectID string) (store, error) {
	hash := sha256.Sum256([]byte(projectID))
	project := hex.EncodeToString(hash[:4]) // statuses are public, and project ids need not be
	if p.options.state == "" && p.onGitHub() {
		g, err := p.openGitHub(c.repository)
		if err != nil {
			return nil, err
		}
		run := ""
		if id := p.getenv("GITHUB_RUN_ID"); id != "" {
			run = fmt.Sprintf("%s/%s/actions/runs/%s", p.getenv("GITHUB_SERVER_URL"), c.repository, id)
		}
		return &statuses{gitHub: g, commit: c.head, label: "docs-on-merge/" + project, token: rand.Text(), runURL: run, settle: p.pace.settle}, nil
	}
	if p.onGitHub() || p.getenv("CI") != "" {
		p.log.printf("The record of jobs is in a directory: if it goes with this runner, a further run for this commit makes a further job.")
	}
	dir, err := p.options.state, error(nil)
	if dir == "" {
		dir, err = os.UserConfigDir()
		dir = filepath.Join(dir, "docs-on-merge")
	}
	return &directory{dir, c.head + "-" + project}, errors.Join(err, os.MkdirAll(dir, 0o755))
}
