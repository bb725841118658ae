// Package check resolves parsed queries against a schema. It resolves every name and type,
// reports errors, and lowers a query without errors to a plan.
package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
	"github.com/omnigraph-go/omnigraph/internal/gq/work"
)

// Info holds facts about the source text that the plan does not contain, such as positions.
type Info struct {
	Params    []Symbol     // by parameter index; a parameter of actor() has the place of its first use
	Vars      []Symbol     // by plan.VarID
	Compares  []Comparison // in source order
	NullTests []NullTest   // in source order
	Blocks    []Block      // of a mutation: its blocks, in source order
}

// Symbol is a parameter or a variable.
type Symbol struct {
	Span  diag.Span // position of the declaration or, without one, of the first use
	Uses  int       // number of later occurrences
	Inner bool      // bound inside a block that is no `optional` block
}

// Comparison is an inline condition, a filter, or a comparison within an expression.
type Comparison struct {
	Span diag.Span    // position in the query
	Cond plan.Compare // the compiled condition
	// Operand is true if the comparison is an operand of an expression, so that it filters no rows.
	Operand bool
}

// NullTest is a test for null, in a condition or within an expression.
type NullTest struct {
	Span diag.Span     // position in the query
	Cond plan.NullTest // the compiled condition
}

// Query checks a query and lowers it to a plan. The plan is nil if the list has errors.
func Query(s *catalog.Schema, q *syntax.Query) (*plan.Query, *Info, diag.List) {
	return QueryWithin(nil, s, nil, q)
}

// QueryWithin is Query with the claims that actor() has, and with a meter that counts the work. The meter panics
// when a limit is exceeded or the context ends.
func QueryWithin(m *work.Meter, s *catalog.Schema, claims plan.Claims, q *syntax.Query) (*plan.Query, *Info, diag.List) {
	c := newChecker(s, q)
	c.meter, c.claims = m, claims
	c.step(1)
	p, faults := c.query(q)
	return p, c.info, faults
}

// newChecker returns a checker for one query.
func newChecker(s *catalog.Schema, q *syntax.Query) *checker {
	return &checker{
		schema: s,
		plan:   &plan.Query{Name: q.Name.Value, Uses: make([]plan.Use, 0, 8)},
		params: map[string]int{},
		uses:   map[useKey]int{},
		failed: map[string]bool{},
		info:   &Info{},
	}
}

// query checks the query and returns its plan, or nil if there are errors.
func (c *checker) query(q *syntax.Query) (*plan.Query, diag.List) {
	c.declare(q.Params)
	c.questions(q.Annotations)
	if q.AsOf != nil {
		c.asOf(q)
	}
	switch b := q.Body.(type) {
	case *syntax.Read:
		c.readQuery(b)
	case *syntax.Mutation:
		c.mutation(b)
	}
	c.mustBeEmpty(q)
	c.faults.Sort()
	if c.faults.HasErrors() {
		return nil, c.faults.Cut(diag.Most)
	}
	return c.plan, c.faults
}

// checker checks one query and lowers it to plan.
type checker struct {
	schema *catalog.Schema // the types that the query may use
	claims plan.Claims     // the claims that actor() has
	plan   *plan.Query     // the result
	// read is the read that the checker lowers. In a mutation outside of blocks it has the variables of the
	// inserts and the columns of the mutation.
	read      *plan.Read
	names     *scope               // the variables of inserts; nil in a read
	inFor     bool                 // the checker lowers the list of a for block
	comparing bool                 // the checker lowers a variable or a parameter that a condition compares
	each      *eachScope           // the block of a mutation that the checker is in; nil outside of blocks
	old       *target              // the type whose old values an assignment may use; nil for none
	limit     bool                 // the read has a limit
	params    map[string]int       // name to index in plan.Query.Params
	badParams []bool               // by index in plan.Params: whether an annotation of the parameter has a fault
	uses      map[useKey]int       // to index in plan.Query.Uses
	walks     map[plan.VarID]*step // by the variable of the walk
	// open are the variables whose type is an interface that traversals gave them, while the checker looks for the
	// types of a block's variables. A further traversal may narrow such a type.
	open    map[plan.VarID][]given
	columns map[string]int // name to index in plan.Read.Columns; nil before the return clause
	// aggregating is set while the checker resolves the argument of an aggregate.
	aggregating bool
	inHaving    bool            // the checker resolves a condition of `having`
	depth       int             // number of subqueries around the part that the checker resolves
	failed      map[string]bool // names of the columns that have been reported
	info        *Info           // facts for the linter
	faults      diag.List       // diagnostics in the order of discovery
	wanted      string          // the type that an undeclared parameter should have; empty for String
	hints       int             // number of suggestions looked up
	steps       int             // number of visits of syntax nodes and names
	meter       *work.Meter     // counts the work; nil for no limits
}

// step adds n visits of syntax nodes and names to the count.
func (c *checker) step(n int) {
	c.steps += n
	c.meter.Step(n)
}

// maxHints bounds the number of suggestions that the checker looks for in a query, one for each
// misspelt name. Each look-up takes time in proportion to the number of candidates.
const maxHints = 50

// useKey identifies a type, or a property of a type, that the query uses.
type useKey struct {
	entity     plan.Entity // whether typ is a node type or an edge type
	typ, value string      // value is the name of the property, or "" for the type
}

// fault reports an error. It keeps at most one more than diag.Most.
func (c *checker) fault(code diag.Code, at diag.Span, help, format string, args ...any) {
	if len(c.faults) <= diag.Most {
		c.faults = append(c.faults, diag.Diagnostic{Code: code, Span: at, Message: fmt.Sprintf(format, args...), Help: help})
	}
}

// closest returns the name that a misspelt one most likely means, or "".
func (c *checker) closest(name string, names func() []string) string {
	if c.hints++; c.hints > maxHints {
		return ""
	}
	among := names()
	c.step(len(among))
	return diag.Closest(name, among)
}

// suggest returns the help line for a name that does not exist: the nearest name, or all names if they are
// few, or some of them.
func (c *checker) suggest(name string, names func() []string) string {
	if c.hints++; c.hints > maxHints {
		return ""
	}
	among := names()
	c.step(len(among))
	long := func(s string) bool { return len(s) > maxListedName }
	switch n := diag.Closest(name, among); {
	case n != "":
		return "did you mean " + n + "?"
	case len(among) == 0 || slices.ContainsFunc(among[:min(len(among), maxListed)], long):
		return ""
	case len(among) == 1:
		return "write " + among[0] + ", which is the only one"
	case len(among) > maxListed:
		return fmt.Sprintf("there are %s and %d more", strings.Join(among[:maxListed], ", "), len(among)-maxListed)
	}
	return "there are " + strings.Join(among, ", ")
}

// maxListed is the number of names that a help line lists, and maxListedName the maximum length of one in bytes.
const (
	maxListed     = 12
	maxListedName = 100
)

// maxImplementers bounds the number of types that a help line lists.
const maxImplementers = 5

// implementers lists the node types that implement an interface, for a help line. It reports false
// if no interface has the name.
func (c *checker) implementers(name string) (list string, ok bool) {
	if !slices.ContainsFunc(c.schema.Interfaces, func(i *catalog.Interface) bool { return i.Name == name }) {
		return "", false
	}
	var names []string
	for _, n := range c.schema.Nodes {
		c.step(1)
		if !slices.Contains(n.Implements, name) {
			continue
		}
		if len(names) == maxImplementers {
			names = append(names, "…")
			break
		}
		names = append(names, n.Name)
	}
	return strings.Join(names, ", "), true
}

// declare adds the parameters of the query to the plan, and checks their names.
func (c *checker) declare(params []*syntax.Param) {
	for _, p := range params {
		name := p.Var.Value[1:]
		at := syntax.SpanOf(p.Var)
		if name == "_" {
			c.fault(DuplicateName, at, "give the parameter a name", "a parameter cannot be called $_")
			continue
		}
		if first, ok := c.params[name]; ok {
			c.fault(DuplicateName, at, "", "duplicate parameter $%s, first declared at %s", name, c.info.Params[first].Span)
			continue
		}
		t := p.Type.Value()
		node := ""
		among := ""
		if word, ok := p.Type.NodeName(); ok {
			t.Kind = value.String
			if types, ok := c.interfaceParam(word, name); ok && len(types) > 0 {
				among = word.Value
				t.Kind, t.Fields = value.Invalid, plan.NodeType(types).Fields
			} else if !ok {
				node = c.nodeParam(word, name)
			}
		}
		if t.Kind == value.Vector && t.Dim == 0 {
			c.fault(BadOperand, p.Type.Span(), "", "the Vector has length 0, want at least 1")
		}
		c.recordFields(name, p.Type.Record)
		c.params[name] = len(c.plan.Params)
		prm, before := plan.Param{Name: name, Type: t, Node: node, Interface: among}, len(c.faults)
		c.annotate(&prm, p)
		c.plan.Params = append(c.plan.Params, prm)
		c.badParams = append(c.badParams, len(c.faults) > before)
		c.info.Params = append(c.info.Params, Symbol{Span: at})
	}
}

// param resolves a $name where only a parameter is allowed.
func (c *checker) param(t syntax.Token) (typed, bool) {
	name := t.Value[1:]
	i, ok := c.params[name]
	if !ok {
		c.fault(UndeclaredParam, syntax.SpanOf(t), c.suggestParam(name), "undeclared parameter $%s", name)
		return typed{}, false
	}
	c.info.Params[i].Uses++
	p := &c.plan.Params[i]
	if p.Interface != "" && !c.comparing {
		c.fault(Incomparable, syntax.SpanOf(t), sameHelp(p.Name), "$%s is a %s, and a query can only compare it with a node of its match or test it for null", name, p.Interface)
		return typed{}, false
	}
	if p.Type.Fields != nil && p.Interface == "" && !c.inFor {
		c.fault(BadBlock, syntax.SpanOf(t), "write for $x in $"+name+" { … }, and $x."+p.Type.Fields[0].Name+" in the block", "$%s is a list of records, which only a `for` block takes", name)
		return typed{}, false
	}
	return typed{expr: plan.ParamRef{Index: i}, typ: p.Type, ref: p.Node, among: p.Interface}, true
}

// recordFields reports fields of a record that have one name.
func (c *checker) recordFields(param string, fields []*syntax.TypeField) {
	first := map[string]diag.Span{}
	for _, f := range fields {
		c.step(1)
		name, at := f.Name.Value, syntax.SpanOf(f.Name)
		if other, again := first[name]; again {
			c.fault(DuplicateName, at, "rename one of them", "duplicate field %s of the records of $%s, first declared at %s", name, param, other)
			continue
		}
		first[name] = at
	}
}

// suggestParam returns the help for an undeclared parameter.
func (c *checker) suggestParam(name string) string {
	if n := c.closest(name, c.paramNames); n != "" {
		return "did you mean $" + n + "?"
	}
	return "declare it: ($" + name + ": " + cmp.Or(c.wanted, value.String.String()) + ")"
}

// paramType returns the text of the type of a parameter for values of a property. A parameter cannot be an enum.
func paramType(of value.Type) string {
	of.Enum = nil
	return withoutNull(of)
}

// wanting calls f, which resolves a parameter that should have the type t.
func (c *checker) wanting(t string, f func()) {
	c.wanted = t
	f()
	c.wanted = ""
}

// paramNames returns the names of the parameters, without $.
func (c *checker) paramNames() []string {
	declared := plan.Declared(c.plan.Params)
	names := make([]string, len(declared))
	for i, p := range declared {
		names[i] = p.Name
	}
	return names
}

// useType records that the query reads or writes a type.
func (c *checker) useType(entity plan.Entity, typ string, write bool) {
	u := plan.Use{Entity: entity, Type: typ, Write: write}
	if entity == plan.Edge {
		e := c.schema.Edge(typ)
		u.From, u.To = e.EndName(false), e.EndName(true)
	}
	c.use(u)
}

// useProp records that the query reads or writes a property.
func (c *checker) useProp(entity plan.Entity, typ string, p *catalog.Property, write bool) {
	c.use(plan.Use{Entity: entity, Type: typ, Property: p.Name, Value: p.Type, Write: write})
}

// use adds u to the uses in the plan, or merges it with the same use.
func (c *checker) use(u plan.Use) {
	c.step(1)
	key := useKey{u.Entity, u.Type, u.Property}
	if i, ok := c.uses[key]; ok {
		c.plan.Uses[i].Write = c.plan.Uses[i].Write || u.Write
		return
	}
	c.uses[key] = len(c.plan.Uses)
	c.plan.Uses = append(c.plan.Uses, u)
}

// nodeNames returns the names of the node types.
func nodeNames(s *catalog.Schema) []string {
	names := make([]string, len(s.Nodes))
	for i, n := range s.Nodes {
		names[i] = n.Name
	}
	return names
}

// edgeNames lists the names of the edges as queries write them.
func edgeNames(s *catalog.Schema) []string {
	names := make([]string, len(s.Edges))
	for i, e := range s.Edges {
		names[i] = lowerFirst(e.Name)
	}
	return names
}

// propNames returns the names of properties.
func propNames(props []*catalog.Property) []string {
	names := make([]string, len(props))
	for i, p := range props {
		names[i] = p.Name
	}
	return names
}

// lowerFirst changes the first letter of s to lower case, as queries write the name of an edge.
func lowerFirst(s string) string {
	if s != "" && s[0] >= 'A' && s[0] <= 'Z' {
		return string(s[0]+'a'-'A') + s[1:]
	}
	return s
}
