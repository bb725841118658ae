package engine

import "time"

// MaxWatchBytes is the maximum size in bytes of the arguments of a watch, and of its state.
const MaxWatchBytes = 64 << 10

// Watch is a standing question: a stored read with its arguments, on a branch, whose answer its owner
// follows. The graph only keeps it; whoever serves the graph runs the read. Only the state of a watch changes.
type Watch struct {
	ID        string        // a ULID, which the engine makes
	Owner     string        // the actor to whom the watch belongs; empty if the caller gave none
	Query     string        // name of the stored read
	Arguments []byte        // the arguments of the read as a JSON object; nil for none
	Branch    string        // name of the branch; it may be deleted while the watch exists
	Debounce  time.Duration // how long the owner waits after a change for further ones; in milliseconds
	Made      time.Time     // when the watch was made, with a precision of microseconds
	State     []byte        // what the server keeps with the watch, in a form of its own; nil for none
}

// WatchRange selects watches.
type WatchRange struct {
	ID    string // the id of the only watch to select; empty for all
	Owner string // the owner; empty for all
}
