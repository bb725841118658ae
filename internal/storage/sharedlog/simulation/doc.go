// Package simulation runs three servers with the protocol of package sharedlog, in one goroutine
// and in virtual time. A seed determines the whole run: the same seed always gives the same run.
// The package is for tests only.
//
// The simulated network loses requests and replies, delays, reorders and repeats them. The storage
// sometimes answers that it is busy. Servers stall for longer than a lease, lose power at any
// request, and have clocks that run too fast, too slow or jump. Clients append tokens to lists and
// read them; package porcupine checks that writes and latest reads are linearizable.
package simulation
