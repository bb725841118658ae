// Package damage carries faults of stored data from where no error can be returned to
// the calls of a graph.
//
// What is stored is read on its first use, in the middle of an operator, so its faults
// are thrown as panics. A call that may meet one begins with
//
//	defer damage.Catch(damage.Watch(), &err)
//
// and so returns an *engine.Corrupt. Every other panic goes on.
package damage

import (
	"fmt"
	"runtime/debug"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/fs"
)

// thrown is the panic of a fault.
type thrown struct{ err error }

// Throw ends the call under way with an error, of something that is stored.
func Throw(err error) { panic(thrown{err}) }

// Corrupt throws an *engine.Corrupt.
func Corrupt(object, format string, args ...any) {
	Throw(&engine.Corrupt{Object: object, Detail: fmt.Sprintf(format, args...)})
}

// Watch makes faults of memory panics in this goroutine, and returns what was before.
func Watch() bool { return debug.SetPanicOnFault(true) }

// Catch must be deferred. It turns a thrown fault, or a fault of a mapped file, into the error
// of the call, and ends what Watch began.
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
		*err = &engine.Corrupt{Object: name, Detail: fmt.Sprintf("offset %d: the mapped file cannot be read; its disk failed or it was cut short", offset)}
	default:
		panic(p)
	}
}
