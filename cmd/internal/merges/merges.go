// Package merges is what the programs that report merges to the agent have in common:
// which merges they skip, and how they quote text by others.
package merges

import "strings"

// Key returns the key of the merge that a repository's commit is. Forges ignore the case of a
// repository, and so does the key. commit is the full SHA.
func Key(repository, commit string) string { return strings.ToLower(repository) + "@" + commit }
