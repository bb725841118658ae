//go:build !fault_tombstone

package version

// dropTombstones makes a merge ignore the deletions of the source. The build tag
// fault_tombstone turns on this deliberate fault, which the random comparison test must
// find.
const dropTombstones = false
