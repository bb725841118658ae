package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/dataimport"
)

// loadFaults returns the faults of lines that a load reports, and whether there are more.
func loadFaults(err error) (faults []dataimport.LineFault, more bool) {
	var list *engine.LoadErrors
	if errors.As(err, &list) {
		for i := range list.Lines {
			l := &list.Lines[i]
			faults = append(faults, dataimport.LineFault{Line: l.Line, Field: l.Field, Err: dataimport.OfRecord(l.Err)})
		}
		return faults, list.More
	}
	var refused *client.Error
	if !errors.As(err, &refused) {
		return nil, false
	}
	for _, l := range refused.LineFaults {
		faults = append(faults, dataimport.LineFault{Line: l.Line, Field: l.Field, Err: dataimport.OfRecord(errors.New(l.Message))})
	}
	return faults, refused.MoreLineFaults
}

// nodeFinder finds nodes of a graph by a query. It implements [dataimport.Finder].
type nodeFinder struct {
	graph  *source
	at     engine.Target
	schema *catalog.Schema
}

// Find implements [dataimport.Finder].
func (f *nodeFinder) Find(ctx context.Context, typ string, props []string, tuples [][]value.Value) ([]string, error) {
	node := f.schema.Node(typ)
	var params, conditions, columns []string
	values := map[string][]json.RawMessage{}
	wanted := map[string]int{} // index of a tuple, by its texts
	for i, p := range props {
		name := fmt.Sprintf("v%d", i)
		params = append(params, fmt.Sprintf("$%s: [%s]", name, node.Property(p).Type.Kind))
		conditions = append(conditions, fmt.Sprintf("$n.%s in $%s", p, name))
		columns = append(columns, fmt.Sprintf("$n.%s as %s", p, name))
		for _, t := range tuples {
			values[name] = append(values[name], dataimport.JSON(t[i]))
		}
	}
	for i, t := range tuples {
		wanted[tupleKey(t)] = i
	}
	encoded, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	s := &statement{file: "the import", name: "find", params: encoded, at: f.at,
		text: fmt.Sprintf("query find(%s) { match { $n: %s %s } return { $n.id as node_id, %s } }", strings.Join(params, ", "), typ, strings.Join(conditions, " "), strings.Join(columns, ", "))}
	answer, err := f.graph.Query(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("finding the ends of edges: %w", err)
	}
	ids := make([]string, len(tuples))
	for _, row := range answer.Rows {
		encoded, err := json.Marshal(row)
		if err != nil {
			return nil, err
		}
		var cells map[string]any
		dec := json.NewDecoder(strings.NewReader(string(encoded)))
		dec.UseNumber()
		if err := dec.Decode(&cells); err != nil {
			return nil, err
		}
		var key strings.Builder
		for i := range props {
			fmt.Fprintf(&key, "%v\x00", cells[fmt.Sprintf("v%d", i)])
		}
		if i, ok := wanted[key.String()]; ok {
			ids[i] = fmt.Sprint(cells["node_id"])
		}
	}
	if answer.Truncated {
		return nil, errors.New("finding the ends of edges: the server cut the answer; give the ends by the key of their type")
	}
	return ids, nil
}

// tupleKey returns a text for the values of a tuple, as an answer shows them.
func tupleKey(tuple []value.Value) string {
	var b strings.Builder
	for _, v := range tuple {
		if v.Kind() == value.String {
			b.WriteString(v.Str())
		} else {
			b.WriteString(value.Text(v))
		}
		b.WriteByte(0)
	}
	return b.String()
}
