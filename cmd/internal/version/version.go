// Package version tells which build of a command this is.
package version

import (
	"fmt"
	"runtime/debug"
)

// Set by release builds: go build -ldflags "-X …/cmd/internal/version.version=v0.1.0 -X ….commit=5907854".
var version, commit string

// String returns the name, version and commit of a command for --version. Without the
// linker's values it tells what go install knows, or "(devel)" for a build from a checkout.
func String(name string) string {
	v, c := version, commit
	if info, ok := debug.ReadBuildInfo(); ok && v == "" {
		v = info.Main.Version
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				c = setting.Value
			}
		}
	}
	if v == "" {
		v = "(devel)"
	}
	if c == "" {
		return fmt.Sprintf("%s %s", name, v)
	}
	return fmt.Sprintf("%s %s (commit %s)", name, v, c)
}
