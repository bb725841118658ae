// Package clock is the only source of wall time in this module. Its functions are those of package
// time. The build tag shiftedclock adds an offset to their results, so that every test, and every
// command that a test builds, can run at another date:
//
//	GOFLAGS=-tags=shiftedclock OMNIGRAPH_CLOCK_SHIFT=3653d go test -count=1 ./...
//
// A component with a date, an expiry or a time limit has an option for a clock, where nil means
// [Now]. Deadlines of connections are the exception: the runtime compares them with the system's
// clock, so they are computed from time.Now.
package clock
