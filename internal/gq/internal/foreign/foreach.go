package foreign

import (
	"maps"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/exact"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
)

const (
	// absentNote explains the difference between a match of a node by its key and an end of an edge.
	absentNote = "an element whose node does not exist fails the call"
	// againNote explains the difference between MERGE and an insert of an edge without @unique(src, dst).
	againNote = "an insert adds an edge also if there is one between the nodes"
)

// element is the variable of the elements of a list, for which statements run.
type element struct {
	name   string
	scalar string            // the type of an element that is no record
	fields map[string]string // by name: the types of the fields of a record
	order  []string          // the fields
	keyed  map[string]string // by name of a variable of a match by a key: the node, such as Person($row.email)
}

// each reads the statements for the elements of a list, which is a parameter or stands in the text.
func (r *rewriter) each(list, name string) {
	refuse.If(!strings.HasPrefix(list, "$") || lex.WordLen(list[1:]) != len(list)-1 || r.element != nil)
	saved := slices.Clone(r.statements)
	refuse.If(len(saved) > 0 && len(r.match) > 0)
	r.statements = nil
	r.bind(name, "")
	r.element = &element{name: name, fields: map[string]string{}, keyed: map[string]string{}}
	r.matchByKeys(r.match)
	r.match = nil
	r.eachStatements()
	refuse.If(len(r.statements) == 0 || len(r.match) > 0)
	r.declare(list[1:], r.element.typ())
	r.statements = append(saved, "for $"+naming.Lower(name)+" in "+list+" { "+strings.Join(r.statements, " ")+" }")
	r.element = nil
}

// eachStatements reads the statements for an element, with or without braces, and a RETURN after them.
func (r *rewriter) eachStatements() {
	braces := r.Accept("{")
	for !r.Is("}") && !r.Is(")") && r.Peek(0).Kind != lex.End {
		switch {
		case r.Accept("match"):
			if r.Is("{") {
				r.matchByKeys(r.braced())
			} else {
				r.matchByKeys(r.clauses(r.items))
			}
		case r.Accept("return"):
			for !r.Is("}") && r.Peek(0).Kind != lex.End {
				r.Next()
			}
			r.note(answersNote)
		case r.Accept(";"), r.Accept(","):
		default:
			r.statement()
		}
	}
	if braces {
		r.Expect("}")
	}
}

// typ returns the type of the parameter that is the list.
func (e *element) typ() string {
	if len(e.order) == 0 {
		refuse.If(e.scalar == "")
		return "[" + e.scalar + "]"
	}
	var fields []string
	for _, f := range e.order {
		fields = append(fields, f+": "+e.fields[f])
	}
	return "[{ " + strings.Join(fields, ", ") + " }]"
}

// matchByKeys notes the nodes that clauses find by their keys. A block for the elements has no match of its own.
func (r *rewriter) matchByKeys(clauses []cond) {
	for _, c := range clauses {
		name, rest, ok := strings.Cut(strings.TrimPrefix(c.text, "$"), ": ")
		typ, props, _ := strings.Cut(rest, " { ")
		key := r.Key(typ)
		if n := r.Schema.Node(typ); c.op != "" || !ok || n == nil || len(n.Key) != 1 {
			panic(refuse.GiveUp{})
		}
		value, found := strings.CutPrefix(strings.TrimSuffix(props, " }"), key+": ") // which no binding of a match may have
		refuse.If(!found || strings.Contains(value, ", "))
		r.element.keyed[name] = typ + "(" + value + ")"
	}
}

// keyedNode returns the node that the match for an element finds by its key, as an end of an edge, or "".
func (r *rewriter) keyedNode(variable string) string {
	if r.element == nil || r.element.keyed[naming.Lower(variable)] == "" {
		return ""
	}
	r.note(absentNote)
	return r.element.keyed[naming.Lower(variable)]
}

// changeKeyed writes an update or a delete of a node that the match for an element finds by its key.
func (r *rewriter) changeKeyed(v, verb, assigned string) bool {
	if r.element == nil || r.element.keyed[naming.Lower(v)] == "" {
		return false
	}
	typ, value, _ := strings.Cut(strings.TrimSuffix(r.element.keyed[naming.Lower(v)], ")"), "(")
	r.emit(verb + " " + typ + strings.ReplaceAll(assigned, "$"+naming.Lower(v)+".", "") + " where " + r.Key(typ) + " = " + value)
	return true
}

// elementValue returns the value of a property that uses an element, and notes the type of the fields in it.
func (r *rewriter) elementValue(p *catalog.Property, e string) string {
	if r.element == nil {
		return e
	}
	v := "$" + naming.Lower(r.element.name)
	typ := p.Type.Kind.String()
	if e == v {
		refuse.If(p.Type.List)
		if r.element.scalar == "" {
			r.element.scalar = typ
		}
		return e
	}
	if p.Type.Nullable && lex.WordLen(strings.TrimPrefix(e, v+".")) == len(e)-len(v)-1 || strings.HasPrefix(e, "coalesce(") {
		typ += "?"
	}
	for rest := e; ; {
		_, after, ok := strings.Cut(rest, v+".")
		if !ok {
			return e
		}
		field := after[:lex.WordLen(after)]
		refuse.If(p.Type.List || field == "") // a field is a scalar
		if r.element.fields[field] == "" {
			r.element.fields = maps.Clone(r.element.fields)
			r.element.fields[field] = typ
			r.element.order = append(r.element.order, field)
		}
		rest = after
	}
}

// unwoundMatch reads UNWIND $ids AS id, or FOR id IN $ids, before a match that compares a property with the element: the
// property is in the list.
func (r *rewriter) unwoundMatch() {
	list, name := "", ""
	if r.Accept("unwind") {
		list = r.Next().Text
		r.Expect("as")
		name = r.Next().Text
	} else {
		r.Expect("for")
		name = r.Next().Text
		r.Expect("in")
		list = r.Next().Text
	}
	p, given := r.param(list)
	refuse.If(r.Tokens[r.At-1].Kind != lex.Word && r.Tokens[r.At-1].Kind != lex.Dollar || !r.Is("match") || given >= 0 && !p.isList() || len(r.match)+len(r.statements) > 0)
	r.values[name] = "$" + list
	r.Expect("match")
	r.matched()
	if r.Accept("where") {
		r.wherePart()
	}
	tested := ""
	for i, c := range slices.Clone(r.match) {
		if !mentionsVar(c.render(false), "$"+list) {
			continue
		}
		refuse.If(tested != "" || c.op != "")
		if left, equal := strings.CutSuffix(c.text, " = $"+list); equal {
			tested = left
			r.match[i] = leaf(left + " in $" + list)
			continue
		}
		b := c.binding()
		refuse.If(b == nil || len(b.Props) != 1 || b.Props[0].Optional || exact.SourceOf(b.Props[0].Value) != "$"+list)
		tested = b.Var.Value + "." + b.Props[0].Name.Value
		r.match[i] = leaf(b.Var.Value + ": " + b.Type.Value)
		r.match = append(r.match, leaf(tested+" in $"+list))
	}
	refuse.If(tested == "")
	r.values[name] = tested
	if p, at := r.param(list); at >= 0 && !p.isList() { // the comparison has declared it
		r.setType(at, "["+p.typ+"]", p.rest)
	}
}
