package operations

import (
	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// StoredQuery describes a stored query in the form in which the REST API lists it.
func StoredQuery(q tool.StoredQuery) client.QueryEntry {
	info := q.Info()
	e := client.QueryEntry{
		Name: info.Name, ToolName: q.Descriptor().Name, Description: info.Description, Instruction: info.Instruction, Questions: info.Questions,
		Mutation: info.Mutation, Caller: q.Plan().Members(), Params: []client.ParamEntry{},
	}
	for i, p := range q.Plan().Declared() {
		pe := param(p)
		if i < len(info.ParamDocs) {
			pe.Description = info.ParamDocs[i]
		}
		e.Params = append(e.Params, pe)
	}
	return e
}

// param returns a parameter in the form of the catalog.
func param(p plan.Param) client.ParamEntry {
	e := client.ParamEntry{Name: p.Name, Kind: "record", Nullable: p.Optional(), Node: p.Node, Interface: p.Interface}
	if p.Type.Fields == nil {
		e.Kind = client.ParamKind(p.Type.Kind.WireName())
	}
	if p.Type.Kind == value.Vector {
		e.VectorDim = p.Type.Dim
	}
	if p.Type.List { // also of records
		e.Kind, e.ItemKind = "list", string(e.Kind)
	}
	enc := encoding.Options{SafeIntegers: true}
	if !p.Default.IsNull() {
		e.Default = encoding.ValueJSON(p.Default, enc)
	}
	if p.Bounds.Min != nil {
		e.Minimum = encoding.ValueJSON(*p.Bounds.Min, enc)
	}
	if p.Bounds.Max != nil {
		e.Maximum = encoding.ValueJSON(*p.Bounds.Max, enc)
	}
	return e
}
