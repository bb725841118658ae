// Package schema resolves catalogs for the use of tables: types with their rules, and how a schema takes over the entities of
// an earlier one.
package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded/internal/index/vectorindex"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// In an indexed tuple, Source and Target stand for the ends of an edge in place of a
// property position.
const (
	Source = -1 // the source node of an edge
	Target = -2 // the target node of an edge
)

// Schema is a catalog resolved for the use of tables.
type Schema struct {
	Source  string          // the .pg text
	Digest  string          // see engine.Schema.Digest
	Catalog *catalog.Schema // the types and rules as declared
	Nodes   []*Type         // node types, in schema order; then the reference types
	Edges   []*Type         // edge types, in schema order
	// Ancestors are the schemas from which this one descends, the latest first.
	Ancestors []Ancestor

	nodes map[string]*Type // by name
	edges map[string]*Type // by name

	interfaces map[string]*Interface // by name
	references map[string]*Type      // by name of the interface
	declared   int                   // number of node types of the catalog
}

// Decoder decodes the versioned encoding of a catalog.
type Decoder func(encoded []byte) (*catalog.Schema, error)

// Type is a node or edge type of a schema.
type Type struct {
	Entity plan.Entity         // node or edge
	Index  int                 // position in Schema.Nodes or Schema.Edges
	Name   string              // name of the type
	Props  []*catalog.Property // properties, in schema order
	Key    []int               // positions of the key's members, in name order; nil without a key
	IDProp int                 // position of the property that is the id itself, or -1
	Tuples [][]int             // the indexed property tuples; the first Unique ones are unique
	Unique int                 // number of unique tuples
	From   int                 // indexes of the node types at an edge's ends
	To     int
	Card   *catalog.Cardinality // only for an edge type
	Valid  *Validity            // nil without @valid
	Out    []int                // indexes of the edge types that leave or enter a node type
	In     []int
	Of     *Interface // of a reference type: the interface; nil for other types
	Refs   []int      // indexes of the reference types of the interfaces that a node type implements

	node   *catalog.Node      // nil for an edge type
	byName map[string]int     // by property name: its position
	ranges [][]catalog.Range  // by property: its ranges
	checks [][]*value.Pattern // by property: its checks
}

// New resolves a catalog. It fails if the pattern of a check is not a valid regular
// expression, or if the catalog refers to a property or type that it lacks.
func New(source, digest string, c *catalog.Schema) (*Schema, error) {
	s := &Schema{Source: source, Digest: digest, Catalog: c, nodes: map[string]*Type{}, edges: map[string]*Type{}}
	for i, n := range c.Nodes {
		t := &Type{Entity: plan.Node, Index: i, Name: n.Name, Props: n.Properties, IDProp: -1, node: n}
		t.IndexNames()
		for _, k := range n.Key {
			p, ok := t.byName[k]
			if !ok {
				return nil, fmt.Errorf("node %s: @key names %q, which is not a property", n.Name, k)
			}
			t.Key = append(t.Key, p)
		}
		slices.SortFunc(t.Key, func(a, b int) int { return strings.Compare(t.Props[a].Name, t.Props[b].Name) })
		if len(t.Key) == 1 && t.Props[t.Key[0]].Type.Kind == value.String {
			t.IDProp = t.Key[0]
		}
		if err := t.tuples(n.Unique, n.Index); err != nil {
			return nil, err
		}
		t.validity(n.Valid)
		if err := t.rules(n.Ranges, n.Checks); err != nil {
			return nil, err
		}
		s.Nodes = append(s.Nodes, t)
		s.nodes[n.Name] = t
	}
	s.declared = len(s.Nodes)
	s.resolveInterfaces()
	s.resolveReferences()
	for i, e := range c.Edges {
		t := &Type{Entity: plan.Edge, Index: i, Name: e.Name, Props: e.Properties, IDProp: -1, Card: e.Card}
		t.IndexNames()
		from, to := s.endType(e, false), s.endType(e, true)
		if from == nil || to == nil {
			return nil, fmt.Errorf("edge %s: the endpoint %s or %s is neither a node type nor an interface", e.Name, e.From, e.To)
		}
		t.From, t.To = from.Index, to.Index
		from.Out = append(from.Out, i)
		to.In = append(to.In, i)
		if err := t.tuples(e.Unique, e.Index); err != nil {
			return nil, err
		}
		t.validity(e.Valid)
		if err := t.rules(nil, nil); err != nil {
			return nil, err
		}
		s.Edges = append(s.Edges, t)
		s.edges[strings.ToLower(e.Name)] = t
	}
	return s, nil
}

// Approximate reports whether some property has an approximate index.
func (s *Schema) Approximate() bool {
	for _, t := range s.NodeTypes() {
		for p := range t.Props {
			if t.Approximate(p) {
				return true
			}
		}
	}
	return false
}

// Type returns the type with the given name, or nil. The names of edge types are case-insensitive.
func (s *Schema) Type(e plan.Entity, name string) *Type {
	if e == plan.Edge {
		if t := s.edges[name]; t != nil {
			return t
		}
		return s.edges[strings.ToLower(name)]
	}
	return s.nodes[name]
}

// Prop returns the position of the property with the given name.
func (t *Type) Prop(name string) (int, bool) {
	i, ok := t.byName[name]
	return i, ok
}

// AppendID appends the id of a keyed node with these values.
func (t *Type) AppendID(dst []byte, vals []value.Value) []byte {
	return t.appendKey(dst, func(i int) value.Value { return vals[t.Key[i]] })
}

// AppendKey appends the id of a keyed node. The list `members` holds the values of its key, in name
// order.
func (t *Type) AppendKey(dst []byte, members []value.Value) []byte {
	return t.appendKey(dst, func(i int) value.Value { return members[i] })
}

// appendKey appends the id of a keyed node; `member` returns the value of key member i.
func (t *Type) appendKey(dst []byte, member func(i int) value.Value) []byte {
	if len(t.Key) == 1 {
		return value.AppendText(dst, member(0))
	}
	dst = append(dst, '[')
	var text []byte
	for i := range t.Key {
		if i > 0 {
			dst = append(dst, ',')
		}
		text = value.AppendText(text[:0], member(i))
		dst = appendJSON(dst, text)
	}
	return append(dst, ']')
}

// IDForm is [catalog.Node.IDForm] of a node type.
func (t *Type) IDForm(id string) string { return t.node.IDForm(id) }

// IndexNames sets the field byName.
func (t *Type) IndexNames() {
	t.byName = make(map[string]int, len(t.Props))
	for i, p := range t.Props {
		t.byName[p.Name] = i
	}
}

// tuples sets the fields Tuples and Unique. It fails if a name is not a property.
func (t *Type) tuples(unique, index [][]string) error {
	for _, names := range slices.Concat(unique, index) {
		tuple := make([]int, len(names))
		for i, n := range names {
			p, ok := t.byName[n]
			switch {
			case ok:
				tuple[i] = p
			case t.Entity == plan.Edge && n == "src":
				tuple[i] = Source
			case t.Entity == plan.Edge && n == "dst":
				tuple[i] = Target
			default:
				return fmt.Errorf("%s %s: @index or @unique names %q, which is not a property", t.Entity, t.Name, n)
			}
		}
		t.Tuples = append(t.Tuples, tuple)
	}
	t.Unique = len(unique)
	return nil
}

// rules sets the fields `ranges` and `checks`. It fails if a name is not a property.
func (t *Type) rules(ranges []catalog.Range, checks []catalog.Check) error {
	t.ranges = make([][]catalog.Range, len(t.Props))
	t.checks = make([][]*value.Pattern, len(t.Props))
	for _, r := range ranges {
		p, ok := t.byName[r.Property]
		if !ok {
			return fmt.Errorf("%s %s: @range names %q, which is not a property", t.Entity, t.Name, r.Property)
		}
		t.ranges[p] = append(t.ranges[p], r)
	}
	for _, c := range checks {
		p, ok := t.byName[c.Property]
		if !ok {
			return fmt.Errorf("%s %s: @check names %q, which is not a property", t.Entity, t.Name, c.Property)
		}
		pattern, err := value.NewPattern(c.Pattern)
		if err != nil {
			return fmt.Errorf("%s %s, property %s: the pattern of @check is not valid: %w", t.Entity, t.Name, c.Property, err)
		}
		t.checks[p] = append(t.checks[p], pattern)
	}
	return nil
}

// appendJSON appends text as a JSON string, without HTML escapes.
func appendJSON(dst, text []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c == '\b':
			dst = append(dst, '\\', 'b')
		case c == '\f':
			dst = append(dst, '\\', 'f')
		case c < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// Types returns the node types or the edge types.
func (s *Schema) Types(e plan.Entity) []*Type {
	if e == plan.Edge {
		return s.Edges
	}
	return s.NodeTypes()
}

// MaxRows limits the row numbers and the ordinals of a table. It leaves room below 1<<32
// for the rows of one transaction.
const MaxRows = 1 << 31

// CheckRows returns a *engine.TooLarge if n rows are too many for a table of the type.
func (t *Type) CheckRows(n int64) error {
	if n > MaxRows {
		return &engine.TooLarge{Resource: fmt.Sprintf("rows of %s %s", t.Entity, t.Name), Limit: MaxRows, Actual: n}
	}
	return nil
}

// Approximate reports whether nearest may use an approximate index of property p.
func (t *Type) Approximate(p int) bool {
	prop := t.Props[p]
	return t.Entity == plan.Node && prop.Approximate && prop.Type.Kind == value.Vector && !prop.Type.List && prop.Type.Dim <= vectorindex.MaxVectorDim
}

// Sortable reports whether property p has a sorted index: its kind has an order, and the
// property alone forms a key, a unique tuple or an index.
func (t *Type) Sortable(p int) bool {
	if typ := t.Props[p].Type; typ.List || !typ.Kind.IsComparable() {
		return false
	}
	alone := func(tuple []int) bool { return len(tuple) == 1 && tuple[0] == p }
	return alone(t.Key) || slices.ContainsFunc(t.Tuples, alone)
}

// Searchable yields the String properties that the schema declares searchable: those with an @index
// of their own. Enumerations are left out.
func (t *Type) Searchable(yield func(p int) bool) {
	for _, tuple := range t.Tuples[t.Unique:] {
		if len(tuple) != 1 || tuple[0] < 0 {
			continue
		}
		typ := t.Props[tuple[0]].Type
		if typ.Kind == value.String && !typ.List && typ.Enum == nil && !yield(tuple[0]) {
			return
		}
	}
}
