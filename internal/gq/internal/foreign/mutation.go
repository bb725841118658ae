package foreign

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
)

// writtenNote says what a mutation answers with.
const writtenNote = "a mutation answers with the numbers of its changes"

// writeEach reads the fields of a mutation, whose statements take effect in order.
func (r *rewriter) writeEach(field string) {
	r.write(field)
	for several := false; r.Peek(0).Kind == lex.Word; several = true {
		refuse.If(len(r.match) > 0) // the statements belong to its block
		if r.IsAt(1, ":") {         // an alias
			r.SkipTwo()
		}
		r.write(r.Word())
		if !several && len(r.columns) > 0 {
			r.note(writtenNote)
		}
		r.columns, r.computed, r.aliases = nil, nil, nil
	}
}

// write reads a field such as createPerson(…) { id } or update_person(where: { … }, _set: { … }) { ok }.
func (r *rewriter) write(field string) {
	typ, verb := r.Written(field)
	r.writeType(typ, verb)
}

// writesFields reports whether the arguments of a field of GraphQL come next, as in insert Person(input: { … }).
func (r *rewriter) writesFields() bool {
	return r.Is("(") && r.Peek(1).Kind == lex.Word && r.IsAt(2, ":") && (r.IsAt(3, "{", "[") || r.Peek(3).Kind == lex.Dollar) && wraps(r.Peek(1).Text)
}

// wraps reports whether an argument of a field that writes holds a condition or values.
func wraps(name string) bool {
	return slices.Contains(conditionNames, naming.Plain(name)) || slices.Contains(valueNames, naming.Plain(name))
}

// conditionNames and valueNames are arguments of fields that write.
var (
	conditionNames = []string{"where", "filter", "condition", "pkcolumns", "by", "key"}
	valueNames     = []string{"input", "data", "object", "objects", "set", "patch", "changes", "values", "fields", "update", "create", "node"}
)

// writing collects the arguments of a mutation of GraphQL.
type writing struct {
	typ      string // a node type
	node     *catalog.Node
	variable string
	verb     string

	rows     []*row
	where    []cond
	keep     bool              // an upsert that changes nothing if the entity exists
	only     []string          // the properties that an upsert changes if the entity exists; nil for all
	changed  *row              // what an upsert assigns if the entity exists, where that is said apart; else nil
	repeated map[string]string // by name of a parameter: the variable of its elements
}

// row holds the assignments of a mutation to one entity.
type row struct {
	names, values []string
	links         []edgeLink
	list          string // the parameter with the rows, or ""
}

// edgeLink is an edge between the written node and another one.
type edgeLink struct {
	edge       *catalog.Edge
	forward    bool
	other      string // the other end
	properties []string
}

// changes reports whether a mutation changes entities that exist, so that its keys are conditions.
func (w *writing) changes() bool { return w.verb == "update" || w.verb == "delete" }

// row returns the last row, which it adds if there is none.
func (w *writing) row() *row {
	if len(w.rows) == 0 {
		w.rows = []*row{{}}
	}
	return last(w.rows)
}

// assign adds an assignment. A property that has the same value already is left out.
func (s *row) assign(name, value string) {
	if i := slices.Index(s.names, name); i >= 0 {
		refuse.If(s.values[i] != value)
		return
	}
	s.names, s.values = append(s.names, name), append(s.values, value)
}

// value returns the value of a property, or "" if there is none.
func (s *row) value(name string) string {
	if i := slices.Index(s.names, name); i >= 0 {
		return s.values[i]
	}
	return ""
}

// render writes the assignments that have values.
func (s *row) render() string {
	var out []string
	for i, name := range s.names {
		if s.values[i] != "" {
			out = append(out, name+": "+s.values[i])
		}
	}
	return strings.Join(out, ", ")
}

// writeType reads the arguments and the selection of a field that writes nodes or edges.
func (r *rewriter) writeType(typ, verb string) {
	w := &writing{typ: typ, node: r.Schema.Node(typ), variable: r.fresh(typ), verb: verb}
	r.Expect("(")
	for r.More(")") {
		r.writeArgument(w)
	}
	if w.changes() {
		r.writeChange(w)
	} else {
		r.writeRows(w)
	}
	if r.Is("{") {
		r.SkipGroup()
		r.note(writtenNote)
	}
}

// writeRows writes the inserts or upserts of a mutation.
func (r *rewriter) writeRows(w *writing) {
	refuse.If(len(w.rows) == 0)
	for _, c := range w.where { // the where of an upsert repeats the key
		name, value, ok := c.equality("$" + naming.Lower(w.variable))
		refuse.If(!ok || w.verb != "upsert" || len(w.rows) != 1 || !naming.ByKey(w.node, name))
		w.rows[0].assign(name, value)
	}
	for i, s := range w.rows {
		refuse.If(len(s.names) == 0)
		if w.verb == "upsert" {
			if changed := w.changedRow(s); changed != nil {
				r.keepValues(w.typ, s, changed)
			}
		}
		name := ""
		if s.list == "" && len(w.rows) == 1 && r.Is("{") && r.try(func() { r.selected(scope{node: w.variable}) }) || len(s.links) > 0 {
			v := w.variable
			if i > 0 {
				v = r.fresh(w.typ)
			}
			name = r.insertAs(v, w.typ) + " = "
		}
		verb := w.verb
		if verb != "upsert" {
			verb = r.Inserts(w.typ)
		}
		statement := name + verb + " " + w.typ + " { " + s.render() + " }"
		if s.list != "" {
			statement = "for $" + w.repeated[s.list] + " in $" + s.list + " { " + statement + " }"
		}
		r.emit(statement)
		for _, l := range s.links {
			r.emitLink(l, strings.TrimSuffix(name, " = "))
		}
	}
}

// changedRow returns what an upsert assigns if the entity exists, or nil if it assigns the same as an insert.
func (w *writing) changedRow(s *row) *row {
	switch {
	case w.changed != nil:
		refuse.If(len(w.rows) > 1 || s.list != "" || len(w.changed.links) > 0 || slices.ContainsFunc(w.changed.names, func(name string) bool { return slices.Contains(w.node.Key, name) }))
		return w.changed
	case w.keep:
		return &row{}
	case w.only != nil:
		changed := &row{}
		for _, name := range w.only {
			changed.assign(name, s.value(name))
		}
		return changed
	}
	return nil
}

// keepValues changes the assignments of an upsert that assigns something else if the entity exists.
func (r *rewriter) keepValues(typ string, s, changed *row) {
	for _, name := range changed.names {
		if !slices.Contains(s.names, name) {
			s.assign(name, "")
		}
	}
	for i, name := range s.names {
		if !r.Identifies(typ, name) {
			s.values[i] = r.mergedValue(settings{name, s.values[i], changed.value(name)}, typ, r.UpsertSign(typ))
		}
	}
}

// writeChange writes the update or the delete of a mutation.
func (r *rewriter) writeChange(w *writing) {
	refuse.If(len(w.where) == 0 || len(w.rows) > 1 || w.keep || w.only != nil)
	assigned := ""
	if len(w.rows) == 1 && len(w.rows[0].names) > 0 {
		assigned = " set { " + w.rows[0].render() + " }"
	}
	refuse.If((assigned != "") != (w.verb == "update") || len(w.rows) == 1 && len(w.rows[0].links) > 0 || len(r.statements) > 0) // a block would hold the statements before
	outer := r.match
	r.match = append([]cond{leaf("$" + naming.Lower(w.variable) + ": " + w.typ)}, w.where...)
	r.change(w.variable, w.verb, assigned)
	r.match = append(outer, r.match...)
}

// emitLink writes the insert of an edge of a node.
func (r *rewriter) emitLink(l edgeLink, node string) {
	from, to := node, l.other
	if !l.forward {
		from, to = to, from
	}
	r.emit("insert " + l.edge.Name + " { " + strings.Join(append([]string{"from: " + from, "to: " + to}, l.properties...), ", ") + " }")
}
