// Package notes explains reads without rows to their callers: which key or enum value in the match
// of the query does not exist, and which existing keys resemble it.
//
// A note tells a caller whether a key exists, and names other keys. Call [ForEmpty] only for a
// caller that may read the whole branch.
package notes

import (
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
)

// ForEmpty returns the notes on a read that has no rows at a commit. It examines the conditions
// that every row must meet, in the order of the variables. It reads the same commit. A note is help that the caller did not ask for, so ForEmpty
// leaves out a note if a read for the note fails.
func ForEmpty(ctx context.Context, g engine.Graph, q *plan.Query, args engine.Args, commit string) []string {
	at := engine.Target{Commit: commit}
	look := &lookup{ctx: ctx, graph: g, at: at}
	wanted := look.conditions(q, args)
	if wanted == nil {
		return nil
	}
	schema, err := g.Schema(ctx, at)
	if err != nil {
		return nil
	}
	var notes []string
	for id, v := range q.Read.Vars {
		var typ *catalog.Node
		if v.Entity == plan.Node {
			typ = schema.Catalog.Node(v.Type)
		}
		equal := wanted[plan.VarID(id)]
		if typ == nil || equal == nil || len(notes) == maxNotes {
			continue
		}
		note := unknownEnum(typ, equal)
		if note == "" {
			note = look.unknownKey(typ, equal)
		}
		if note != "" && !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	return notes
}

// equalities are the values that the properties of a variable must equal, by property name. The
// name "" stands for the id.
type equalities map[string]value.Value

// conditions returns, for each variable of a read, the equalities that every row must meet: those with
// literals, arguments and values computed from them, outside `not`, `any` and `exists` blocks. It leaves
// out equalities with null, which no row meets, and conditions that do not apply because their optional
// argument is absent.
func (l *lookup) conditions(q *plan.Query, args engine.Args) map[plan.VarID]equalities {
	var wanted map[plan.VarID]equalities
	put := func(id plan.VarID, name string, v value.Value) {
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
	// addNode adds the id of an argument that is a node, unless the variable stands for nodes of other types.
	addNode := func(of plan.Whole, to plan.Expr) {
		ref, ok := to.(plan.ParamRef)
		if !ok || args[ref.Index].IsNull() {
			return
		}
		typ, id := plan.NodeOf(args[ref.Index])
		if v := q.Read.Vars[of.Var]; v.Entity == plan.Node && v.Type == typ {
			put(of.Var, "", value.OfString(id))
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
			if !ok || c.Op != plan.Eq || c.Unless != plan.NoParam && args[c.Unless].IsNull() {
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

// unknownEnum returns a note if an enum property must equal a text that is none of its values.
func unknownEnum(typ *catalog.Node, equal equalities) string {
	for _, p := range typ.Properties {
		v, ok := equal[p.Name]
		if !ok || p.Type.Enum == nil || p.Type.List || v.Kind() != value.String || slices.Contains(p.Type.Enum, v.Str()) {
			continue
		}
		values, rest := p.Type.Enum, ""
		if len(values) > maxEnum {
			values, rest = values[:maxEnum], ", …"
		}
		return fmt.Sprintf("no %s has %s %s; %s is one of %s%s", typ.Name, p.Name, quoted(v), p.Name, strings.Join(values, ", "), rest)
	}
	return ""
}

// unknownKey returns a note if the id or the whole key of a node is given and no node has it.
func (l *lookup) unknownKey(typ *catalog.Node, equal equalities) string {
	members := typ.Key
	if _, byID := equal[""]; byID {
		members = []string{""}
	}
	if len(members) == 0 {
		return ""
	}
	named := make([]string, len(members))
	filters := make([]plan.Clause, len(members))
	for i, m := range members {
		v, ok := equal[m]
		if !ok {
			return ""
		}
		named[i] = label(m) + " " + quoted(v)
		filters[i] = compare(plan.Eq, property(typ, m), v)
	}
	found, err := l.keys(typ, 1, nil, filters...)
	if err != nil || len(found) > 0 {
		return ""
	}
	note := fmt.Sprintf("no %s has %s", typ.Name, strings.Join(named, " and "))
	text := equal[members[0]]
	if members[0] == "" && text.Kind() == value.String {
		if form := typ.IDForm(text.Str()); form != "" {
			return note + "; " + form
		}
	}
	if len(typ.Key) != 1 || len(members) != 1 || typ.Property(typ.Key[0]).Type.Kind != value.String || text.Kind() != value.String {
		return note // the ids are not texts that a person chose, so similar ids do not help
	}
	if near := l.near(typ, text.Str()); len(near) > 0 {
		note += "; near it: " + strings.Join(near, ", ")
	}
	return note
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
