package nearest

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// verbs maps the beginnings of the fields of GraphQL mutations to statements.
var verbs = []struct{ prefix, statement string }{{"create", "insert"}, {"insert", "insert"}, {"add", "insert"}, {"upsert", "upsert"}, {"update", "update"},
	{"set", "update"}, {"delete", "delete"}, {"remove", "delete"}}

// write reads a field such as createPerson(…) { id } or update_person(where: { … }, _set: { … }) { ok }.
func (r *rewriter) write(field string) {
	n, verb := r.written(field)
	r.writeFields(n, verb)
}

// writesFields reports whether the arguments of a field of GraphQL come next, as in insert Person(input: { … }).
func (r *rewriter) writesFields() bool {
	return r.is("(") && r.peek(1).kind == word && r.isAt(2, ":") && (r.isAt(3, "{", "[") || r.peek(3).kind == dollar) && wraps(r.peek(1).text)
}

// wraps reports whether an argument of a field that writes holds a condition or values.
func wraps(name string) bool {
	return slices.Contains(conditionNames, plain(name)) || slices.Contains(valueNames, plain(name))
}

// conditionNames and valueNames are arguments of fields that write.
var (
	conditionNames = []string{"where", "filter", "pkcolumns", "by", "key"}
	valueNames     = []string{"input", "data", "object", "objects", "set", "patch", "changes", "values", "fields"}
)

// writeFields reads the arguments and the selection of a field that writes nodes.
func (r *rewriter) writeFields(n *catalog.Node, verb string) {
	v := r.fresh(n.Name)
	w := &writing{node: n, variable: v, changes: verb == "update" || verb == "delete"}
	r.expect("(")
	for !r.accept(")") {
		if !r.accept(",") {
			r.writeArgument(w)
		}
	}
	if len(w.rows) == 0 {
		w.rows = [][]string{nil}
	}
	switch verb {
	case "insert", "upsert":
		name := ""
		if len(w.rows) == 1 && r.is("{") && r.try(func() { r.selected(scope{node: v}) }) {
			name = r.insertAs(v, n.Name) + " = "
		}
		if len(w.links) > 0 && name == "" {
			name = r.insertAs(v, n.Name) + " = "
		}
		for _, row := range w.rows {
			if len(w.where) > 0 || len(row) == 0 || len(w.links) > 0 && len(w.rows) > 1 {
				panic(giveUp{})
			}
			r.emit(name + verb + " " + n.Name + " { " + strings.Join(row, ", ") + " }")
		}
		for _, l := range w.links {
			r.emit(l)
		}
	default:
		assigned := ""
		if verb == "update" {
			assigned = " set { " + strings.Join(w.rows[0], ", ") + " }"
		}
		if len(w.where) == 0 || len(w.links) > 0 || len(w.rows) != 1 || (len(w.rows[0]) > 0) != (verb == "update") {
			panic(giveUp{})
		}
		r.match = append([]cond{leaf("$" + lower(v) + ": " + n.Name)}, w.where...)
		r.change(v, verb, assigned)
	}
	if r.is("{") {
		r.skipGroup()
		r.note("a mutation answers with the numbers of its changes")
	}
}

// writing collects the arguments of a mutation of GraphQL.
type writing struct {
	node     *catalog.Node
	variable string
	changes  bool       // an update or a delete, whose keys are conditions
	rows     [][]string // the assignments
	where    []cond
	links    []string // the statements that connect the node with others
}

// written returns the node type and the statement that the name of a field means.
func (r *rewriter) written(field string) (*catalog.Node, string) {
	name := plain(field)
	for _, suffix := range []string{"bypk", "byid", "one", "many"} {
		if cut, ok := strings.CutSuffix(name, suffix); ok && r.schema.Node(r.pluralType(name)) == nil {
			name = cut
		}
	}
	for _, v := range verbs {
		if rest, ok := strings.CutPrefix(name, v.prefix); ok {
			if n := r.schema.Node(r.pluralType(rest)); n != nil {
				return n, v.statement
			}
		}
	}
	panic(giveUp{})
}

// writeArgument reads one argument of a mutation of GraphQL.
func (r *rewriter) writeArgument(w *writing) {
	name := r.word()
	r.expect(":")
	property := r.property(w.node.Name, name) != nil
	switch {
	case !property && r.is("{") && slices.Contains(conditionNames, plain(name)):
		w.where = append(w.where, r.filters(scope{node: w.variable})...)
	case !property && r.peek(0).kind == dollar && slices.Contains(valueNames, plain(name)):
		r.inputObject(w)
	case !property && (r.is("{") || r.is("[", "{")) && slices.Contains(valueNames, plain(name)):
		list := r.accept("[")
		for {
			r.expect("{")
			if len(w.rows) > 0 && !list {
				panic(giveUp{})
			}
			w.rows = append(w.rows, nil)
			for !r.accept("}") {
				if !r.accept(",") {
					name := r.word()
					r.expect(":")
					if rel := r.relation(w.node.Name, name); rel != nil && r.is("{") && r.property(w.node.Name, name) == nil {
						r.connect(w, rel)
						continue
					}
					r.writeValue(w, name)
				}
			}
			if !list || !r.accept(",") && !r.is("{") {
				break
			}
		}
		if list {
			r.expect("]")
		}
	default:
		if len(w.rows) == 0 && !(w.changes && byKey(w.node, r.propertyName(w.node.Name, name))) {
			w.rows = [][]string{nil}
		}
		r.writeValue(w, name)
	}
}

// writeValue reads the value of a property. A key of an update or a delete is a condition.
func (r *rewriter) writeValue(w *writing, name string) {
	typ := w.node.Name
	name = r.propertyName(typ, name)
	if w.changes && byKey(w.node, name) {
		w.where = append(w.where, leaf("$"+lower(w.variable)+"."+name+" = "+r.valueOf(r.property(typ, name))))
		return
	}
	row := &w.rows[len(w.rows)-1]
	if !w.changes && r.accept("null") {
		return
	}
	wrapped := r.accept("{", "set", ":")
	*row = append(*row, name+": "+r.assignment(typ, name))
	if wrapped {
		r.expect("}")
	}
}

// inputObject replaces a parameter that holds all values of an insert by a parameter for each property.
func (r *rewriter) inputObject(w *writing) {
	name := r.next().text
	if w.changes || len(w.rows) > 0 || !r.declared(name) || r.uses(name) != 2 { // its declaration and this place
		panic(giveUp{})
	}
	r.params = slices.DeleteFunc(r.params, func(p string) bool { return strings.HasPrefix(p, "$"+name+":") })
	var row []string
	for _, p := range w.node.Properties {
		if p.Embed != nil {
			continue
		}
		if r.declared(p.Name) {
			panic(giveUp{})
		}
		typ := p.Type
		typ.Enum = nil
		r.declare(p.Name, typ.String())
		row = append(row, p.Name+": $"+p.Name)
	}
	w.rows = [][]string{row}
	r.note("the object $" + name + " becomes a parameter for each property")
}

// connect reads { connect: { email: "x" } } or { create: { … } } in the place of a value: an edge to a node that exists,
// or to a new one.
func (r *rewriter) connect(w *writing, rel *relation) {
	r.expect("{")
	other := ""
	n := r.schema.Node(rel.other())
	switch {
	case n == nil:
		panic(giveUp{})
	case r.accept("connect", ":", "{"):
		where := r.accept("where", ":", "{")
		if r.propertyName(n.Name, r.word()) != r.key(n.Name) {
			panic(giveUp{})
		}
		r.expect(":")
		other = r.endValue()
		if where {
			r.expect("}")
		}
		r.expect("}")
	case r.accept("create", ":"):
		other = "$" + r.fresh(n.Name)
		w.links = append(w.links, r.insertAs(other[1:], n.Name)+" = insert "+n.Name+" { "+strings.Join(r.props(n.Name), ", ")+" }")
	default:
		panic(giveUp{})
	}
	r.expect("}")
	from, to := "$"+lower(w.variable), other
	if !rel.forward {
		from, to = to, from
	}
	w.links = append(w.links, "insert "+rel.edge.Name+" { from: "+from+", to: "+to+" }")
}
