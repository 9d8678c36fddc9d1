package merges

import "strings"

// Key returns the key of the merge that a repository's commit is. Forges ignore the case of a
// repository, and so does the key. commit is the full SHA.
func Key(repository, commit string) string { return strings.ToLower(repository) + "@" + commit }
