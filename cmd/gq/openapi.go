package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/omnigraph-go/omnigraph/codegen"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
)

// openAPIFile is the name of the OpenAPI document of a graph, which is written to the folder of the
// Go files.
const openAPIFile = "openapi.json"

// addOpenAPI adds the OpenAPI document of a graph to the files of its package. It is the document that
// a server answers to a caller who may invoke all exposed queries. It is made from the contract of the
// package.
func addOpenAPI(pkg codegen.Files) error {
	var c codegen.Contract
	if err := json.Unmarshal(pkg[codegen.ContractFile], &c); err != nil {
		return fmt.Errorf("read %s: %w", codegen.ContractFile, err)
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
	text, err := rest.GraphDocument(c.Graph, queries)
	if err != nil {
		return fmt.Errorf("write %s: %w", openAPIFile, err)
	}
	pkg[openAPIFile] = text
	return nil
}
