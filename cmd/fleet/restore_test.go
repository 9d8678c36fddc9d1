//go:build unix

package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintlify-community/mintlify-go/cmd/fleet/internal/queue"
)

// restoreCommands returns the commands of the section about backups of docs/fleet.md, before and after the
// workers start.
func restoreCommands(t *testing.T) (before, after []string) {
	readme, err := os.ReadFile("../../docs/fleet.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(readme), "\n## After restoring a backup\n")
	require.True(t, found)

	section, _, _ = strings.Cut(section, "\n## ")
	first, second, found := strings.Cut(section, "\n3. Start the workers.")
	require.True(t, found)

	commands := regexp.MustCompile(`(?m)^ +fleet (.+?)(?: +#.*)?$`)
	for _, command := range commands.FindAllStringSubmatch(first, -1) {
		before = append(before, command[1])
	}
	for _, command := range commands.FindAllStringSubmatch(second, -1) {
		after = append(after, command[1])
	}
	return before, after
}

// TestRestoredBackup holds six prompts as queued, of which four were sent after it was made. With
// the commands of docs/fleet.md each is acted on once.
func TestRestoredBackup(t *testing.T) {
	before, after := restoreCommands(t)
	require.Equal(t, []string{"pause -all", "list -state queued", "cancel -all -yes", "resume -all"}, before)
	require.Equal(t, []string{
		"retry -key acme/api@5907854 -again",
		"retry -state canceled -project PROJECT-1 -again -yes",
	}, after)

	eachDatabase(t, func(t *testing.T, url string) {
		svc := newCountingService()
		f := newFleet(t, url, quick, svc)
		f.enqueue(prompts(6, 3)...)
		backup := backUp(t, f.store, url)
		f.person("jane", "pause", "-project", "project-3")
		worker := f.start()
		f.until(timeToDo, "four to be done", func() bool { return f.counts()["done"] == 4 })
		require.NoError(t, f.end(worker, syscall.SIGTERM))

		restored := newFleet(t, backup, quick, svc)
		listed := ""
		for _, command := range before {
			listed += restored.person("jane", strings.Fields(command)...)
		}
		assert.Equal(t, 6, strings.Count(listed, "queued\tacme/repo@"), listed)

		restored.start()
		restored.person("jane", "retry", "-key", promptOf(2, "").Key, "-again")
		restored.until(timeToDo, "the one to be done", func() bool { return restored.counts()["done"] == 1 })

		// Nothing of project 3 had been sent, but the one that is done by now.
		bulk := strings.Fields(strings.ReplaceAll(after[1], "PROJECT-1", "project-3"))
		restored.person("jane", bulk...)
		restored.until(timeToDo, "the other to be done", func() bool { return restored.counts()["done"] == 2 })
		acted, twice := svc.count()
		assert.Equal(t, 6, acted)
		assert.Zero(t, twice)
		assert.Equal(t, 4, restored.counts()["canceled"])
	})
}

// backUp returns the URL of a copy of the database, as it is now.
func backUp(t *testing.T, s queue.Queue, url string) string {
	t.Helper()
	if strings.HasPrefix(url, "sqlite:") {
		file := sqliteFile(t)
		execute(t, s, "VACUUM INTO $1", file)
		return "sqlite:" + file
	}

	dump := exec.Command("pg_dump", "--no-owner", "--dbname", url)
	sql, err := dump.Output()
	require.NoError(t, err)
	copied := testPostgres.Database(t)
	restore := exec.Command("psql", "--quiet", "--set", "ON_ERROR_STOP=1", "--dbname", copied)
	restore.Stdin = strings.NewReader(string(sql))
	output, err := restore.CombinedOutput()
	require.NoError(t, err, "%s", output)
	return copied
}
