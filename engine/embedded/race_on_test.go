//go:build race

package embedded

// raced says that the race detector is on, with which everything takes many times as
// long.
const raced = true
