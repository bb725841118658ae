// Package simulation runs three servers on the protocol of package sharedlog, in one goroutine, on
// virtual time, from a seed. It is for tests only. The same seed always gives the same run.
//
// The simulated network loses requests and replies, delays, reorders and repeats them. The storage
// answers that it is busy. Servers stall for longer than a lease, lose power at any request, and have
// clocks that run too fast, too slow or jump. Clients append tokens to lists and read them; package
// porcupine checks that writes and latest reads are linearizable.
package simulation
