package embedded

// Failure returns nil while the graph accepts writes, and the *engine.Unavailable that writes
// get otherwise. Reads continue in both cases.
//
// After a full disk, the graph itself checks whether there is free space again. After any other
// failure it must be closed and opened again: see [Options.LogFailed].
func (g *Graph) Failure() error { return g.store.Failure() }

// MustReopen reports whether the graph refuses writes until it is closed and opened again.
func (g *Graph) MustReopen() bool { return g.store.MustReopen() }
