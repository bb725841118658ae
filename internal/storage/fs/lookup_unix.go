//go:build unix && !linux

package fs

// lookUp returns the identity of the file or directory at a path.
func lookUp(path string) (identity, error) { return statIdentity(path) }
