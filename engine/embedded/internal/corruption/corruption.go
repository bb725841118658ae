// Package corruption carries corruption errors from code that cannot return an error up to the
// exported methods of a graph.
//
// Stored data is read on first use, in the middle of an operator. A fault in it is
// therefore thrown as a panic. A method that may reach such a fault begins with
//
//	defer corruption.Catch(corruption.Watch(), &err)
//
// The deferred call turns the panic into the method's error, which is an *engine.Corrupt, or an *engine.Unavailable
// if data in shared storage cannot be fetched. Every other panic continues.
package corruption

import (
	"fmt"
	"runtime/debug"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
)

// thrown is the value that Throw panics with.
type thrown struct{ err error }

// Throw panics with err, an error in stored data. Catch recovers it and returns err from
// the method that deferred Catch.
func Throw(err error) { panic(thrown{err}) }

// Corrupt throws an *engine.Corrupt.
func Corrupt(object, format string, args ...any) {
	Throw(&engine.Corrupt{Object: object, Detail: fmt.Sprintf(format, args...)})
}

// Watch makes memory faults in this goroutine panic instead of crashing the process. It
// returns the previous setting, which the caller passes to Catch.
func Watch() bool { return debug.SetPanicOnFault(true) }

// Catch must be deferred. It sets *err to a thrown error, or to an *engine.Corrupt if the panic is
// a fault in the memory of a mapped file. It restores the setting for memory faults that was in
// force before Watch. Other panics continue.
func Catch(before bool, err *error) {
	debug.SetPanicOnFault(before)
	switch p := recover().(type) {
	case nil:
	case thrown:
		*err = p.err
	case interface{ Addr() uintptr }:
		name, offset, ok := fs.MappedFile(p.Addr())
		if !ok {
			panic(p)
		}
		*err = &engine.Corrupt{Object: name, Detail: fmt.Sprintf("offset %d: the mapped file cannot be read; its disk failed, or the file was truncated", offset)}
	default:
		panic(p)
	}
}
