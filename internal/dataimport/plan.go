package dataimport

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
)

// Plan is a map that was checked against a schema.
type Plan struct {
	sources []*plannedSource
	lookups []*lookup // the ends that are found by other properties than a key
}

// plannedSource is a source with what its records become.
type plannedSource struct {
	*Source
	columns []string // the columns that the mappings read
	maps    []*plannedMapping
}

// plannedMapping makes one node or edge of a record.
type plannedMapping struct {
	*Mapping
	where []condition
	open  []byte // the line up to the first value
	props []plannedProperty
	from  *plannedEnd // of an edge
	to    *plannedEnd // of an edge
	node  *catalog.Node
	edge  *catalog.Edge
	row   *rowID // makes the id of an edge of a followed table; nil for other mappings
}

// condition is a condition on a column of the source.
type condition struct {
	column int
	texts  []string
}

// plannedProperty sets a property from a column of the source.
type plannedProperty struct {
	name     string
	required bool
	column   int          // position among the columns of the source; -1 for a constant
	constant record.Value // the text of a constant
	convert  *Converter
	prefix   []byte // what is written before the value
}

// plannedEnd finds the node at an end of an edge.
type plannedEnd struct {
	field  string // from or to
	typ    *catalog.Node
	object bool // the end is at an interface
	// The properties that identify the node: those of the key in the order of the id, those of a @unique in the order of its
	// declaration, or id alone.
	by     []plannedProperty
	byID   bool
	lookup *lookup // nil if the properties are the key or the id
}

// lookup finds the nodes of a type by a @unique other than the key.
type lookup struct {
	typ   *catalog.Node
	props []string
	ids   map[string]string // by the texts of the values, joined by joinTexts: the id of the node, or "" for none
}

// Options say what a plan permits.
type Options struct {
	NewNodes bool // nodes of a type without a key may have no id, so that each import makes new ones
	Partial  bool // a mapping need not set the required properties of its type
}

// NewPlan checks a map against a schema. The plan is nil if there are errors.
func NewPlan(m *Map, s *catalog.Schema, opts Options) (*Plan, diag.List) {
	p := &Plan{}
	for i := range m.Sources {
		src := &m.Sources[i]
		ps := &plannedSource{Source: src}
		for _, mp := range src.Maps {
			pm := &plannedMapping{Mapping: mp}
			for _, c := range mp.Where {
				pm.where = append(pm.where, condition{ps.column(c.Column), c.Texts})
			}
			if mp.IsEdge {
				p.edge(ps, pm, s, opts)
			} else {
				p.node(ps, pm, s, opts)
			}
			ps.maps = append(ps.maps, pm)
		}
		p.sources = append(p.sources, ps)
	}
	if faults := m.reader.Faults(); faults.HasErrors() {
		return nil, faults
	}
	return p, m.reader.Faults()
}

// column returns the position of a column among those that the source reads.
func (s *plannedSource) column(name string) int {
	at := slices.Index(s.columns, name)
	if at < 0 {
		at = len(s.columns)
		s.columns = append(s.columns, name)
	}
	return at
}

// node checks a mapping to a node.
func (p *Plan) node(ps *plannedSource, m *plannedMapping, s *catalog.Schema, opts Options) {
	m.node = s.Node(m.Type)
	if m.node == nil {
		m.at.Unknown(strictyaml.UnknownName, "node type", m.Type, "the mapping", names(s.Nodes, func(n *catalog.Node) string { return n.Name }))
		return
	}
	m.open = append(quote([]byte(`{"type":`), m.node.Name), `,"data":{`...)
	m.properties(ps, m.node.Properties, len(m.node.Key) == 0, opts.Partial, func(k *Converter, name string) {
		for _, r := range m.node.Ranges {
			if r.Property == name {
				k.bounds = append(k.bounds, r.Bounds())
			}
		}
		for _, c := range m.node.Checks {
			if pattern, err := value.NewPattern(c.Pattern); err == nil && c.Property == name {
				k.patterns = append(k.patterns, pattern)
			}
		}
	})
	if !opts.NewNodes && len(m.node.Key) == 0 && !slices.ContainsFunc(m.Set, func(a Assign) bool { return a.Property == "id" }) {
		m.at.Fault(strictyaml.Missing, fmt.Sprintf("%s has no key and set has no id, so that a second import would make the same nodes again", m.Type), "set id, give the type a @key, or import with --mode append")
	}
}

// edge checks a mapping to an edge.
func (p *Plan) edge(ps *plannedSource, m *plannedMapping, s *catalog.Schema, opts Options) {
	m.edge = s.Edge(m.Type)
	if m.edge == nil {
		m.at.Unknown(strictyaml.UnknownName, "edge type", m.Type, "the mapping", names(s.Edges, func(e *catalog.Edge) string { return e.Name }))
		return
	}
	m.open = quote([]byte(`{"edge":`), m.edge.Name)
	m.properties(ps, m.edge.Properties, true, opts.Partial, func(*Converter, string) {})
	m.from = p.end(ps, m, s, m.From, false)
	m.to = p.end(ps, m, s, m.To, true)
}

// properties checks the properties that a mapping sets. `withID` says that set may have an id.
func (m *plannedMapping) properties(ps *plannedSource, props []*catalog.Property, withID, partial bool, rules func(*Converter, string)) {
	known := names(props, func(p *catalog.Property) string { return p.Name })
	set := map[string]bool{}
	for i := range m.Set {
		a := &m.Set[i]
		set[a.Property] = true
		at := slices.Index(known, a.Property)
		typ := value.Of(value.String)
		switch {
		case at >= 0:
			typ = props[at].Type
		case a.Property == "id" && withID:
		default:
			a.at.Unknown(strictyaml.UnknownName, "property", a.Property, m.Type, known)
			continue
		}
		pp, ok := a.plan(ps, typ)
		if !ok {
			continue
		}
		pp.required = !typ.Nullable
		if !typ.List {
			rules(pp.convert, a.Property)
		}
		pp.prefix = append(quote([]byte{','}, a.Property), ':')
		m.props = append(m.props, pp)
	}
	if partial {
		return
	}
	for _, p := range props {
		if !set[p.Name] && !p.Type.Nullable && p.Default == nil && p.Embed == nil {
			m.at.Fault(strictyaml.Missing, fmt.Sprintf("%s.%s is required, and set does not have it", m.Type, p.Name), fmt.Sprintf("add %s: COLUMN", p.Name))
		}
	}
}

// plan checks the options of a column for a type.
func (a *Assign) plan(ps *plannedSource, typ value.Type) (plannedProperty, bool) {
	pp := plannedProperty{name: a.Property, column: -1}
	k, err := NewConverter(typ, &a.Column)
	if err != nil {
		a.at.Fault(strictyaml.BadValue, err.Error(), "")
		return pp, false
	}
	pp.convert = k
	if a.Column.Const != nil {
		pp.constant = record.OfText(*a.Column.Const)
	} else {
		pp.column = ps.column(a.Column.Name)
	}
	return pp, true
}

// end checks an end of an edge.
func (p *Plan) end(ps *plannedSource, m *plannedMapping, s *catalog.Schema, e *End, to bool) *plannedEnd {
	if e == nil {
		return nil
	}
	_, isInterface := m.edge.End(to)
	out := &plannedEnd{field: "from", object: isInterface, typ: s.Node(e.Type)}
	if to {
		out.field = "to"
	}
	if out.typ == nil || !s.AtEnd(m.edge, to, e.Type, false) {
		e.at.Unknown(strictyaml.UnknownName, "node type", e.Type, fmt.Sprintf("%s: %s is at this end", m.Type, m.edge.EndName(to)), names(s.EndsAt(m.edge, to), func(n *catalog.Node) string { return n.Name }))
		return nil
	}
	var by []string
	for _, a := range e.By {
		by = append(by, a.Property)
	}
	order, isUnique := identifies(out.typ, by)
	switch {
	case len(by) == 1 && by[0] == "id" && out.typ.Property("id") == nil:
		out.byID, order = true, by
	case order == nil:
		e.at.Fault(strictyaml.BadValue, fmt.Sprintf("%s does not identify a %s", strings.Join(by, ", "), e.Type), "write "+identities(out.typ))
		return nil
	case isUnique:
		out.lookup = p.lookup(out.typ, order)
	}
	for _, name := range order {
		a := &e.By[slices.Index(by, name)]
		typ := value.Of(value.String)
		if !out.byID {
			typ = out.typ.Property(name).Type
		}
		pp, ok := a.plan(ps, typ)
		if !ok {
			return nil
		}
		out.by = append(out.by, pp)
	}
	return out
}

// lookup returns the lookup of a type by some properties.
func (p *Plan) lookup(n *catalog.Node, props []string) *lookup {
	for _, l := range p.lookups {
		if l.typ == n && slices.Equal(l.props, props) {
			return l
		}
	}
	l := &lookup{typ: n, props: props, ids: map[string]string{}}
	p.lookups = append(p.lookups, l)
	return l
}

// identifies returns the properties in the order of the key or of the @unique that they are, or nil.
func identifies(n *catalog.Node, props []string) (order []string, isUnique bool) {
	same := func(tuple []string) bool {
		a, b := slices.Sorted(slices.Values(props)), slices.Sorted(slices.Values(tuple))
		return slices.Equal(a, b)
	}
	if len(n.Key) > 0 && same(n.Key) {
		return n.Key, false
	}
	for _, u := range n.Unique {
		if same(u) {
			return u, true
		}
	}
	return nil, false
}

// identities lists what identifies a node of a type.
func identities(n *catalog.Node) string {
	var ways []string
	if len(n.Key) > 0 {
		ways = append(ways, "the key "+strings.Join(n.DeclaredKey(), ", "))
	}
	for _, u := range n.Unique {
		ways = append(ways, strings.Join(u, ", "))
	}
	return strings.Join(append(ways, "id"), ", or ")
}

// names returns the names of a list.
func names[T any](list []T, name func(T) string) []string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = name(x)
	}
	return out
}

// joinTexts returns an unambiguous text for several texts: the text itself for one, and a JSON array for more. It is the form
// of the ids of nodes with a key.
func joinTexts(texts []string) string {
	if len(texts) == 1 {
		return texts[0]
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(texts); err != nil {
		panic("dataimport: encode a list of texts: " + err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}
