// Package version tells which build of a command this is.
package version

import (
	"cmp"
	"runtime/debug"
)

// Release builds set them with -ldflags -X.
var version, commit string

// String returns name, version and commit. Without the linker's values it tells what the go
// command has recorded.
func String(name string) string {
	info, _ := debug.ReadBuildInfo() // always there: go builds with modules

	recorded := ""
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			recorded = setting.Value
		}
	}

	number := cmp.Or(version, info.Main.Version, "(devel)")
	return name + " " + number + ", commit " + cmp.Or(commit, recorded, "unknown")
}
