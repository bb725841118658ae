// Package buildversion tells which version and commit of its source code a program was built from.
package buildversion

import (
	"runtime/debug"
	"slices"
)

// A release build sets these variables with the linker flag -X. In all other builds they are empty.
var release, commit string

// Release returns the version of a release build, such as v0.1.0, or "" for any other build.
func Release() string { return release }

// Program returns the version of this program: that of the release, or else that of its main module,
// or "(devel)" if neither is known.
func Program() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// Commit returns the commit of the source code of this program, or "" if it is not known.
func Commit() string {
	if commit != "" {
		return commit
	}
	info, _ := debug.ReadBuildInfo()
	return revision(info)
}

// revision returns the commit that the go command recorded in a program, or "".
func revision(info *debug.BuildInfo) string {
	if info == nil {
		return ""
	}
	i := slices.IndexFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "vcs.revision" })
	if i < 0 {
		return ""
	}
	return info.Settings[i].Value
}
