package main

import (
	"encoding/json"
	"strings"

	"github.com/omnigraph-go/omnigraph/codegen"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
)

// openAPIFile is the name of the OpenAPI document of a graph, which is written to the folder of the
// Go files.
const openAPIFile = "openapi.json"

// graphOpenAPI returns the OpenAPI document that a server answers to a caller who may invoke all
// exposed queries. It makes the document from the contract of the generated package.
func graphOpenAPI(contract []byte) ([]byte, error) {
	var c codegen.Contract
	if err := json.Unmarshal(contract, &c); err != nil {
		return nil, err
	}
	kinds := map[string]value.Kind{}
	for _, k := range value.Kinds() {
		kinds[k.String()] = k
	}
	var queries []rest.StoredOperation
	for _, q := range c.Queries {
		if !q.Exposed {
			continue
		}
		op := rest.StoredOperation{
			Name: q.Name, Title: q.Title, Description: q.Description, Mutation: q.Mutation,
			InputSchema: q.InputSchema, OutputSchema: q.OutputSchema,
		}
		for _, p := range q.Params {
			op.Params = append(op.Params, rest.StoredParam{Name: p.Name, Kind: kinds[strings.Trim(p.Type, "[]?")]})
		}
		queries = append(queries, op)
	}
	return rest.GraphDocument(c.Graph, queries)
}
