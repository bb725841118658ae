package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/omnigraph-go/omnigraph/codegen"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
)

// openAPIFile is the file name of a graph's OpenAPI document, in the folder of the generated Go
// files.
const openAPIFile = "openapi.json"

// addOpenAPI adds the OpenAPI document of a graph to the files of its package. It makes the
// document from the contract of the package. A server sends the same document to a caller who may
// invoke all exposed queries.
func addOpenAPI(pkg codegen.Files) error {
	var c codegen.Contract
	if err := json.Unmarshal(pkg[codegen.ContractFile], &c); err != nil {
		return fmt.Errorf("read %s: %w", codegen.ContractFile, err)
	}
	var queries []rest.StoredOperation
	for _, q := range c.Queries {
		if !q.Exposed {
			continue
		}
		op := rest.StoredOperation{
			Name: q.Name, Title: q.Title, Description: q.ToolDescription(), Mutation: q.Mutation,
			InputSchema: q.InputSchema, OutputSchema: q.OutputSchema,
		}
		for _, p := range q.Params {
			if strings.Trim(p.Type, "[]?") == value.Date.String() {
				op.Dates = append(op.Dates, p.Name)
			}
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
