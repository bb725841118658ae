package foreign

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
)

// scope says what a name without a variable means in a selection or a filter.
type scope struct {
	node string // the variable of the node
	edge *edgeScope

	edgeFirst bool // a name means a property of the edge before one of the node
}

// edgeScope is the edge over which a selection reaches its node.
type edgeScope struct {
	edge *catalog.Edge
	name string // of the variable that bind makes, or "" before
}

// across returns the scope of the nodes at the other end of a relation.
func (r *rewriter) across(rel *naming.Relation) scope {
	return scope{node: r.fresh(rel.Other()), edge: &edgeScope{edge: rel.Edge}}
}

// filters reads the conditions in braces on a node, which may use the operators of GraphQL servers.
func (r *rewriter) filters(sc scope) (out []cond) {
	defer r.Deeper()()
	r.Expect("{")
	for !r.Accept("}") {
		if len(out) > 0 {
			r.Accept(",")
		}
		switch t := r.Peek(0); {
		case t.Kind == lex.Word && slices.Contains([]string{"or", "and", "not"}, naming.Plain(t.Text)) && r.Peek(1).Text == ":":
			out = append(out, r.logic(sc))
		case t.Kind == lex.Word && r.Peek(1).Text == "=":
			p := r.need(sc, r.Word())
			r.Next()
			out = append(out, leaf("$"+naming.Lower(sc.node)+"."+p.Name+" = "+r.Optional(r.valueOf(p))))
		case t.Kind == lex.Word && r.IsAt(1, "}", ",") && r.Schema.Edge(r.vars[sc.node]) != nil: // a property that the text uses elsewhere
			if name := r.need(sc, r.Word()).Name; !slices.ContainsFunc(r.Tokens[r.At:], func(t lex.Token) bool { return t.Kind == lex.Word && naming.Plain(t.Text) == naming.Plain(name) }) {
				panic(refuse.GiveUp{})
			}
		case t.Kind == lex.Word && r.Peek(1).Text != ":": // year between 1990 and 2000
			p := r.need(sc, r.Word())
			refuse.If(!r.operator())
			negated := r.NotOperator() && r.Accept("not")
			c := r.compare("$" + naming.Lower(sc.node) + "." + p.Name)
			if negated {
				c = r.negated(c)
			}
			out = append(out, c)
		default:
			out = append(out, r.filterOf(sc, r.Word())...)
		}
	}
	return out
}

// need returns the property of the node of a scope that a name means. An id counts as a property.
func (r *rewriter) need(sc scope, name string) *catalog.Property {
	typ := r.vars[sc.node]
	if p := r.Property(typ, name); p != nil {
		return p
	}
	if (name == "id" || name == "_id") && (r.Schema.Node(typ) != nil || r.Schema.Interface(typ) != nil) {
		return &catalog.Property{Name: "id"}
	}
	panic(refuse.GiveUp{})
}

// logic reads or: [{ … }, { … }], and: […] or not: { … }.
func (r *rewriter) logic(sc scope) cond {
	name := naming.Plain(r.Word())
	r.Expect(":")
	if name == "not" {
		return r.negated(all(r.filters(sc)))
	}
	op := map[string]string{"or": "any", "and": "all"}[name]
	if r.Is("{") {
		subs := r.filters(sc)
		refuse.If(op == "any" && len(subs) != 1) // servers disagree whether the members of the object are alternatives
		return all(subs)
	}
	r.Expect("[")
	c := cond{op: op}
	for !r.Accept("]") {
		if len(c.subs) > 0 {
			r.Accept(",")
		}
		c.subs = append(c.subs, all(r.filters(sc)))
	}
	refuse.If(len(c.subs) == 0)
	return c
}

// all joins conditions that all have to hold.
func all(subs []cond) cond {
	if len(subs) == 1 {
		return subs[0]
	}
	return cond{op: "all", subs: subs}
}

// filterOf reads what follows the name of a property or of a relation in a filter.
func (r *rewriter) filterOf(sc scope, name string) []cond {
	r.Expect(":")
	typ := r.vars[sc.node]
	if r.Property(typ, name) == nil {
		if p, op := r.Suffixed(typ, name); p != nil {
			return []cond{r.filter(sc, p, op)}
		}
		if rel := r.Relation(typ, name); rel != nil && (r.Is("{") || r.Is("null")) {
			return []cond{r.neighbours(sc, rel)}
		}
		if c, ok := r.suffixedRelation(sc, name); ok {
			return []cond{c}
		}
		if out, ok := r.throughEdge(sc, name); ok {
			return out
		}
		if sc.edge != nil {
			if r.edgeProperty(sc, name) != nil {
				sc = scope{node: r.edgeOf(sc)}
			} else if p, op := r.Suffixed(sc.edge.edge.Name, name); p != nil {
				return []cond{r.filter(scope{node: r.edgeOf(sc)}, p, op)}
			}
		}
	}
	p := r.need(sc, name)
	left := "$" + naming.Lower(sc.node) + "." + p.Name
	if r.Accept("null") {
		return []cond{leaf(left + " is null")}
	}
	if !r.Is("{") {
		return []cond{leaf(left + " = " + r.Optional(r.valueOf(p)))}
	}
	return r.operators(sc, p)
}

// operators reads the operators of a property in braces.
func (r *rewriter) operators(sc scope, p *catalog.Property) (out []cond) {
	defer r.Deeper()()
	r.IgnoreCase()
	r.Expect("{")
	for !r.Accept("}") {
		t := r.Next()
		if t.Are("mode") && r.Accept(":", "default") && r.IsOne(",", "}") {
			r.Accept(",")
			continue
		}
		refuse.If(t.Kind != lex.Word && t.Kind != lex.Dollar) // $gt is the operator of MongoDB
		op := strings.TrimPrefix(strings.ToLower(t.Text), "_")
		r.Expect(":")
		if op == "not" && r.Is("{") {
			out = append(out, r.negated(all(r.operators(sc, p))))
		} else {
			out = append(out, r.filter(sc, p, op))
		}
		r.Accept(",")
	}
	refuse.If(len(out) == 0)
	return out
}

// comparisons maps the operators of GraphQL servers.
var comparisons = map[string]string{"eq": "=", "equals": "=", "equalto": "=", "notequalto": "!=", "greaterthan": ">", "greaterthanorequalto": ">=", "lessthan": "<", "lessthanorequalto": "<=", "before": "<", "after": ">", "ne": "!=", "neq": "!=", "not": "!=", "gt": ">", "gte": ">=", "ge": ">=", "lt": "<", "lte": "<=", "le": "<=",
	"in": "in", "contains": "contains", "includes": "contains", "has": "contains", "has_key": "contains", "starts_with": "starts_with", "startswith": "starts_with", "regex": "matches", "matches": "matches"}

// negatives maps the operators of GraphQL servers that negate another one.
var negatives = map[string]string{"not_contains": "contains", "notcontains": "contains", "not_starts_with": "starts_with", "notstartswith": "starts_with",
	"not_ends_with": "ends_with", "notendswith": "ends_with", "nlike": "like", "nilike": "ilike", "notlike": "like", "notilike": "ilike", "nregex": "regex"}

// listOperators maps the operators of GraphQL servers on lists to the quantifier of their members.
var listOperators = map[string]string{"haseveryof": "all", "hasevery": "all", "has_every": "all", "contains_all": "all", "containsall": "all", "has_keys_all": "all", "all": "all",
	"hassome": "any", "has_some": "any", "contains_any": "any", "containsany": "any", "containssome": "any", "has_keys_any": "any", "overlaps": "any", "any": "any"}

// filter reads the value of an operator of a GraphQL server.
func (r *rewriter) filter(sc scope, p *catalog.Property, op string) cond {
	name := "$" + naming.Lower(sc.node) + "." + p.Name
	if positive := negatives[op]; positive != "" {
		return r.negated(r.filter(sc, p, positive))
	}
	if around, ok := caseInsensitive[op]; ok {
		return leaf(name + " matches " + lex.Quote("(?i)"+around[0]+regexp.QuoteMeta(r.Literal())+around[1]))
	}
	switch op {
	case "nin", "not_in", "notin":
		return r.negated(r.isIn(name, p))
	case "in":
		return r.isIn(name, p)
	case "iregex":
		return leaf(name + " matches " + lex.Quote("(?i)"+r.Literal()))
	case "is_null", "isnull", "null":
		return nullTest(name, r.Flag())
	case "exists", "notnull", "not_null", "isnotnull", "is_not_null":
		return nullTest(name, !r.Flag())
	case "like", "ilike":
		return leaf(name + like(r.Literal(), op == "ilike"))
	case "ends_with", "endswith":
		return leaf(name + suffix(r.Literal()))
	case "between":
		r.Expect("[")
		low := r.valueOf(p)
		r.Expect(",")
		high := r.valueOf(p)
		r.Expect("]")
		return cond{op: "all", subs: []cond{leaf(name + " >= " + low), leaf(name + " <= " + high)}}
	}
	if quantifier := listOperators[op]; quantifier != "" {
		return r.containsEach(name, quantifier, p)
	}
	to := comparisons[op]
	if p.Type.List && r.Is("[") && to == "contains" {
		return r.containsEach(name, "all", p)
	}
	refuse.If(to == "")
	if r.Accept("null") {
		refuse.If(to != "=" && to != "!=")
		return nullTest(name, to == "=")
	}
	return leaf(name + " " + to + " " + r.Optional(r.valueOf(p)))
}

// arguments reads the arguments of a field in parentheses, which restrict and order its nodes.
func (r *rewriter) arguments(q *read, sc scope) {
	closing := ")"
	if r.Accept("{") {
		closing = "}"
	} else {
		r.Expect("(")
	}
	for r.More(closing) {
		name := r.Word()
		if !lex.Argument(name) || r.Property(r.vars[sc.node], name) != nil {
			r.match = append(r.match, r.filterOf(sc, name)...)
			continue
		}
		r.Expect(":")
		switch naming.Plain(name) {
		case "first", "limit", "take", "top", "pagesize", "perpage":
			q.limit = r.operand()
		case "offset", "skip", "start":
			q.skip = r.operand()
		case "where", "filter", "filters", "condition":
			r.match = append(r.match, r.filters(sc)...)
		case "orderby", "order", "sort":
			r.sortKeys(sc)
		case "options", "pagination", "paging":
			r.arguments(q, sc)
		case "after":
			if t := r.Next(); t.Kind == lex.Dollar && r.nesting == 0 && r.after == "" {
				r.after = t.Text
			} else {
				panic(refuse.GiveUp{}) // the cursor of another server
			}
		case "groupby":
			r.by = append(r.by, r.propertyNames(sc)...)
		default:
			panic(refuse.GiveUp{})
		}
	}
}

// sortProperty reads the key and the colon in orderBy: { joined: DESC }, or the whole of
// orderBy: { field: joined, direction: DESC } up to the direction.
func (r *rewriter) sortProperty(sc scope) string {
	name := r.Word()
	r.Expect(":")
	if sc.node == "" {
		sc.node = r.firstNode()
	}
	if r.Property(r.vars[sc.node], name) == nil && naming.Plain(name) == "field" {
		t := r.Next()
		name = t.Text
		if r.Accept(",") || r.IsOne("direction", "order") {
			if !r.Accept("direction") {
				r.Expect("order")
			}
			r.Expect(":")
		}
	}
	return r.scoped(sc, name)
}

// sortEnum reads a key such as PRICE_DESC or price.
func (r *rewriter) sortEnum(sc scope) string {
	name := r.Word()
	base, direction := name, ""
	for _, d := range []string{"_desc", "_asc"} {
		if cut, ok := strings.CutSuffix(strings.ToLower(name), d); ok {
			base = name[:len(cut)]
			direction = map[string]string{"_desc": " desc"}[d]
		}
	}
	return r.scoped(sc, base) + direction
}

// propertyNames reads the name of a property, or a list of them in brackets.
func (r *rewriter) propertyNames(sc scope) (out []string) {
	if !r.Accept("[") {
		return []string{r.need(sc, r.Word()).Name}
	}
	for r.More("]") {
		out = append(out, r.need(sc, r.Word()).Name)
	}
	return out
}

// returnArguments reads return(orderBy: { year: DESC }, first: 10) { … }.
func (r *rewriter) returnArguments() {
	r.Next()
	arguments := r.At
	r.SkipGroup()
	r.returned()
	after := r.At
	r.At = arguments
	r.arguments(&r.read, scope{node: r.firstNode()})
	r.At = after
}

// boundBlock makes the limit of a block the most records that it may have, if the text has none.
func (r *rewriter) boundBlock() {
	refuse.If(strings.HasPrefix(r.limit, "$")) // the limit of a block is a number
	r.limit = cmp.Or(r.limit, "1000")
}
