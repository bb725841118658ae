//go:build race

package syntax

// raced is true if the race detector is on. It makes texts of tens of megabytes take minutes,
// and gigabytes of memory.
const raced = true
