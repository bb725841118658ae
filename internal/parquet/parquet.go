// Package parquet writes a graph as Parquet files, one for each type.
package parquet

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// The limits of a row group. The first batch that exceeds one of them is the last batch of its row
// group. The writer holds a row group in memory until the row group ends.
const (
	maxGroupRows  = 128 << 10
	maxGroupBytes = 16 << 20 // measured as record batches
)

// Options say what to export.
type Options struct {
	// Types lists the node and edge types to export, by name; empty means all.
	Types []string
	// Memory allocates the record batches; nil means Go's allocator.
	Memory memory.Allocator
}

// Create makes the file for a type. Export closes the file when it is written or when the export
// fails.
type Create func(entity plan.Entity, name string) (io.WriteCloser, error)

// FileName returns the usual file name for a type. Nodes and edges have separate folders because
// they have separate name spaces.
func FileName(entity plan.Entity, name string) string {
	return entity.String() + "s/" + name + ".parquet"
}

// Export writes the entities at the target, ordered by id: the id and properties of each node, and
// the id, from, to and properties of each edge. The columns are those of [engine.ArrowSchema], with
// three differences: a required column is not nullable, a nullable Vector is a List, and a Duration
// is an Int64 of nanoseconds. If a node type has a property called id, the file has only one column
// id. A type without entities has a file too. All files show the graph at the same commit, which
// Export returns. The error is an *engine.BadArgument if a type is unknown, or an error of create,
// of a file or of the graph.
func Export(ctx context.Context, g engine.Graph, at engine.Target, opts Options, create Create) (engine.Commit, error) {
	snap, err := g.Snapshot(ctx, at)
	if err != nil {
		return engine.Commit{}, err
	}
	at = engine.Target{Branch: at.Branch, Commit: snap.Commit.ID}
	schema, err := g.Schema(ctx, at)
	if err != nil {
		return engine.Commit{}, err
	}
	tables, err := tablesOf(schema.Catalog, opts.Types)
	if err != nil {
		return engine.Commit{}, err
	}
	if opts.Memory == nil {
		opts.Memory = memory.DefaultAllocator
	}
	for _, t := range tables {
		if err := t.export(ctx, g, at, opts.Memory, create); err != nil {
			return engine.Commit{}, fmt.Errorf("%s %s: %w", t.entity, t.name, err)
		}
	}
	return snap.Commit, nil
}

// table is a type to export: the query that reads it and the columns of its file.
type table struct {
	entity plan.Entity // whether name is a node type or an edge type
	name   string
	query  *plan.Query   // reads all entities of the type
	schema *arrow.Schema // columns of the file
}

// tablesOf returns the tables of the types with the given names, or of all types.
func tablesOf(c *catalog.Schema, types []string) ([]table, error) {
	wanted := map[string]bool{}
	for _, name := range types {
		wanted[name] = true
	}
	found := map[string]bool{}
	var out []table
	take := func(name string) bool {
		found[name] = true
		return len(types) == 0 || wanted[name]
	}
	for _, n := range c.Nodes {
		if take(n.Name) {
			out = append(out, nodeTable(n))
		}
	}
	for _, e := range c.Edges {
		if take(e.Name) {
			out = append(out, edgeTable(e))
		}
	}
	for _, name := range types {
		if !found[name] {
			return nil, &engine.BadArgument{Param: "types", Detail: fmt.Sprintf("the schema has no type %q", name)}
		}
	}
	return out, nil
}

// text is the type of ids.
var text = value.Of(value.String)

// nodeTable returns the table of a node type.
func nodeTable(n *catalog.Node) table {
	q := &plan.Query{Name: "export", Read: &plan.Read{Vars: []plan.Var{{Name: "n", Entity: plan.Node, Type: n.Name}},
		Match: []plan.Clause{plan.Bind{Var: 0}}, Ties: []plan.VarID{0}, Limit: plan.NoLimit}}
	q.Uses = []plan.Use{{Entity: plan.Node, Type: n.Name}}
	return newTable(plan.Node, n.Name, q, n.Properties, plan.Column{Name: "id", Expr: plan.ID{Var: 0}, Type: text})
}

// edgeTable returns the table of an edge type.
func edgeTable(e *catalog.Edge) table {
	const from, to, edge = 0, 1, 2
	q := &plan.Query{Name: "export", Read: &plan.Read{
		Vars:  []plan.Var{{Name: "a", Entity: plan.Node, Type: e.From}, {Name: "b", Entity: plan.Node, Type: e.To}, {Name: "e", Entity: plan.Edge, Type: e.Name}},
		Match: []plan.Clause{plan.Traverse{From: from, To: to, Edge: e.Name, EdgeVar: edge, Min: 1, Max: 1}},
		Order: []plan.Order{{Expr: plan.ID{Var: edge}}}, Ties: []plan.VarID{from, to, edge}, Limit: plan.NoLimit}}
	q.Uses = []plan.Use{{Entity: plan.Node, Type: e.From}}
	if e.To != e.From {
		q.Uses = append(q.Uses, plan.Use{Entity: plan.Node, Type: e.To})
	}
	q.Uses = append(q.Uses, plan.Use{Entity: plan.Edge, Type: e.Name, From: e.From, To: e.To})
	return newTable(plan.Edge, e.Name, q, e.Properties,
		plan.Column{Name: "id", Expr: plan.ID{Var: edge}, Type: text},
		plan.Column{Name: "from", Expr: plan.Endpoint{Var: edge}, Type: text},
		plan.Column{Name: "to", Expr: plan.Endpoint{Var: edge, To: true}, Type: text})
}

// newTable completes the query of a type with its columns: the given ones, which every entity has,
// and the properties.
func newTable(e plan.Entity, name string, q *plan.Query, props []*catalog.Property, own ...plan.Column) table {
	nullable := map[string]bool{}
	v := plan.VarID(len(q.Read.Vars) - 1)
	for _, c := range own {
		if _, taken := property(props, c.Name); !taken {
			q.Read.Columns = append(q.Read.Columns, c)
		}
	}
	for _, p := range props {
		q.Read.Columns = append(q.Read.Columns, plan.Column{Name: p.Name, Expr: plan.Prop{Var: v, Name: p.Name, Type: p.Type}, Type: p.Type})
		q.Uses = append(q.Uses, plan.Use{Entity: e, Type: name, Property: p.Name, Value: p.Type})
		nullable[p.Name] = p.Type.Nullable
	}
	fields := engine.ArrowSchema(q.Read.Columns).Fields()
	for i := range fields {
		fields[i].Nullable = nullable[fields[i].Name]
		if list, ok := fields[i].Type.(*arrow.FixedSizeListType); ok && fields[i].Nullable {
			fields[i].Type = arrow.ListOf(list.Elem()) // a fixed-size list cannot be null here
		}
		fields[i].Type = withoutDuration(fields[i].Type)
	}
	return table{entity: e, name: name, query: q, schema: arrow.NewSchema(fields, nil)}
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

// property returns the property with a name, and whether there is one.
func property(props []*catalog.Property, name string) (*catalog.Property, bool) {
	for _, p := range props {
		if p.Name == name {
			return p, true
		}
	}
	return nil, false
}

// export writes the file of a type, one batch at a time.
func (t table) export(ctx context.Context, g engine.Graph, at engine.Target, mem memory.Allocator, create Create) (err error) {
	res, err := g.Query(ctx, t.query, nil, at)
	if err != nil {
		return err
	}
	defer res.Close()
	file, err := create(t.entity, t.name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	// The Parquet writer closes its output if it is an io.Closer. Hiding Close keeps the file open,
	// so that export closes it exactly once, above.
	out := struct{ io.Writer }{file}
	w, err := pqarrow.NewFileWriter(t.schema, out,
		parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy), parquet.WithMaxRowGroupLength(maxGroupRows)),
		pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		return err
	}
	if err := t.write(ctx, res, mem, w); err != nil {
		return errors.Join(err, w.Close())
	}
	return w.Close()
}

// write writes the rows of a result, and begins a row group when a limit is exceeded.
func (t table) write(ctx context.Context, res engine.Result, mem memory.Allocator, w *pqarrow.FileWriter) error {
	held := uint64(0) // bytes in the current row group
	for {
		b, err := res.Next(ctx)
		if err != nil || b == nil {
			return err
		}
		batch, err := engine.ArrowBatch(t.schema, b, mem)
		if err != nil {
			return err
		}
		if held > maxGroupBytes {
			w.NewBufferedRowGroup()
			held = 0
		}
		for _, c := range batch.Columns() {
			held += c.Data().SizeInBytes()
		}
		err = w.WriteBuffered(batch)
		batch.Release()
		if err != nil {
			return err
		}
	}
}
