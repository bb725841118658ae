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
		for _, row := range w.rows {
			if len(w.where) > 0 || len(row) == 0 {
				panic(giveUp{})
			}
			r.emit(name + verb + " " + n.Name + " { " + strings.Join(row, ", ") + " }")
		}
	default:
		assigned := ""
		if verb == "update" {
			assigned = " set { " + strings.Join(w.rows[0], ", ") + " }"
		}
		if len(w.where) == 0 || len(w.rows) != 1 || (len(w.rows[0]) > 0) != (verb == "update") {
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
	case !property && r.is("{") && slices.Contains([]string{"where", "filter", "pkcolumns", "by", "key"}, plain(name)):
		w.where = append(w.where, r.filters(scope{node: w.variable})...)
	case !property && (r.is("{") || r.is("[", "{")) && slices.Contains([]string{"input", "data", "object", "objects", "set", "patch", "changes", "values", "fields"}, plain(name)):
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
