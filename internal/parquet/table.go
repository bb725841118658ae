package parquet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// table is a type of the schema with the columns of its files.
type table struct {
	entity   plan.Entity   // node or edge
	name     string        // of the type
	folder   string        // folder of the files
	key      []string      // nodes only
	from, to end           // edges only
	columns  []plan.Column // in the order of the files
	schema   *arrow.Schema // the Arrow types of the columns
}

// end is an end of an edge type.
type end struct {
	column     string   // from or to; it has the ids of the nodes
	nodeType   string   // the type of the nodes; empty at an interface
	ofType     string   // the interface; empty at a node type
	types      []string // at an interface: the node types that implement it
	typeColumn string   // at an interface: the column with the types of the nodes
}

// endOf returns an end of an edge type. The name of its column of types ends in a number if a property has
// the plain name; no property has a name with a dot.
func endOf(s *catalog.Schema, e *catalog.Edge, to bool) end {
	out := end{column: "from"}
	if to {
		out.column = "to"
	}
	name, isInterface := e.End(to)
	if !isInterface {
		out.nodeType = name
		return out
	}
	out.ofType, out.typeColumn = name, out.column+"_type"
	if e.Property(out.typeColumn) != nil {
		out.typeColumn += ".2"
	}
	for _, n := range s.EndsAt(e, to) {
		out.types = append(out.types, n.Name)
	}
	return out
}

// columns returns the names of the columns of an end.
func (e *end) columns() []string {
	if e.typeColumn == "" {
		return []string{e.column}
	}
	return []string{e.typeColumn, e.column}
}

// tablesOf returns the named types, or all types for an empty list, in the order of an export.
func tablesOf(s *catalog.Schema, types []string) ([]*table, error) {
	if err := CheckTypes(s, types); err != nil {
		return nil, err
	}
	var out []*table
	folders := map[string]bool{} // in lower case
	add := func(t *table, props []*catalog.Property, own ...string) {
		// The folder of a type does not depend on the other named types.
		t.folder = folder(folders, t.entity.String()+"s/"+t.name)
		if t.isSelected(types) {
			t.addColumns(props, own)
			out = append(out, t)
		}
	}
	for _, n := range s.Nodes {
		add(&table{entity: plan.Node, name: n.Name, key: n.Key}, n.Properties, "id")
	}
	for _, e := range s.Edges {
		t := &table{entity: plan.Edge, name: e.Name, from: endOf(s, e, false), to: endOf(s, e, true)}
		add(t, e.Properties, slices.Concat([]string{"id"}, t.from.columns(), t.to.columns())...)
	}
	return out, nil
}

// CheckTypes returns an *engine.BadArgument if the schema lacks one of the named types.
func CheckTypes(s *catalog.Schema, types []string) error {
	for _, name := range types {
		if s.Node(name) == nil && s.Edge(name) == nil {
			return &engine.BadArgument{Param: "types", Detail: fmt.Sprintf("the schema has no type %q", name)}
		}
	}
	return nil
}

// isSelected reports whether the list names the type. Like [engine.Graph.Export] and the queries,
// it ignores the case of the names of edge types. No two names of edge types differ only in case.
func (t *table) isSelected(types []string) bool {
	return len(types) == 0 || slices.ContainsFunc(types, func(name string) bool {
		return name == t.name || t.entity == plan.Edge && strings.EqualFold(name, t.name)
	})
}

// folder returns the folder of a type, and adds it to the taken folders. If only case distinguishes
// the folder from a taken one, it adds a number, because some disks ignore case. No type name
// contains a dot, so the result never equals the folder of another type.
func folder(taken map[string]bool, path string) string {
	unique := path
	for n := 2; taken[strings.ToLower(unique)]; n++ {
		unique = fmt.Sprintf("%s.%d", path, n)
	}
	taken[strings.ToLower(unique)] = true
	return unique
}

// addColumns adds the columns that every entity has, with the names `own`, and the columns of the
// properties. If a node type has a property called id, that property is the column id.
func (t *table) addColumns(props []*catalog.Property, own []string) {
	for _, name := range own {
		if !slices.ContainsFunc(props, func(p *catalog.Property) bool { return p.Name == name }) {
			t.columns = append(t.columns, plan.Column{Name: name, Type: value.Of(value.String)})
		}
	}
	for _, p := range props {
		t.columns = append(t.columns, plan.Column{Name: p.Name, Type: p.Type})
	}
	fields := engine.ArrowSchema(t.columns).Fields()
	for i := range fields {
		fields[i].Nullable = t.columns[i].Type.Nullable
		if list, ok := fields[i].Type.(*arrow.FixedSizeListType); ok && fields[i].Nullable {
			fields[i].Type = arrow.ListOf(list.Elem()) // a fixed-size list cannot be null here
		}
		fields[i].Type = withoutDuration(fields[i].Type)
	}
	t.schema = arrow.NewSchema(fields, nil)
}

// withoutDuration replaces a duration by its nanoseconds, because Parquet has no type for it.
func withoutDuration(t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case *arrow.DurationType:
		return arrow.PrimitiveTypes.Int64
	case *arrow.ListType:
		return arrow.ListOf(withoutDuration(t.Elem()))
	}
	return t
}

// entry returns the description of the type in the manifest, without rows and files.
func (t *table) entry() ManifestType {
	m := ManifestType{EntityKind: t.entity.String(), TypeName: t.name, Folder: t.folder, Key: t.key,
		FromType: t.from.nodeType, ToType: t.to.nodeType, FromInterface: t.from.manifest(), ToInterface: t.to.manifest()}
	for i, c := range t.columns {
		f := t.schema.Field(i)
		m.Columns = append(m.Columns, ManifestColumn{Name: c.Name, Type: c.Type.String(), Nullable: f.Nullable, ArrowType: f.Type.String()})
	}
	return m
}

// manifest returns the description of an interface at the end, or nil for a node type.
func (e *end) manifest() *ManifestInterface {
	if e.ofType == "" {
		return nil
	}
	return &ManifestInterface{Name: e.ofType, NodeTypes: append([]string{}, e.types...), TypeColumn: e.typeColumn}
}
