package encoding

import (
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Entities receives the ids of the entities in the rows of an answer, some of them several times.
type Entities interface {
	Add(id string) // does not keep the text
	Reset()
	Len() int
}

// Name makes e receive the ids of the entities in the rows that follow; nil ends that. It returns the receiver before.
func (e *Writer) Name(to Entities) (before Entities) {
	before, e.entities = e.entities, to
	return before
}

// idColumn is a column of ids, or of records with such columns.
type idColumn struct {
	at     int        // index of the column
	fields []idColumn // nil for ids, or lists of ids
}

// ofRecord is the column of the id in a whole node.
var ofRecord = []idColumn{{}}

// idColumns returns the columns that have ids of entities: whole nodes, ids, ends of edges, the nodes of a walk, lists
// of these, and the same in blocks. Other columns have none: a property does not say whose it is, and an aggregate other than
// collect is of no entity.
func idColumns(cols []plan.Column) []idColumn {
	var ids []idColumn
	for i := range cols {
		if c, ok := idsOf(cols[i].Expr, cols[i].Type.List); ok {
			c.at = i
			ids = append(ids, c)
		}
	}
	return ids
}

// idsOf returns the column of an expression, without its index. It reports false if the values have no ids.
func idsOf(expr plan.Expr, list bool) (c idColumn, ok bool) {
	switch x := expr.(type) {
	case plan.ID, plan.Endpoint:
		return c, true
	case plan.WalkPart:
		return c, x.Fact == plan.WalkNodes
	case plan.Whole:
		return idColumn{fields: ofRecord}, true
	case plan.EndNode, plan.NodeRef:
		return idColumn{fields: []idColumn{{at: 1}}}, true
	case plan.Agg:
		if list && x.Arg != nil {
			return idsOf(x.Arg, true)
		}
	case plan.BlockAgg:
		if list && x.Arg != nil {
			return idsOf(x.Arg, true)
		}
	case plan.BlockRows:
		c.fields = idColumns(x.Columns)
		return c, c.fields != nil
	case plan.Member:
		if rows, ok := x.Of.(plan.BlockRows); ok {
			for _, col := range rows.Columns {
				if col.Name == x.Name {
					return idsOf(col.Expr, list)
				}
			}
		}
	}
	return c, false
}

// name gives the ids in row i to the receiver.
func name(to Entities, ids []idColumn, cols []engine.Column, i int) {
	for _, id := range ids {
		c := &cols[id.at]
		switch {
		case c.IsNull(i):
		case id.fields != nil && c.Offsets != nil:
			for k := c.Offsets[i]; k < c.Offsets[i+1]; k++ {
				name(to, id.fields, c.Fields, int(k))
			}
		case id.fields != nil:
			name(to, id.fields, c.Fields, i)
		case c.Type.List:
			for _, v := range c.Lists[i].Elems() {
				if v.Kind().Storage() == value.InText {
					to.Add(v.Str())
				}
			}
		default:
			to.Add(c.Strings[i])
		}
	}
}
