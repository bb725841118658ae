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
	// maxKeys is the maximum number of keys that are compared with the unknown keys of a note. If a type has at
	// most that many nodes, all of its keys are compared.
	maxKeys = 1000
	// maxRanked is a number of nodes. The engine ranks the keys of a type by their words only if the type has at
	// most this many nodes, since it builds a text index of the keys for that.
	maxRanked = 100_000
	// maxNodes is a number of nodes. The engine searches the keys of a type for the unknown key only if the type has
	// at most this many nodes: it then takes some tens of milliseconds. In a larger type it looks up some forms of the key.
	maxNodes = 1_000_000
	// maxForms is the maximum number of forms of an unknown key that are looked up.
	maxForms = 32
)

// lookup reads keys at one commit.
type lookup struct {
	ctx   context.Context // context of the reads
	graph engine.Graph    // the graph to read
	at    engine.Target   // the commit to read
}

// suggest returns existing keys of types that resemble the unknown ones, as a note writes them. The best key comes
// first, and there are at most [maxNear]. All types have the key `members`, or `members` is the id.
func (l *lookup) suggest(types []*catalog.Node, members []string, equal equalities) []string {
	counts := map[string]int64{}
	if snapshot, err := l.graph.Snapshot(l.ctx, l.at); err == nil {
		for _, c := range snapshot.Nodes {
			counts[c.Type] = c.Count
		}
	}
	first := types[0]
	switch {
	case len(members) > 1:
		if counts[first.Name] <= maxRanked && len(types) == 1 {
			return l.nearMembers(first, members, equal)
		}
		return nil
	case members[0] == "" && (len(first.Key) != 1 || !sameKeys(types) || first.Property(first.Key[0]).Type.Kind != value.String):
		return nil // the ids are not texts that a person chose, so similar ids do not help
	}
	values := equal[members[0]]
	values = values[:min(len(values), maxNamed)]
	if values[0].Kind() != value.String {
		return l.nearValues(types, members[0], values[0], counts)
	}
	var texts, keys []string
	for _, v := range values {
		if strings.TrimSpace(v.Str()) != "" {
			texts = append(texts, v.Str())
		}
	}
	share := int64(maxKeys / len(types) / max(1, len(texts)))
	for _, typ := range types {
		for _, text := range texts {
			keys = append(keys, l.candidates(typ, text, counts[typ.Name], share)...)
		}
	}
	return resembling(keys, texts)
}

// candidates returns keys of a type that may resemble a text, at most `share`. The key of the type must be one String
// property, and the type has `count` nodes.
func (l *lookup) candidates(typ *catalog.Node, text string, count, share int64) []string {
	if count <= share {
		keys, _ := l.keys(typ, share, nil)
		return keys
	}
	// First search for the keys that contain the text. Then search for the keys that share words
	// with it, in upper or lower case.
	key := property(typ, typ.Key[0]).(plan.Prop)
	wanted := value.OfString(text)
	if count <= maxNodes {
		keys, _ := l.keys(typ, share/2, nil, compare(plan.Contains, key, wanted))
		if len(resembling(keys, []string{text})) > 0 {
			return keys
		}
	}
	if count <= maxRanked {
		keys, _ := l.keys(typ, share/2, []plan.Order{{Expr: plan.BM25{Prop: key, Query: plan.Lit{Value: wanted}}, Desc: true}})
		return keys
	}
	var forms []value.Value
	for _, f := range formsOf(text) {
		forms = append(forms, value.OfString(f))
	}
	keys, _ := l.keys(typ, maxForms, nil, oneOf(key, forms))
	return keys
}

// formsOf returns texts that resemble a text, at most maxForms: the text in lower and in upper case, and its beginnings
// and endings at the boundary of a word.
func formsOf(text string) []string {
	first, size := utf8.DecodeRuneInString(text)
	forms := []string{strings.ToLower(text), strings.ToUpper(text), string(unicode.ToUpper(first)) + text[size:], string(unicode.ToLower(first)) + text[size:]}
	for i := range text {
		if i > 0 && boundary(text[:i], text[i:]) && len(forms)+2 <= maxForms {
			forms = append(forms, text[i:], text[:i])
		}
	}
	return forms
}

// nearValues returns the next smaller and the next greater values of a key that is not a text: numbers, dates and
// instants.
func (l *lookup) nearValues(types []*catalog.Node, member string, v value.Value, counts map[string]int64) []string {
	if v.Kind() == value.Bool || len(types) > 1 || counts[types[0].Name] > maxNodes {
		return nil
	}
	key := property(types[0], member).(plan.Prop)
	below := l.rows(types[0], []plan.Expr{key}, maxNear-1, []plan.Order{{Expr: key, Desc: true}}, compare(plan.Lt, key, v))
	above := l.rows(types[0], []plan.Expr{key}, maxNear-len(below[:min(len(below), 1)]), []plan.Order{{Expr: key}}, compare(plan.Gt, key, v))
	if len(above) > 0 {
		below = below[:min(len(below), maxNear-len(above))]
	}
	slices.Reverse(below)
	var near []string
	for _, row := range slices.Concat(below, above) {
		near = append(near, quoted(row[0]))
	}
	return near
}

// nearMembers returns composite keys that differ from the unknown one in one member. Keys whose text resembles that of
// the unknown member come first.
func (l *lookup) nearMembers(typ *catalog.Node, members []string, equal equalities) []string {
	exprs := make([]plan.Expr, len(members))
	for i, m := range members {
		exprs[i] = property(typ, m)
	}
	type candidate struct {
		key  string
		rank int
	}
	var found []candidate
	for i, m := range members {
		var filters []plan.Clause
		for j, other := range members {
			if j != i {
				filters = append(filters, oneOf(exprs[j], equal[other]))
			}
		}
		for _, row := range l.rows(typ, exprs, maxKeys/len(members), nil, filters...) {
			parts := make([]string, len(members))
			for j, name := range members {
				parts[j] = name + " " + quoted(row[j])
			}
			found = append(found, candidate{strings.Join(parts, " and "), resemblance(value.Text(row[i]), value.Text(equal[m][0]))})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.key, b.key)) })
	var near []string
	for _, c := range found[:min(len(found), maxNear)] {
		near = append(near, "("+c.key+")")
	}
	return near
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
	var keys []string
	err := l.read(typ, []plan.Column{column}, limit, order, filters, func(b *engine.Batch) {
		for _, k := range b.Columns[0].Strings[:b.Len] {
			keys = append(keys, strings.Clone(k))
		}
	})
	return keys, err
}

// rows returns values of the nodes that pass the filters, at most `limit` rows. The values are scalars of properties. It
// returns no rows if the read fails.
func (l *lookup) rows(typ *catalog.Node, exprs []plan.Expr, limit int, order []plan.Order, filters ...plan.Clause) (rows [][]value.Value) {
	var columns []plan.Column
	for _, e := range exprs {
		columns = append(columns, plan.Column{Name: e.(plan.Prop).Name, Expr: e, Type: e.(plan.Prop).Type})
	}
	err := l.read(typ, columns, int64(limit), order, filters, func(b *engine.Batch) {
		for i := range b.Len {
			row := make([]value.Value, len(columns))
			for c := range columns {
				if row[c] = b.Columns[c].Value(i); row[c].Kind() == value.String {
					row[c] = value.OfString(strings.Clone(row[c].Str()))
				}
			}
			rows = append(rows, row)
		}
	})
	if err != nil {
		return nil
	}
	return rows
}

// read reads columns of the nodes of a type. It calls visit for each batch, which is valid only during the call.
func (l *lookup) read(typ *catalog.Node, columns []plan.Column, limit int64, order []plan.Order, filters []plan.Clause, visit func(*engine.Batch)) error {
	q := &plan.Query{Name: "near", Read: &plan.Read{
		Vars: []plan.Var{{Name: "n", Entity: plan.Node, Type: typ.Name}}, Match: append([]plan.Clause{plan.Bind{}}, filters...),
		Columns: columns, Order: order, Ties: []plan.VarID{0}, Limit: limit,
	}}
	r, err := l.graph.Query(l.ctx, q, nil, l.at)
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		b, err := r.Next(l.ctx)
		if err != nil || b == nil {
			return err
		}
		visit(b)
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

// oneOf returns a filter that compares an expression with values. One of them must be equal.
func oneOf(of plan.Expr, values []value.Value) plan.Clause {
	if len(values) == 1 {
		return compare(plan.Eq, of, values[0])
	}
	return compare(plan.In, of, value.OfList(values[0].Kind(), values))
}

// resembling returns, in quotes, at most [maxNear] of the keys that resemble one of the texts. The best key
// comes first. Of equally good keys, the shorter one comes first.
func resembling(keys, texts []string) []string {
	type candidate struct {
		key  string
		rank int
	}
	var found []candidate
	for _, k := range keys {
		rank := unlike
		for _, text := range texts {
			rank = min(rank, resemblance(k, text))
		}
		if rank < unlike {
			found = append(found, candidate{k, rank})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(len(a.key), len(b.key)), cmp.Compare(a.key, b.key))
	})
	found = slices.Compact(found) // two texts may have led to one key, and two types may have it
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
