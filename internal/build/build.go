// Package build says what this program was built from.
package build

import (
	"cmp"
	"runtime"
	"runtime/debug"
)

// Set by builds that have no repository to look at: -ldflags "-X github.com/chatd/chatd/internal/build.commit=...". Other
// builds use what the toolchain recorded.
var version, commit = "", ""

// Info is what a program was built from.
type Info struct {
	Version string // of the module, (devel) if it has none
	Commit  string // with +dirty if the tree was changed since; "unknown" if nobody said
	Go      string // the version of Go
}

// Read returns what this program was built from.
func Read() Info {
	i := Info{Version: version, Commit: commit, Go: runtime.Version()}
	if built, ok := debug.ReadBuildInfo(); ok {
		i.Version = cmp.Or(i.Version, built.Main.Version)
		i.Commit = cmp.Or(i.Commit, recorded(built.Settings))
	}
	i.Version, i.Commit = cmp.Or(i.Version, "(devel)"), cmp.Or(i.Commit, "unknown")
	return i
}

func recorded(settings []debug.BuildSetting) (commit string) {
	var dirty string
	for _, s := range settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+dirty"
		}
	}
	if commit == "" {
		return ""
	}
	return commit + dirty
}
