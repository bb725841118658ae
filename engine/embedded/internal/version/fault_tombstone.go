//go:build fault_tombstone

package version

// dropTombstones makes a merge ignore the deletions of the source.
const dropTombstones = true
