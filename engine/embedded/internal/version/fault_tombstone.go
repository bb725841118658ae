//go:build fault_tombstone

package version

const dropTombstones = true
