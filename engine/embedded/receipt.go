package embedded

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"maps"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/version"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// receiptAge is how long a call is answered from its receipt.
const receiptAge = 24 * time.Hour

// receiptKey is what a receipt of a branch is found by.
type receiptKey struct{ actor, key string }

// receipted is a receipt with what became of the commit that holds it. It does not name
// the commit's state, which it would keep in memory for a day.
type receipted struct {
	version.Receipted
	out *outcome // nil of a commit that was recovered
}

// settled waits until the commit is durable.
func (r *receipted) settled(ctx context.Context) error { return (&commit{out: r.out}).settled(ctx) }

func newReceipt(key string) *version.Receipt {
	if key == "" {
		return nil
	}
	return &version.Receipt{Key: key}
}

// pruneEvery is after how many receipts the outdated ones are looked for.
const pruneEvery = 1024

// keep takes note of the receipt of a commit. It is called in turn, with Graph.lines
// locked.
func (b *branch) keep(made *commit, receipt *version.Receipt) {
	if receipt == nil {
		return
	}
	c := made.snap.Commit
	b.receipts[receiptKey{c.Actor, receipt.Key}] = &receipted{version.Receipted{Commit: c, Receipt: *receipt}, made.out}
	if len(b.receipts)%pruneEvery == 0 {
		maps.DeleteFunc(b.receipts, func(_ receiptKey, r *receipted) bool { return r.outdated(c.Time) })
	}
}

func (r *receipted) outdated(now time.Time) bool { return now.Sub(r.Commit.Time) >= receiptAge }

// repeated finds the receipt of the call that w repeats. The error is a
// *engine.Conflict when the call asked for something else. The branch is locked.
func (g *Graph) repeated(b *branch, w *write) (*receipted, error) {
	if w.receipt == nil || w.dryRun {
		return nil, nil
	}
	r := b.receipts[receiptKey{w.actor, w.receipt.Key}]
	if r == nil || r.outdated(g.time()) {
		return nil, nil
	}
	if r.Receipt.Body != w.receipt.Body {
		return nil, &engine.Conflict{Reason: "idempotency key " + w.receipt.Key + " was used for another write, commit " + r.Commit.ID + "; choose another key"}
	}
	return r, nil
}

// answered finds the receipt of the call that w repeats, ahead of its turn to write, and
// waits until the commit that it names is durable. The errors are those of repeated too.
func (g *Graph) answered(ctx context.Context, b *branch, w *write) (*receipted, error) {
	if w.receipt == nil || w.dryRun {
		return nil, nil
	}
	if err := b.lock(ctx); err != nil {
		return nil, err
	}
	first, err := g.repeated(b, w)
	b.unlock()
	if first == nil || err != nil {
		return nil, err
	}
	return first, first.settled(ctx)
}

func loadDigest(mode engine.LoadMode) hash.Hash {
	h := sha256.New()
	h.Write([]byte{'l', byte(mode)})
	return h
}

func mergeDigest(source string) [32]byte { return sha256.Sum256([]byte("m" + source)) }

// mutationDigest digests the statements of a mutation and its arguments: each part
// with its length, so that no two mutations look alike.
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

type digest struct{ h hash.Hash }

func (d digest) number(n int) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	d.h.Write(b[:])
}

func (d digest) text(s string) {
	d.number(len(s))
	d.h.Write([]byte(s))
}

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

func (d digest) assigns(list []plan.Assign) {
	d.number(len(list))
	for _, a := range list {
		d.text(a.Name)
		d.expr(a.Value)
	}
}

func (d digest) pred(p plan.Pred) {
	d.text(p.Name)
	d.number(int(p.Op))
	d.expr(p.Value)
}

// expr digests what a mutation computes with: a literal, a parameter or now.
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
	}
}

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
	case v.Kind() == value.String:
		d.text(v.Str())
	case v.Kind() == value.Blob:
		d.text(string(v.Bytes()))
	case v.Kind() == value.Vector:
		d.number(len(v.Vector()))
		_ = binary.Write(d.h, binary.LittleEndian, v.Vector()) // a hash never fails
	default:
		d.number(int(v.Bits()))
	}
}
