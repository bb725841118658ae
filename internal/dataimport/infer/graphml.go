package infer

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/internal/dataimport/record"
)

// The kinds of records of GraphML.
const (
	nodeKind = "node"
	edgeKind = "edge"
)

// splitGraphML replaces a file of GraphML by two tables: its nodes and its edges.
func splitGraphML(inputs []Input) []Input {
	var out []Input
	for _, in := range inputs {
		if record.FormatOf(in.File.Name) != record.GraphML {
			out = append(out, in)
			continue
		}
		file := in.File
		for _, kind := range []string{nodeKind, edgeKind} {
			in.kind = kind
			in.File.Open = func(opts record.Options) (record.Reader, error) {
				r, err := record.Open(file, opts)
				if err != nil {
					return nil, err
				}
				return &ofKind{Reader: r, kind: kind}, nil
			}
			out = append(out, in)
		}
	}
	return out
}

// ofKind reads the records of GraphML of one kind.
type ofKind struct {
	record.Reader
	kind string
}

// Columns implements [record.Reader].
func (o *ofKind) Columns() []string {
	other := []string{"kind", "source", "target"}
	if o.kind == edgeKind {
		other = []string{"kind", "id"}
	}
	return slices.DeleteFunc(slices.Clone(o.Reader.Columns()), func(name string) bool { return slices.Contains(other, name) })
}

// Select implements [record.Reader].
func (o *ofKind) Select(columns []string) { o.Reader.Select(append(slices.Clone(columns), "kind")) }

// Next implements [record.Reader].
func (o *ofKind) Next() (*record.Record, error) {
	for {
		r, err := o.Reader.Next()
		if err != nil {
			return nil, err
		}
		last := len(r.Values) - 1
		if string(r.Values[last].Raw) == o.kind {
			own := *r
			own.Values = r.Values[:last]
			return &own, nil
		}
	}
}

// dropEmpty removes the columns of GraphML that the records of the kind do not have.
func (t *table) dropEmpty() {
	if t.kind != "" {
		t.columns = slices.DeleteFunc(t.columns, func(c *column) bool { return c.values == 0 && len(c.tokens) == 0 })
	}
}

// graphMLEnds takes the ends of the edges of GraphML, which are nodes of the same file.
func graphMLEnds(t *table, tables []*table) {
	for _, name := range []string{"source", "target"} {
		for _, c := range t.named([]string{name}) {
			for _, to := range tables {
				if to.kind == nodeKind && to.source == t.source && len(to.key) == 1 {
					c.ref = &reference{columns: []*column{c}, to: to, by: to.key, why: name + " of an edge is the id of a node"}
					t.refs = append(t.refs, c.ref)
				}
			}
		}
	}
}
