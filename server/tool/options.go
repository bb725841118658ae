package tool

import "github.com/omnigraph-go/omnigraph/engine"

// ReadOption is an option of a generated function that reads. Without one, the function reads the head of main.
type ReadOption interface{ read(*engine.Target) }

// WriteOption is an option of a generated function that writes. Without one, the function writes to main. If two
// options set the same thing, the later one counts.
type WriteOption interface{ write(*engine.WriteOptions) }

// Option is an option of any generated function.
type Option interface {
	ReadOption
	WriteOption
}

// branch, target and writeOptions are the options.
type (
	branch       string
	target       engine.Target
	writeOptions engine.WriteOptions
)

func (b branch) read(t *engine.Target)                 { t.Branch = string(b) }
func (b branch) write(o *engine.WriteOptions)          { o.Branch = string(b) }
func (at target) read(t *engine.Target)                { *t = engine.Target(at) }
func (with writeOptions) write(o *engine.WriteOptions) { *o = engine.WriteOptions(with) }

// On reads or writes a branch instead of main.
func On(name string) Option { return branch(name) }

// At reads a target, such as a commit.
func At(t engine.Target) ReadOption { return target(t) }

// With writes with options, such as an actor or an idempotency key.
func With(o engine.WriteOptions) WriteOption { return writeOptions(o) }
