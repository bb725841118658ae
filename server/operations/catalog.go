package operations

import (
	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// StoredQuery describes a stored query for the list of REST.
func StoredQuery(q tool.StoredQuery) client.QueryEntry {
	info := q.Info()
	e := client.QueryEntry{
		Name: info.Name, ToolName: q.Descriptor().Name, Description: info.Description, Instruction: info.Instruction,
		Mutation: info.Mutation, Params: []client.ParamEntry{},
	}
	for i, p := range q.Plan().Params {
		pe := param(p)
		if i < len(info.ParamDocs) {
			pe.Description = info.ParamDocs[i]
		}
		e.Params = append(e.Params, pe)
	}
	return e
}

func param(p plan.Param) client.ParamEntry {
	e := client.ParamEntry{Name: p.Name, Kind: kindName(p.Type.Kind), VectorDim: p.Type.Dim, Nullable: p.Type.Nullable}
	if p.Type.List {
		e.Kind, e.ItemKind = "list", e.Kind
	}
	return e
}

// kindName returns the name of a kind on the wire, which does not distinguish widths below 64
// bits.
func kindName(k value.Kind) string {
	switch k {
	case value.String:
		return "string"
	case value.Bool:
		return "bool"
	case value.I32, value.U32:
		return "int"
	case value.I64, value.U64:
		return "bigint"
	case value.F32, value.F64:
		return "float"
	case value.Date:
		return "date"
	case value.DateTime:
		return "datetime"
	case value.Blob:
		return "blob"
	case value.Vector:
		return "vector"
	case value.Invalid:
	}
	panic("operations: parameter of kind " + k.String())
}
