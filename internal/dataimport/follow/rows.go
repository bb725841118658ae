package follow

import (
	"github.com/jackc/pglogrepl"
)

// row is what happened to one row of a table in some transactions.
type row struct {
	of      *relation
	existed bool
	before  []cell // the known values before; nil if the row is new
	after   []cell // nil if the row is gone
}

// rowKey identifies a row of a source.
type rowKey struct {
	source int
	key    string
}

// net collects changes of rows to their net effect.
type net struct {
	list []*row
	live map[rowKey]*row // by the present key
	gone map[rowKey]*row // rows that existed before, by the key that they had at their end
}

// newNet returns an empty net effect.
func newNet() *net { return &net{live: map[rowKey]*row{}, gone: map[rowKey]*row{}} }

// find returns the row with a key that existed before the change.
func (n *net) find(r *relation, key rowKey, known []cell) *row {
	if x := n.live[key]; x != nil {
		return x
	}
	x := &row{of: r, existed: true, before: known}
	n.list, n.live[key] = append(n.list, x), x
	return x
}

// add adds a change.
func (n *net) add(r *relation, m pglogrepl.Message) {
	key := func(cells []cell) rowKey { return rowKey{r.source, r.keyOf(cells)} }
	switch m := m.(type) {
	case *pglogrepl.InsertMessage:
		now := r.cells(m.Tuple)
		k := key(now)
		x := n.live[k] // of a table without a unique index, which may have equal rows
		if x == nil {
			x = n.gone[k]
		}
		if x == nil {
			x = &row{}
			n.list = append(n.list, x)
		}
		delete(n.gone, k)
		x.of, x.after, n.live[k] = r, now, x
	case *pglogrepl.UpdateMessage:
		now := r.cells(m.NewTuple)
		var old []cell
		if m.OldTuple != nil {
			old = r.old(m.OldTuple)
		} else {
			old = make([]cell, len(now))
			for c := range now {
				if r.known[c] {
					old[c] = now[c]
				}
			}
		}
		from := key(old)
		x := n.find(r, from, old)
		for c := range now {
			if now[c].form != 'u' {
				continue
			}
			switch {
			case x.after != nil:
				now[c] = x.after[c]
			case m.OldTuple != nil && r.known[c]:
				now[c] = old[c]
			}
		}
		if to := key(now); from != to {
			delete(n.live, from)
			n.live[to] = x
		}
		x.of, x.after = r, now
	case *pglogrepl.DeleteMessage:
		old := r.old(m.OldTuple)
		k := key(old)
		x := n.find(r, k, old)
		delete(n.live, k)
		if x.after = nil; x.existed {
			n.gone[k] = x
		}
	}
}
