//go:build unix && !linux

package fs

// lookUp returns the identity of what a path leads to.
func lookUp(path string) (identity, error) { return statIdentity(path) }
