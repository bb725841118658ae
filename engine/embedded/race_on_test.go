//go:build race

package embedded

// raced reports whether the race detector is on, which slows everything down many times.
const raced = true
