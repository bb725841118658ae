//go:build !linux

package fs

// ReadRandomly does nothing on this system.
func (m *Mapping) ReadRandomly() {}

// ReadThrough does nothing on this system.
func (m *Mapping) ReadThrough(from, to int) {}

// Fetch does nothing on this system.
func (m *Mapping) Fetch(from, to int) {}
