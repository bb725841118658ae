package receipts

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/logrecord"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/schema"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// New returns a receipt for an idempotency key, or nil for "".
func New(key string) *logrecord.Receipt {
	if key == "" {
		return nil
	}
	return &logrecord.Receipt{Key: key}
}

// OfLoad returns a hash for a load. The caller writes the load's input to it.
func OfLoad(opts *engine.LoadOptions) hash.Hash {
	h := sha256.New()
	mode := byte(opts.Mode)
	if opts.NewEdges {
		mode |= 1 << 6
	}
	if opts.LastWins {
		mode |= 1 << 7
	}
	h.Write([]byte{'l', mode})
	if s := &opts.Sync; opts.Mode == engine.Sync {
		d := digest{h: h}
		d.text(s.Source)
		for _, list := range [][]string{s.Types, s.Yield} {
			d.number(len(list))
			for _, name := range list {
				d.text(name)
			}
		}
		cascade := 0
		if s.Cascade {
			cascade = 1
		}
		d.number(cascade)
		d.number(int(s.ApproveDeletes))
	}
	return h
}

// OfMerge returns the digest of a merge of the branch `source`.
func OfMerge(source string) [32]byte { return sha256.Sum256([]byte("m" + source)) }

// OfStatement digests the name of a mutation, its arguments by their names, and the form of its answer: a receipt has the values of
// the answer alone, so a mutation that answers with other columns by now does not repeat it.
func OfStatement(name string, q *plan.Query, args engine.Args) (sum [32]byte) {
	d := digest{h: sha256.New()}
	d.text("statement")
	d.text(name)
	params := q.Declared()
	order := make([]int, min(len(args), len(params)))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return strings.Compare(params[i].Name, params[j].Name) })
	d.number(len(order))
	for _, i := range order {
		d.text(params[i].Name)
		d.value(args[i])
	}
	if q.Mutation != nil {
		for i := range q.Mutation.Returns {
			c := &q.Mutation.Returns[i]
			d.text(c.Name)
			d.text(c.TypeText())
		}
	}
	d.h.Sum(sum[:0])
	return sum
}

// OfMutation digests the statements and the arguments of a mutation. Each part is written
// with its length, so that different mutations have different digests. The arguments that say who the caller is do not count: the
// receipt is the caller's already, and a caller whose groups or claims change must find the outcome of its call.
func OfMutation(q *plan.Query, args engine.Args) (sum [32]byte) {
	d := digest{h: sha256.New()}
	d.text("mutation")
	d.args(q, args)
	if q.Mutation != nil {
		for _, s := range q.Mutation.Statements {
			d.statement(s)
		}
		if m := q.Mutation; m.Returns != nil {
			d.text("return")
			d.plan(&plan.Query{Mutation: &plan.Mutation{Vars: m.Vars, Returns: m.Returns}})
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

// plan hashes the encoding of a plan without its first byte, which is the number of the encoding.
func (d digest) plan(q *plan.Query) { d.text(plan.Encode(q)[1:]) }

// args hashes the arguments without those that say who the caller is.
func (d digest) args(q *plan.Query, args engine.Args) {
	args = args[:min(len(args), len(q.Declared()))]
	d.number(len(args))
	for _, a := range args {
		d.value(a)
	}
}

// statement hashes a statement of a mutation.
func (d digest) statement(s plan.Statement) {
	switch s := s.(type) {
	case plan.Insert:
		if d.text("insert"); s.Upsert {
			d.text("upsert")
		}
		if s.New {
			d.text("new")
		}
		d.number(int(s.Entity))
		d.text(s.Type)
		for _, e := range []plan.Expr{s.From, s.To, s.ID} {
			d.expr(e)
		}
		d.assigns(s.Set)
		if s.As != nil {
			d.text("as")
			d.number(int(*s.As))
		}
	case plan.Update:
		if d.text("update"); s.Entity == plan.Edge {
			d.text("edge")
		}
		d.text(s.Type)
		d.assigns(s.Set)
		d.preds(s.Where)
	case plan.Delete:
		d.text("delete")
		d.number(int(s.Entity))
		d.text(s.Type)
		d.preds(s.Where)
	case plan.ForEach:
		d.text("for each")
		d.expr(s.List)
		if s.Read != nil {
			d.plan(&plan.Query{Read: s.Read})
		}
		d.number(len(s.Statements))
		for _, inner := range s.Statements {
			d.statement(inner)
		}
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

// preds hashes the predicates of an update or a delete.
func (d digest) preds(list []plan.Pred) {
	for i, p := range list {
		if i > 0 {
			d.text("and")
		}
		d.text(p.Name)
		d.number(int(p.Op))
		d.expr(p.Value)
	}
}

// expr digests an expression of a mutation.
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
	case plan.Old:
		d.text("old")
		d.text(e.Name)
	case plan.Cell:
		d.text("cell")
		d.number(e.Column)
	case plan.ID:
		d.text("id")
		d.number(int(e.Var))
	case plan.KeyOf:
		d.text("key")
		d.text(e.Node)
		d.assigns(e.Key)
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
		d.text(v.Raw())
	case v.Kind().Storage() == value.InVector:
		d.number(len(v.Vector()))
		_ = binary.Write(d.h, binary.LittleEndian, v.Vector()) // a hash returns no error
	default:
		d.number(int(v.Code()))
	}
}

// OfSchemaChange digests the content of a call of ApplySchema, for its idempotency receipt.
func OfSchemaChange(to *schema.Schema, opts engine.SchemaOptions) (sum [32]byte) {
	d := digest{h: sha256.New()}
	d.text("schema")
	d.text(to.Digest)
	d.text(to.Source)
	for _, option := range []bool{opts.AllowDataLoss, opts.Hard} {
		if option {
			d.number(1)
		} else {
			d.number(0)
		}
	}
	d.h.Sum(sum[:0])
	return sum
}
