// Package clock is the one source of wall time in this module. Its functions are those of
// package time. The build tag shiftedclock adds an offset to them, so that every test, and
// every command that a test builds, can run at another date:
//
//	GOFLAGS=-tags=shiftedclock OMNIGRAPH_CLOCK_SHIFT=3653d go test -count=1 ./...
//
// A component with a date, an expiry or a time limit takes a clock in its options, where
// nil stands for [Now]. Deadlines of connections are the exception: the runtime compares
// them with its own clock, so they are reckoned from time.Now.
package clock
