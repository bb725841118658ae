package main

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/codegen/model"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/lint"
	"github.com/omnigraph-go/omnigraph/internal/server/builtin"
	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// toolSizes generates the package of the queries, and computes the sizes of the answer to
// tools/list that a server with these queries would send. The meta tools replace the queries if the
// number of exposed queries reaches the threshold; a threshold of 0 means the default of the
// server. The list has output schemas only if outputSchemas is true. If no package can be generated
// from the queries, toolSizes returns the errors.
func toolSizes(in model.Input, threshold int, outputSchemas bool) (*model.Package, *lint.ToolList, diag.List) {
	pkg, diags := model.Build(in)
	if diags.HasErrors() {
		return nil, nil, slices.DeleteFunc(diags, func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
	}
	var queries []tool.StoredQuery
	for _, q := range pkg.Queries() {
		queries = append(queries, listedQuery{q})
	}
	tools, meta := servedgraph.ListedTools(builtin.All(""), queries, threshold)
	whole, each := mcp.ListBytes(tools, outputSchemas)
	sizes := &lint.ToolList{Tools: len(tools), Bytes: whole, Reading: mcp.ReadingBytes(tools, len(queries) > 0, meta), Queries: map[string]int{}}
	for _, q := range pkg.Queries() {
		if q.Exposed && !meta {
			sizes.Queries[q.Name] = each[q.Tool.Name]
		}
	}
	return pkg, sizes, nil
}

// listedQuery is a query of the model as a server would list it.
type listedQuery struct{ q *model.Query }

// Descriptor returns the query's tool as tools/list shows it.
func (l listedQuery) Descriptor() *tool.Descriptor {
	t := l.q.Tool
	return &tool.Descriptor{
		Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.InputSchema, OutputSchema: t.OutputSchema,
		ReadOnly: t.ReadOnly, Destructive: t.Destructive, Idempotent: t.Idempotent,
	}
}

// Info returns what a server needs to know about the query.
func (l listedQuery) Info() *tool.QueryInfo {
	info := &tool.QueryInfo{
		Name: l.q.Name, Exposed: l.q.Exposed, Description: l.q.Description, Instruction: l.q.Instruction, Questions: l.q.Questions,
		Mutation: l.q.Mutation(),
	}
	for _, p := range l.q.Params {
		info.ParamDocs = append(info.ParamDocs, p.Doc)
	}
	return info
}

func (l listedQuery) Plan() *plan.Query    { return l.q.Plan }
func (l listedQuery) Params() []plan.Param { return l.q.Plan.Declared() }
