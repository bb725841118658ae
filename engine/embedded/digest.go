package embedded

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// newReceipt returns a receipt for an idempotency key, or nil for "".
func newReceipt(key string) *version.Receipt {
	if key == "" {
		return nil
	}
	return &version.Receipt{Key: key}
}

// loadDigest returns a hash for a load. The caller writes the load's input to it.
func loadDigest(mode engine.LoadMode) hash.Hash {
	h := sha256.New()
	h.Write([]byte{'l', byte(mode)})
	return h
}

// mergeDigest returns the digest of a merge of the branch `source`.
func mergeDigest(source string) [32]byte { return sha256.Sum256([]byte("m" + source)) }

// mutationDigest digests the statements and the arguments of a mutation. Each part is written
// with its length, so that different mutations have different digests.
func mutationDigest(q *plan.Query, args engine.Args) (sum [32]byte) {
	d := digest{h: sha256.New()}
	d.text("mutation")
	d.number(len(args))
	for _, a := range args {
		d.value(a)
	}
	if q.Mutation != nil {
		for _, s := range q.Mutation.Statements {
			d.statement(s)
		}
	}
	d.h.Sum(sum[:0])
	return sum
}

// digest hashes the parts of a mutation.
type digest struct{ h hash.Hash }

// number hashes a number.
func (d digest) number(n int) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	d.h.Write(b[:])
}

// text hashes the length and the bytes of a text.
func (d digest) text(s string) {
	d.number(len(s))
	d.h.Write([]byte(s))
}

// statement hashes a statement of a mutation.
func (d digest) statement(s plan.Statement) {
	switch s := s.(type) {
	case plan.Insert:
		d.text("insert")
		d.number(int(s.Entity))
		d.text(s.Type)
		for _, e := range []plan.Expr{s.From, s.To, s.ID} {
			d.expr(e)
		}
		d.assigns(s.Set)
	case plan.Update:
		d.text("update")
		d.text(s.Type)
		d.assigns(s.Set)
		d.pred(s.Where)
	case plan.Delete:
		d.text("delete")
		d.number(int(s.Entity))
		d.text(s.Type)
		d.pred(s.Where)
	}
}

// assigns hashes the properties that a statement sets, with their values.
func (d digest) assigns(list []plan.Assign) {
	d.number(len(list))
	for _, a := range list {
		d.text(a.Name)
		d.expr(a.Value)
	}
}

// pred hashes the condition of an update or a delete.
func (d digest) pred(p plan.Pred) {
	d.text(p.Name)
	d.number(int(p.Op))
	d.expr(p.Value)
}

// expr digests an expression of a mutation: a literal, a parameter, `now`, or an expression that is
// computed from them.
func (d digest) expr(e plan.Expr) {
	switch e := e.(type) {
	case nil:
		d.text("")
	case plan.Lit:
		d.text("literal")
		d.value(e.Value)
	case plan.ParamRef:
		d.text("parameter")
		d.number(e.Index)
	case plan.Now:
		d.text("now")
	case plan.Apply:
		d.text("function")
		d.number(int(e.Func))
		d.number(len(e.Args))
		for _, a := range e.Args {
			d.expr(a)
		}
	case plan.Test:
		switch c := e.Cond.(type) {
		case plan.Compare:
			d.text("test")
			d.number(int(c.Op))
			d.expr(c.Left)
			d.expr(c.Right)
		case plan.NullTest:
			d.text("null test")
			if c.Not {
				d.text("not")
			}
			d.expr(c.Expr)
		}
	}
}

// value hashes a value with its kind.
func (d digest) value(v value.Value) {
	d.number(int(v.Kind()))
	switch {
	case v.IsNull():
		d.text("null")
	case v.IsList():
		d.text("list")
		d.number(len(v.Elems()))
		for _, e := range v.Elems() {
			d.value(e)
		}
	case v.Kind().Storage() == value.InText:
		d.text(v.Str())
	case v.Kind().Storage() == value.InBytes:
		d.text(string(v.Bytes()))
	case v.Kind().Storage() == value.InVector:
		d.number(len(v.Vector()))
		_ = binary.Write(d.h, binary.LittleEndian, v.Vector()) // a hash returns no error
	default:
		d.number(int(v.Bits()))
	}
}
