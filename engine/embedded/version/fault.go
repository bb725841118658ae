//go:build !fault_tombstone

package version

// dropTombstones makes a merge forget what the source deleted: a fault to be found by
// the random comparison, with the build tag fault_tombstone.
const dropTombstones = false
