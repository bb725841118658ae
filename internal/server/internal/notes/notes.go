// Package notes explains reads without rows, and mutations that changed nothing, to their callers: which key or enum
// value in the conditions does not exist, and which existing keys resemble it.
//
// A note tells a caller whether a key exists, and names other keys. Call [ForEmpty] and [ForIdle] only for a
// caller that may read the whole branch.
package notes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Limits on the notes of one read.
const (
	maxNotes  = 4   // number of notes
	maxNear   = 3   // keys in one note
	maxQuoted = 200 // bytes of a quoted value
	maxEnum   = 20  // enum values in one note
	maxNamed  = 3   // values of one condition in one note
	maxTypes  = 20  // types of an interface that are searched
)

// ForEmpty returns the notes on a read that has no rows at a target with a commit. It examines the conditions
// that every row must meet, in the order of the variables; if these say nothing, it finds the first clause without a match. It reads the same
// commit, at the same instant. A note is help that the caller did not ask for, so ForEmpty
// leaves out a note if a read for the note fails.
func ForEmpty(ctx context.Context, g engine.Graph, q *plan.Query, args engine.Args, at engine.Target) []string {
	look := &lookup{ctx: ctx, graph: g, at: at}
	schema, err := g.Schema(ctx, at)
	if err != nil {
		return nil
	}
	notes := look.forRead(schema.Catalog, q, args)
	if len(notes) == 0 {
		if why := cmp.Or(look.nothingOf(q), look.firstWithout(q, args)); why != "" {
			if q.Read.Valid != nil {
				why = "of what is valid then: " + why
			}
			notes = []string{why}
		}
	}
	return notes
}

// forRead returns the notes on a read without rows.
func (l *lookup) forRead(s *catalog.Schema, q *plan.Query, args engine.Args) []string {
	wanted := l.conditions(q, args)
	if wanted == nil {
		return nil
	}
	var notes []string
	for id, v := range q.Read.Vars {
		equal := wanted[plan.VarID(id)]
		if equal == nil || len(notes) == maxNotes {
			continue
		}
		if note := l.note(s, v, equal); note != "" && !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	return notes
}

// note returns the note on a variable, or "" for none.
func (l *lookup) note(s *catalog.Schema, v plan.Var, equal equalities) string {
	switch v.Entity {
	case plan.Edge:
		if e := s.Edge(v.Type); e != nil {
			return unknownEnum(e.Name, e.Properties, equal)
		}
	case plan.Node:
		if n := s.Node(v.Type); n != nil {
			return cmp.Or(unknownEnum(n.Name, n.Properties, equal), l.unknownKey(s, n.Name, []*catalog.Node{n}, equal))
		}
	case plan.Interface:
		return l.ofInterface(s, v.Type, equal)
	}
	return ""
}

// ofInterface returns the note on a variable over an interface. A condition on the type leaves only some types.
func (l *lookup) ofInterface(s *catalog.Schema, name string, equal equalities) string {
	face := s.Interface(name)
	types := s.Implementers(name)
	if face == nil || len(types) == 0 || len(types) > maxTypes {
		return ""
	}
	if note := unknownEnum(name, face.Properties, equal); note != "" {
		return note
	}
	is, ok := equal[catalog.TypeProperty]
	if !ok {
		return l.unknownKey(s, name, types, equal)
	}
	names := make([]string, len(types))
	var left []*catalog.Node
	for i, n := range types {
		names[i] = n.Name
		if slices.ContainsFunc(is, func(v value.Value) bool { return v.Kind() == value.String && v.Str() == n.Name }) {
			left = append(left, n)
		}
	}
	switch len(left) {
	case 0:
		return noneOf(name, catalog.TypeProperty, is, names)
	case 1:
		name = left[0].Name
	}
	return l.unknownKey(s, name, left, equal)
}

// equalities are the values one of which a property of a variable must equal, by property name. The name "" stands for
// the id. No list is empty.
type equalities map[string][]value.Value

// conditions returns, for each variable of a read, the equalities that every row must meet: those by = and in with
// literals, arguments and values computed from them, outside `not`, `any` and `exists` blocks. It leaves
// out equalities with null, which no row meets, and conditions that do not apply because their optional
// argument is absent.
func (l *lookup) conditions(q *plan.Query, args engine.Args) map[plan.VarID]equalities {
	var wanted map[plan.VarID]equalities
	put := func(id plan.VarID, name string, v ...value.Value) {
		if wanted == nil {
			wanted = map[plan.VarID]equalities{}
		}
		if wanted[id] == nil {
			wanted[id] = equalities{}
		}
		wanted[id][name] = v
	}
	add := func(of, to plan.Expr) {
		var id plan.VarID
		name := ""
		switch of := of.(type) {
		case plan.Prop:
			id, name = of.Var, of.Name
		case plan.ID:
			id = of.Var
		default:
			return
		}
		var v value.Value
		switch to := to.(type) {
		case plan.Lit:
			v = to.Value
		case plan.ParamRef:
			v = args[to.Index]
		case plan.Apply:
			v = l.computed(q, args, id, to)
		}
		if v.IsNull() || v.IsList() {
			return
		}
		put(id, name, v)
	}
	// addNode adds the id and the type of an argument that is a node, unless the variable stands for nodes of another type.
	addNode := func(of plan.Whole, to plan.Expr) {
		var typ, id string
		switch to := to.(type) {
		case plan.ParamRef:
			if args[to.Index].IsNull() {
				return
			}
			typ, id = plan.NodeOf(args[to.Index])
		case plan.NodeRef:
			is, isLit := to.Type.(plan.Lit)
			ref, isParam := to.ID.(plan.ParamRef)
			if !isLit || !isParam || args[ref.Index].IsNull() {
				return
			}
			typ, id = is.Value.Str(), args[ref.Index].Str()
		default:
			return
		}
		switch v := q.Read.Vars[of.Var]; {
		case v.Entity == plan.Interface:
			put(of.Var, "", value.OfString(id))
			put(of.Var, catalog.TypeProperty, value.OfString(typ))
		case v.Type == typ:
			put(of.Var, "", value.OfString(id))
		}
	}
	// addList adds the elements of a list one of which a property must equal.
	addList := func(of, list plan.Expr) {
		var v value.Value
		switch list := list.(type) {
		case plan.Lit:
			v = list.Value
		case plan.ParamRef:
			v = args[list.Index]
		}
		if v.IsNull() || !v.IsList() || len(v.Elems()) == 0 {
			return
		}
		switch of := of.(type) {
		case plan.Prop:
			put(of.Var, of.Name, v.Elems()...)
		case plan.ID:
			put(of.Var, "", v.Elems()...)
		}
	}
	var each func(clauses []plan.Clause)
	each = func(clauses []plan.Clause) {
		for _, clause := range clauses {
			if all, ok := clause.(plan.All); ok {
				each(all.Conds)
			}
			f, ok := clause.(plan.Filter)
			if !ok {
				continue
			}
			c, ok := f.Cond.(plan.Compare)
			if !ok || c.Op != plan.Eq && c.Op != plan.In || c.Unless != plan.NoParam && args[c.Unless].IsNull() {
				continue
			}
			if c.Op == plan.In {
				addList(c.Left, c.Right)
				continue
			}
			if w, ok := c.Left.(plan.Whole); ok {
				addNode(w, c.Right)
				continue
			}
			add(c.Left, c.Right)
			add(c.Right, c.Left)
		}
	}
	each(q.Read.Match)
	return wanted
}

// computed returns the value of an expression of literals and arguments. For any other expression it
// returns null. It lets the engine compute the value, in a read of one entity of the type of the
// variable `of`. Without such an entity it returns null, too.
func (l *lookup) computed(q *plan.Query, args engine.Args, of plan.VarID, e plan.Apply) value.Value {
	constant := true
	plan.WalkExpr(e, func(e plan.Expr) {
		switch e.(type) {
		case plan.Lit, plan.ParamRef, plan.Apply, plan.Test:
		default:
			constant = false
		}
	})
	v := q.Read.Vars[of]
	if !constant || v.Entity != plan.Node {
		return value.Null
	}
	r, err := l.graph.Query(l.ctx, &plan.Query{Name: "note", Params: q.Params, Read: &plan.Read{
		Vars: []plan.Var{v}, Match: []plan.Clause{plan.Bind{Var: 0}},
		Columns: []plan.Column{{Name: "value", Expr: e, Type: e.Type}}, Ties: []plan.VarID{0}, Limit: 1,
	}, Uses: []plan.Use{{Entity: plan.Node, Type: v.Type}}}, args, l.at)
	if err != nil {
		return value.Null
	}
	defer r.Close()
	b, err := r.Next(l.ctx)
	if err != nil || b == nil || b.Len == 0 {
		return value.Null
	}
	found := b.Columns[0].Value(0)
	if found.Kind() == value.String && !found.IsList() {
		return value.OfString(strings.Clone(found.Str())) // the batch is valid only until the result is closed
	}
	return found
}

// unknownEnum returns a note if an enum property must equal one of some texts, of which none is one of its values. The
// argument `name` is the name of the type.
func unknownEnum(name string, props []*catalog.Property, equal equalities) string {
	for _, p := range props {
		values, ok := equal[p.Name]
		known := func(v value.Value) bool { return v.Kind() != value.String || slices.Contains(p.Type.Enum, v.Str()) }
		if ok && p.Type.Enum != nil && !p.Type.List && !slices.ContainsFunc(values, known) {
			return noneOf(name, p.Name, values, p.Type.Enum)
		}
	}
	return ""
}

// noneOf returns the note that a property has none of some values, and which values it can have.
func noneOf(typ, prop string, values []value.Value, known []string) string {
	rest := ""
	if len(known) > maxEnum {
		known, rest = known[:maxEnum], ", …"
	}
	return fmt.Sprintf("no %s has %s %s; %s is one of %s%s", typ, prop, alternatives(values), prop, strings.Join(known, ", "), rest)
}

// unknownKey returns a note if the id or the whole key of a node is given and no node of the types has it. All the types
// must have the same key. The argument `name` is the name of the type, or of the interface of the types.
func (l *lookup) unknownKey(s *catalog.Schema, name string, types []*catalog.Node, equal equalities) string {
	first := types[0]
	members := first.Key
	if _, byID := equal[""]; byID {
		members = []string{""}
	} else if !sameKeys(types) {
		return ""
	}
	if len(members) == 0 {
		return ""
	}
	named := make([]string, len(members))
	for i, m := range members {
		values, ok := equal[m]
		if !ok {
			return ""
		}
		named[i] = label(m) + " " + alternatives(values)
	}
	for _, typ := range types {
		filters := make([]plan.Clause, len(members))
		for i, m := range members {
			filters[i] = oneOf(property(typ, m), equal[m])
		}
		found, err := l.keys(typ, 1, nil, filters...)
		if err != nil || len(found) > 0 {
			return ""
		}
	}
	note := fmt.Sprintf("no %s has %s", name, strings.Join(named, " and "))
	if other := l.elsewhere(s, types, members, equal); other != "" {
		return note + other
	}
	if text := equal[members[0]][0]; members[0] == "" && text.Kind() == value.String && len(types) == 1 {
		if form := first.IDForm(text.Str()); form != "" {
			return note + "; " + form
		}
	}
	if near := l.suggest(types, members, equal); len(near) > 0 {
		note += "; near it: " + strings.Join(near, ", ")
	}
	return note
}

// sameKeys reports whether the keys of types, of which there is at least one, have the same members, of the same types.
func sameKeys(types []*catalog.Node) bool {
	for _, n := range types[1:] {
		if !slices.Equal(n.Key, types[0].Key) {
			return false
		}
		for _, m := range n.Key {
			if !n.Property(m).Type.Equal(types[0].Property(m).Type) {
				return false
			}
		}
	}
	return true
}

// alternatives returns values for a note: one, or several joined by "or". It leaves out those after the first
// maxNamed.
func alternatives(values []value.Value) string {
	texts := make([]string, 0, maxNamed+1)
	for _, v := range values[:min(len(values), maxNamed)] {
		texts = append(texts, quoted(v))
	}
	if len(values) > maxNamed {
		texts = append(texts, "…")
	}
	return strings.Join(texts, " or ")
}

// label returns the name of a key member; "" stands for the id.
func label(member string) string {
	if member == "" {
		return "id"
	}
	return member
}

// quoted returns a value for a note. It cuts long texts.
func quoted(v value.Value) string {
	if v.Kind() != value.String {
		return value.Text(v)
	}
	return quote(v.Str())
}

// quote returns a text in quotes. It cuts a long text.
func quote(s string) string {
	if len(s) <= maxQuoted {
		return strconv.Quote(s)
	}
	end := maxQuoted
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return strconv.Quote(s[:end]) + "…"
}
