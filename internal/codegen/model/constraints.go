package model

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// constraintLine summarizes in one line the rules that a mutation must satisfy, so that a caller
// learns them without a failed call. It is empty for a read, and for a mutation that only the types
// of its parameters restrict.
func constraintLine(q *plan.Query, s *catalog.Schema) string {
	if q.Mutation == nil {
		return ""
	}
	c := &constraints{schema: s}
	q.Mutation.Walk(func(st plan.Statement) { c.statements = append(c.statements, st) })
	for i, st := range c.statements {
		switch st := st.(type) {
		case plan.Insert:
			if st.Entity == plan.Edge {
				c.edge(i, st)
				break
			}
			n := s.Node(st.Type)
			switch key := strings.Join(n.Key, " and "); {
			case key == "" || st.Upsert:
			case st.New:
				c.add("the call fails if %s with the same %s exists", one(n.Name), key)
			default:
				c.add("%s with the same %s is replaced%s", one(n.Name), key, c.replacedClause(n, st))
			}
			c.node(n, st.Set)
		case plan.Update:
			if st.Entity == plan.Edge {
				e := s.Edge(st.Type)
				c.enums(e, st.Set)
				c.times(e.Name, e.Valid, st.Set)
				break
			}
			c.node(s.Node(st.Type), st.Set)
		case plan.ForEach:
			c.add("a block runs for at most %d rows", plan.MaxRows)
		case plan.Delete:
			if st.Entity == plan.Node {
				c.add("deleting %s also deletes its edges", one(st.Type))
			}
		}
	}
	if len(c.rules) == 0 {
		return ""
	}
	return "Constraints: " + strings.Join(c.rules, "; ") + "."
}

// constraints collects the rules of one mutation.
type constraints struct {
	schema     *catalog.Schema  // schema that the mutation was checked against
	statements []plan.Statement // of the mutation, in order
	rules      []string         // sentences without a period
}

// add adds a rule, unless it is already there.
func (c *constraints) add(format string, args ...any) {
	if r := fmt.Sprintf(format, args...); !slices.Contains(c.rules, r) {
		c.rules = append(c.rules, r)
	}
}

// replacedClause returns the end of a sentence that begins by saying that a node is replaced. A
// replaced node keeps its edges, so an edge that the same mutation inserts at the node may be one
// too many.
func (c *constraints) replacedClause(n *catalog.Node, st plan.Insert) string {
	id := idOf(n, st)
	if id == nil {
		return ""
	}
	var replaced, blocking []string
	for i, other := range c.statements {
		ins, ok := other.(plan.Insert)
		if !ok || ins.Entity != plan.Edge {
			continue
		}
		e := c.schema.Edge(ins.Type)
		from, to := isNode(e.From, ins.From, n.Name, id), isNode(e.To, ins.To, n.Name, id)
		switch {
		case from && c.clears(i, ins):
			replaced = appendNew(replaced, e.Name)
		case from:
			blocking = appendNew(blocking, c.blocks(e, ins))
		}
		if to {
			blocking = appendNew(blocking, blocksTarget(e, from))
		}
	}
	text := ""
	if len(replaced) > 0 {
		text = ", and so are its " + strings.Join(replaced, " and ") + " edges"
	}
	if len(blocking) > 0 {
		text += ", unless it has " + strings.Join(blocking, " or ") + " already: then the call fails"
	}
	return text
}

// isNode reports whether an end of an edge is the node with this type and id. The edge type declares the end with the type or interface
// `declared`.
func isNode(declared string, end plan.Expr, typ string, id plan.Expr) bool {
	at, end := endAt(declared, end)
	return at == typ && same(end, id)
}

// endAt returns the type and the id of the node at an end of an edge, which is at the given type or interface. For an
// interface, it returns the node's own type if that is known.
func endAt(at string, end plan.Expr) (typ string, id plan.Expr) {
	if ref, ok := end.(plan.NodeRef); ok {
		if lit, ok := ref.Type.(plan.Lit); ok {
			at = lit.Value.Str()
		}
		return at, ref.ID
	}
	return at, end
}

// blocks returns a phrase for the edges of a replaced node that make the insert of another edge
// from the node fail, such as "an About". It returns "" if the node may have any number of such
// edges.
func (c *constraints) blocks(e *catalog.Edge, ins plan.Insert) string {
	for _, u := range e.Unique {
		switch {
		case slices.Equal(u, []string{"src"}):
			return one(e.Name)
		case ofEnds(u):
			return one(e.Name) + " to the same " + e.To
		}
	}
	if e.Card == nil || e.Card.Max < 0 {
		return ""
	}
	// The edges that the mutation inserts reduce the number that the node may have before.
	if room := e.Card.Max - c.count(ins); room > 0 {
		return fmt.Sprintf("more than %d %s", room, e.Name)
	}
	return one(e.Name)
}

// blocksTarget is like blocks, for the insert of an edge to the replaced node. If the edge leads from the node to itself
// (loop), a rule about both ends concerns an edge from the node, so blocksTarget leaves it to blocks.
func blocksTarget(e *catalog.Edge, loop bool) string {
	for _, u := range e.Unique {
		switch {
		case slices.Equal(u, []string{"dst"}):
			return one(e.Name) + " to it"
		case ofEnds(u) && !loop:
			return one(e.Name) + " from the same " + e.From
		}
	}
	return ""
}

// ofEnds reports whether a unique rule is about the two ends of an edge alone.
func ofEnds(unique []string) bool {
	return !slices.ContainsFunc(unique, func(name string) bool { return name != "src" && name != "dst" })
}

// appendNew appends a text that is neither empty nor in the list.
func appendNew(list []string, text string) []string {
	if text == "" || slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// count returns the number of edges that the mutation inserts with the type and source of the
// insert `ins`.
func (c *constraints) count(ins plan.Insert) int {
	n := 0
	for _, st := range c.statements {
		if other, ok := st.(plan.Insert); ok && other.Entity == plan.Edge && other.Type == ins.Type && same(other.From, ins.From) {
			n++
		}
	}
	return n
}

// clears reports whether an earlier statement deletes all edges with the type and source of the
// insert `ins`.
func (c *constraints) clears(at int, ins plan.Insert) bool {
	for _, st := range c.statements[:at] {
		if d, ok := st.(plan.Delete); ok && d.Entity == plan.Edge && d.Type == ins.Type &&
			len(d.Where) == 1 && d.Where[0].Name == "from" && d.Where[0].Op == plan.Eq && same(d.Where[0].Value, ins.From) {
			return true
		}
	}
	return false
}

// inserted reports whether a statement before the index `before` inserts the node with this type
// and id.
func (c *constraints) inserted(before int, typ string, id plan.Expr) bool {
	if _, named := id.(plan.ID); named {
		return true
	}
	for _, st := range c.statements[:before] {
		if ins, ok := st.(plan.Insert); ok && ins.Entity == plan.Node && ins.Type == typ && same(idOf(c.schema.Node(typ), ins), id) {
			return true
		}
	}
	return false
}

// idOf returns the expression of the id of an inserted node. It is nil if the id is generated, or
// is made of several properties.
func idOf(n *catalog.Node, st plan.Insert) plan.Expr {
	switch len(n.Key) {
	case 0:
		return st.ID
	case 1:
		for _, a := range st.Set {
			if a.Name == n.Key[0] {
				return a.Value
			}
		}
	}
	return nil
}

// same reports whether two expressions are the same parameter or the same literal.
func same(a, b plan.Expr) bool { return a != nil && reflect.DeepEqual(a, b) }

// given returns a function that reports whether a statement assigns to a property a parameter, or a value
// that it computes with a parameter. The caller
// cannot affect the other properties, so rules about them do not matter here.
func given(set []plan.Assign) func(prop string) bool {
	return func(prop string) bool {
		return slices.ContainsFunc(set, func(a plan.Assign) bool {
			return a.Name == prop && usesParam(a.Value)
		})
	}
}

// usesParam reports whether an expression is a parameter or computes with one.
func usesParam(e plan.Expr) bool {
	uses := false
	plan.WalkExpr(e, func(e plan.Expr) {
		_, param := e.(plan.ParamRef)
		uses = uses || param
	})
	return uses
}

// node adds the rules about the properties of a node.
func (c *constraints) node(n *catalog.Node, set []plan.Assign) {
	touched := given(set)
	for _, p := range n.Properties {
		if p.Type.Enum != nil && touched(p.Name) {
			c.add("%s.%s is one of %s", n.Name, p.Name, strings.Join(p.Type.Enum, ", "))
		}
	}
	for _, r := range n.Ranges {
		if touched(r.Property) && (r.Min != nil || r.Max != nil) {
			c.add("%s.%s is %s", n.Name, r.Property, rangeText(r.Min, r.Max))
		}
	}
	for _, check := range n.Checks {
		if touched(check.Property) {
			c.add("%s.%s matches /%s/", n.Name, check.Property, check.Pattern)
		}
	}
	c.times(n.Name, n.Valid, set)
	for _, u := range n.Unique {
		if slices.ContainsFunc(u, touched) {
			c.add("%s of %s is unique", strings.Join(u, " with "), one(n.Name))
		}
	}
}

// edge adds the rules about the edge that statement i inserts.
func (c *constraints) edge(i int, st plan.Insert) {
	e := c.schema.Edge(st.Type)
	var ends []string
	if typ, id := endAt(e.From, st.From); !c.inserted(i, typ, id) {
		ends = append(ends, "from an existing "+typ)
	}
	if typ, id := endAt(e.To, st.To); !c.inserted(i, typ, id) {
		ends = append(ends, "to an existing "+typ)
	}
	if len(ends) > 0 {
		c.add("%s goes %s", e.Name, strings.Join(ends, " "))
	}
	c.enums(e, st.Set)
	c.times(e.Name, e.Valid, st.Set)
	for _, u := range e.Unique {
		c.add("%s of %s edge is unique", strings.Join(u, " with "), one(e.Name))
	}
	if n := c.count(st); e.Card != nil && !(c.clears(i, st) && n >= e.Card.Min && (e.Card.Max < 0 || n <= e.Card.Max)) {
		switch {
		case e.Card.Max < 0:
			if e.Card.Min > 0 {
				c.add("%s has at least %d %s", one(e.From), e.Card.Min, e.Name)
			}
		case e.Card.Min == 0:
			c.add("%s has at most %d %s", one(e.From), e.Card.Max, e.Name)
		case e.Card.Min == e.Card.Max:
			c.add("%s has %d %s", one(e.From), e.Card.Max, e.Name)
		default:
			c.add("%s has %d to %d %s", one(e.From), e.Card.Min, e.Card.Max, e.Name)
		}
	}
}

// enums adds the rules about the properties of an edge that are enums.
func (c *constraints) enums(e *catalog.Edge, set []plan.Assign) {
	for _, p := range e.Properties {
		if p.Type.Enum != nil && given(set)(p.Name) {
			c.add("%s.%s is one of %s", e.Name, p.Name, strings.Join(p.Type.Enum, ", "))
		}
	}
}

// times adds the rule that an entity begins to be valid before it ends.
func (c *constraints) times(typ string, v *catalog.Validity, set []plan.Assign) {
	if v != nil && (given(set)(v.Since) || given(set)(v.Until)) {
		c.add("%s.%s is after %s", typ, v.Until, v.Since)
	}
}

// one puts the indefinite article before a type name.
func one(name string) string {
	if strings.ContainsRune("AEIO", rune(name[0])) {
		return "an " + name
	}
	return "a " + name
}
