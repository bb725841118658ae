package tool

import "context"

// Source says how source code differs from what a graph was read from.
type Source interface {
	// At returns the state for the graph at a commit, or nil if the graph was not read from a folder.
	At(ctx context.Context, commit string) *SourceState
}

// SourceState says how source code differs from what a graph was read from.
type SourceState struct {
	Branch  string // the branch to which omnigraph index go --watch writes by default
	Indexed string // the Git commit that was read; empty if it is not known
	Unknown string // why some of the following is not known; empty if all is known

	Known   bool     // the fields below say what is known
	Head    string   // the Git commit that is checked out; empty if it is not known
	Behind  bool     // Head differs from Indexed
	Dirty   int      // number of files that were changed, added or removed since they were read
	Changed []string // the paths of the first of them
}
