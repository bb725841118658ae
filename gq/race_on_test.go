//go:build race

package gq_test

// raced says that the race detector runs, with which tens of megabytes take minutes
// and gigabytes.
const raced = true
