package foreign

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
)

// writeArgument reads one argument of a mutation of GraphQL.
func (r *rewriter) writeArgument(w *writing) {
	name := r.Word()
	r.Expect(":")
	if r.Property(w.typ, name) != nil {
		r.writeValue(w, w.row(), name)
		return
	}
	braces := r.Is("{") || r.Is("[", "{")
	switch plainName := naming.Plain(name); {
	case braces && slices.Contains(conditionNames, plainName):
		w.where = append(w.where, r.filters(scope{node: w.variable})...)
	case plainName == "onconflict" && braces && w.verb == "insert":
		r.onConflict(w)
	case plainName == "skipduplicates":
		if w.keep = r.Flag(); w.keep {
			w.verb = "upsert"
		}
	case braces && plainName == "update" && w.verb == "upsert":
		w.changed = &row{}
		r.writeObject(w, w.changed)
	case r.Peek(0).Kind == lex.Dollar && slices.Contains(valueNames, plainName):
		r.inputObject(w)
	case braces && (slices.Contains(valueNames, plainName) || r.isInput(w, plainName)):
		r.writeObjects(w)
	default:
		r.writeValue(w, w.row(), name)
	}
}

// isInput reports whether an argument holds the values of a type, such as person, personInput or personPatch.
func (r *rewriter) isInput(w *writing, name string) bool {
	for _, suffix := range []string{"", "input", "patch", "data"} {
		if base, ok := strings.CutSuffix(name, suffix); ok && (naming.Plain(w.typ) == base || r.TableNode(base) == w.typ) {
			return true
		}
	}
	return false
}

// writeObjects reads an object with the values of one entity, or a list of them.
func (r *rewriter) writeObjects(w *writing) {
	if !r.Accept("[") {
		r.writeObject(w, w.row())
		return
	}
	for r.More("]") {
		if !w.changes() {
			w.rows = append(w.rows, &row{})
		}
		r.writeObject(w, w.row())
	}
}

// writeObject reads the values of one entity in braces.
func (r *rewriter) writeObject(w *writing, s *row) {
	defer r.Deeper()()
	r.Expect("{")
	for r.More("}") {
		name := r.Word()
		r.Expect(":")
		property := r.Property(w.typ, name) != nil
		rel := (*naming.Relation)(nil)
		if !property {
			rel = r.Relation(w.typ, name)
		}
		switch {
		case rel != nil && (r.Is("{") || r.Is("[")):
			s.links = append(s.links, r.linked(w, rel)...)
		case !property && r.Is("{") && (wraps(name) || r.isInput(w, naming.Plain(name))):
			r.writeObject(w, s)
		default:
			r.writeValue(w, s, name)
		}
	}
}

// arithmetic maps the words for changes of a number to operators.
var arithmetic = map[string]string{"increment": "+", "inc": "+", "add": "+", "decrement": "-", "dec": "-", "subtract": "-", "multiply": "*", "divide": "/"}

// writeValue reads the value of a property. A key of an update or a delete is a condition.
func (r *rewriter) writeValue(w *writing, s *row, name string) {
	p := r.Property(w.typ, name)
	name = r.PropertyName(w.typ, name)
	switch {
	case w.changes() && naming.ByKey(w.node, name):
		w.where = append(w.where, leaf("$"+naming.Lower(w.variable)+"."+name+" = "+r.valueOf(p)))
	case p == nil && !(naming.ByKey(w.node, name)):
		s.assign(name, r.assignment(w.typ, name)) // the fault of the offer names it
	case !w.changes() && r.Accept("null"):
	case r.Is("{") && arithmetic[naming.Plain(r.Peek(1).Text)] != "" && r.IsAt(2, ":"):
		r.Next()
		operator := arithmetic[naming.Plain(r.Word())]
		r.Expect(":")
		s.assign(name, name+" "+operator+" "+r.valueOf(p))
		r.Expect("}")
	case r.Accept("{", "set", ":"):
		s.assign(name, r.assignment(w.typ, name))
		r.Expect("}")
	default:
		s.assign(name, r.assignment(w.typ, name))
	}
}

// onConflict reads { constraint: …, update_columns: […] } of Hasura: the insert becomes an upsert.
func (r *rewriter) onConflict(w *writing) {
	r.Expect("{")
	w.verb = "upsert"
	for r.More("}") {
		name := naming.Plain(r.Word())
		r.Expect(":")
		switch {
		case name == "constraint":
			r.Next()
		case name == "updatecolumns" && r.Accept("[", "]"):
			w.keep = true
		case name == "updatecolumns":
			w.only = r.propertyNames(scope{node: w.variable})
		default:
			panic(refuse.GiveUp{})
		}
	}
}

// inputObject replaces a parameter that holds all values of an insert: by a parameter for each property, or by a list of
// records.
func (r *rewriter) inputObject(w *writing) {
	name := r.Next().Text
	p, i := r.param(name)
	refuse.If(w.changes() || len(w.rows) > 0 || i < 0 || r.Uses(name) != 2) // its declaration and this place
	if p.isList() {
		r.inputList(w, name, i)
		return
	}
	r.dropParam(name)
	s := &row{}
	for _, p := range w.node.Properties {
		if p.Embed != nil {
			continue
		}
		refuse.If(r.declared(p.Name))
		r.declare(p.Name, plainType(p))
		s.assign(p.Name, "$"+p.Name)
	}
	w.rows = []*row{s}
	r.note("the object $" + name + " becomes a parameter for each property")
}

// plainType writes the type of a property without the values of an enum.
func plainType(p *catalog.Property) string {
	typ := p.Type
	typ.Enum = nil
	return typ.String()
}

// inputList replaces the type of a parameter that holds a list of objects by a list of records.
func (r *rewriter) inputList(w *writing, name string, param int) {
	s := &row{list: name}
	element := r.fresh(w.typ)
	var fields []string
	for _, p := range w.node.Properties {
		if p.Embed != nil {
			continue
		}
		refuse.If(p.Type.List || p.Type.Kind == value.Vector || p.Type.Kind == value.Blob) // a record has none
		fields = append(fields, p.Name+": "+plainType(p))
		s.assign(p.Name, "$"+element+"."+p.Name)
	}
	r.setType(param, "[{ "+strings.Join(fields, ", ")+" }]", "")
	w.rows, w.repeated = []*row{s}, map[string]string{name: element}
}

// linked reads the value of a relation in the values of a node: { connect: … }, { create: … }, { data: … }, a list of
// them, or { email: "x" }, an edge to a node that exists.
func (r *rewriter) linked(w *writing, rel *naming.Relation) (out []edgeLink) {
	defer r.Deeper()()
	if !slices.Contains([]string{"connect", "create", "data"}, naming.Plain(r.Peek(1).Text)) {
		return r.linkList(w, rel, "connect")
	}
	r.Expect("{")
	for r.More("}") {
		verb := naming.Plain(r.Word())
		r.Expect(":")
		out = append(out, r.linkList(w, rel, verb)...)
	}
	return out
}

// linkList reads one object or a list of them after connect, create or disconnect.
func (r *rewriter) linkList(w *writing, rel *naming.Relation, verb string) (out []edgeLink) {
	if !r.Accept("[") {
		return []edgeLink{r.linkOne(w, rel, verb)}
	}
	for r.More("]") {
		out = append(out, r.linkOne(w, rel, verb))
	}
	return out
}

// linkOne reads { where: { node: { slug: "x" } }, edge: { … } }, or { node: { … }, edge: { … } } and the like.
func (r *rewriter) linkOne(w *writing, rel *naming.Relation, verb string) edgeLink {
	l := edgeLink{edge: rel.Edge, forward: rel.Forward}
	n := r.Schema.Node(rel.Other())
	refuse.If(n == nil || w.changes())
	creates := verb == "create" || verb == "data"
	r.linkObject(&l, n, creates)
	refuse.If(l.other == "")
	return l
}

// linkObject reads the members of an object that names the other end of an edge, and the properties of the edge.
func (r *rewriter) linkObject(l *edgeLink, n *catalog.Node, creates bool) {
	defer r.Deeper()()
	r.Expect("{")
	for r.More("}") {
		name := r.Word()
		r.Expect(":")
		p := r.Property(n.Name, name)
		switch {
		case p == nil && r.Is("{") && (naming.Plain(name) == "where" && !creates || naming.Plain(name) == "node" || naming.Plain(name) == "data" || r.TableNode(name) == n.Name):
			r.linkObject(l, n, creates)
		case p == nil && r.Is("{") && creates && naming.Plain(name) == "connect":
			r.linkObject(l, n, false)
		case p == nil && r.Is("{") && isEdgeWrapper(name):
			l.properties = append(l.properties, r.props(l.edge.Name)...)
		case p == nil && r.Property(l.edge.Name, name) != nil:
			l.properties = append(l.properties, r.Property(l.edge.Name, name).Name+": "+r.assignment(l.edge.Name, name))
		case l.other == "" && !creates && r.PropertyName(n.Name, name) == r.Key(n.Name):
			wrapped := r.Accept("{", "eq", ":") || r.Accept("{", "_eq", ":")
			l.other = r.endValue()
			if wrapped {
				r.Expect("}")
			}
		default:
			panic(refuse.GiveUp{})
		}
	}
}
