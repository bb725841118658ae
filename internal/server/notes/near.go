package notes

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

const (
	// maxKeys is the maximum number of keys that are compared with an unknown key. If a type has at
	// most that many nodes, all of its keys are compared.
	maxKeys = 1000
	// maxNodes is a number of nodes. The engine searches the keys of a type for candidates only if
	// the type has at most this many nodes. In a larger type the search would take longer than the
	// read.
	maxNodes = 100_000
)

// lookup reads keys at one commit.
type lookup struct {
	ctx   context.Context // context of the reads
	graph engine.Graph    // the graph to read
	at    engine.Target   // the commit to read
}

// near returns, in quotes, at most [maxNear] keys of a type that resemble a text. The best key
// comes first. The key of the type must be one String property.
func (l *lookup) near(typ *catalog.Node, text string) []string {
	snapshot, err := l.graph.Snapshot(l.ctx, l.at)
	if err != nil {
		return nil
	}
	i := slices.IndexFunc(snapshot.Nodes, func(c engine.TypeCount) bool { return c.Type == typ.Name })
	if i < 0 || snapshot.Nodes[i].Count > maxNodes || strings.TrimSpace(text) == "" {
		return nil
	}
	if snapshot.Nodes[i].Count <= maxKeys {
		keys, _ := l.keys(typ, maxKeys, nil)
		return resembling(keys, text)
	}
	// First search for the keys that contain the text. Then search for the keys that share words
	// with it, in upper or lower case.
	key := property(typ, typ.Key[0]).(plan.Prop)
	wanted := value.OfString(text)
	keys, _ := l.keys(typ, maxKeys/2, nil, compare(plan.Contains, key, wanted))
	if near := resembling(keys, text); len(near) > 0 {
		return near
	}
	keys, _ = l.keys(typ, maxKeys/2, []plan.Order{{Expr: plan.BM25{Prop: key, Query: plan.Lit{Value: wanted}}, Desc: true}})
	return resembling(keys, text)
}

// keys returns the keys of the nodes that pass the filters. The argument `limit` is the maximum
// number of keys. If the key of the type is not one String property, it returns the ids of the
// nodes.
func (l *lookup) keys(typ *catalog.Node, limit int64, order []plan.Order, filters ...plan.Clause) ([]string, error) {
	column := plan.Column{Name: "key", Expr: plan.ID{}, Type: value.Of(value.String)}
	if len(typ.Key) == 1 {
		if p := property(typ, typ.Key[0]).(plan.Prop); p.Type.Kind == value.String {
			column.Expr, column.Type = p, p.Type
		}
	}
	q := &plan.Query{Name: "near", Read: &plan.Read{
		Vars: []plan.Var{{Name: "n", Entity: plan.Node, Type: typ.Name}}, Match: append([]plan.Clause{plan.Bind{}}, filters...),
		Columns: []plan.Column{column}, Order: order, Ties: []plan.VarID{0}, Limit: limit,
	}}
	r, err := l.graph.Query(l.ctx, q, nil, l.at)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var keys []string
	for {
		b, err := r.Next(l.ctx)
		if err != nil || b == nil {
			return keys, err
		}
		for _, k := range b.Columns[0].Strings[:b.Len] {
			keys = append(keys, strings.Clone(k))
		}
	}
}

// property returns the expression for the named property of variable 0. The name "" stands for the
// id.
func property(typ *catalog.Node, name string) plan.Expr {
	if name == "" {
		return plan.ID{}
	}
	return plan.Prop{Name: name, Type: typ.Property(name).Type}
}

// compare returns a filter that compares an expression with a value.
func compare(op plan.Op, of plan.Expr, with value.Value) plan.Clause {
	return plan.Filter{Cond: plan.Compare{Op: op, Left: of, Right: plan.Lit{Value: with}, Unless: plan.NoParam}}
}

// resembling returns, in quotes, at most [maxNear] of the keys that resemble a text. The best key
// comes first. Of equally good keys, the shorter one comes first.
func resembling(keys []string, text string) []string {
	type candidate struct {
		key  string
		rank int
	}
	var found []candidate
	for _, k := range keys {
		if rank := resemblance(k, text); rank < unlike {
			found = append(found, candidate{k, rank})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(len(a.key), len(b.key)), cmp.Compare(a.key, b.key))
	})
	var near []string
	for _, c := range found[:min(len(found), maxNear)] {
		near = append(near, quote(c.key))
	}
	return near
}

// The ways that a key can resemble a text, the best first.
const (
	otherCase  = iota // they differ in case
	suffix            // the key ends with the text, after the end of a word
	prefix            // the key begins with the text
	partSuffix        // the key ends with the text, within a word
	longer            // the text begins or ends with the key, at a word boundary
	unlike            // not similar
)

// resemblance compares a key with a text, without regard to case.
func resemblance(key, text string) int {
	k, t := strings.ToLower(key), strings.ToLower(text)
	switch {
	case k == t:
		return otherCase
	case k == "" || t == "":
		return unlike
	case strings.HasSuffix(k, t):
		if boundary(k[:len(k)-len(t)], t) {
			return suffix
		}
		return partSuffix
	case strings.HasPrefix(k, t):
		return prefix
	case strings.HasSuffix(t, k) && boundary(t[:len(t)-len(k)], k), strings.HasPrefix(t, k) && boundary(k, t[len(k):]):
		return longer
	}
	return unlike
}

// boundary reports whether a word ends between two parts of a text.
func boundary(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	return !word(last) || !word(first)
}
