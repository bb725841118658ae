package model

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/contract"
)

// ContractText returns the text of the contract of a package. The error is a fault of the generator: a schema
// that the contract does not yield.
func (p *Package) ContractText() ([]byte, error) {
	c := p.Contract()
	for i, q := range p.Queries() {
		if of := &c.Queries[i]; !bytes.Equal(of.InputSchema, q.Tool.InputSchema) || !bytes.Equal(of.OutputSchema, q.Tool.OutputSchema) {
			return nil, fmt.Errorf("the contract of %s yields the schemas\n%s\n%s\nexpected\n%s\n%s", q.Name, of.InputSchema, of.OutputSchema, q.Tool.InputSchema, q.Tool.OutputSchema)
		}
	}
	return contract.Encode(c)
}

// schemas are the parts of a tool's schemas that differ between queries.
type schemas struct {
	Properties struct {
		Params struct {
			Properties map[string]json.RawMessage `json:"properties"`
		} `json:"params"`
		Rows struct {
			Items struct {
				Properties map[string]json.RawMessage `json:"properties"`
			} `json:"items"`
		} `json:"rows"`
	} `json:"properties"`
}

// Contract returns the contract of a package.
func (p *Package) Contract() *contract.Contract {
	c := &contract.Contract{
		Format: contract.Format, Graph: p.Graph, SchemaDigest: p.SchemaDigest, SourceDigest: p.SourceDigest, Strict: p.Strict,
		Frames: p.Frames, Queries: []contract.Query{},
	}
	for _, q := range p.Queries() {
		t := q.Tool
		cq := contract.Query{
			Name: q.Name, Tool: t.Name, Title: t.Title, Description: q.Description, Instruction: q.Instruction, Constraints: t.Constraints,
			Questions: q.Questions, MustBeEmpty: q.MustBeEmpty, Mutation: q.Mutation(), Exposed: q.Exposed,
			ReadOnly: t.ReadOnly, Destructive: t.Destructive, Idempotent: t.Idempotent, File: q.File,
			Caller: q.Plan.Members(), Params: []contract.Param{}, Columns: contractColumns(q.Columns), Plan: []byte(plan.Encode(q.Plan)),
		}
		var of schemas
		for _, text := range []json.RawMessage{t.InputSchema, t.OutputSchema} {
			if err := json.Unmarshal(text, &of); err != nil {
				panic(fmt.Sprintf("model: decode a schema of %s: %v", q.Name, err)) // encoding/json wrote it
			}
		}
		for i, p := range q.Params {
			cq.Params = append(cq.Params, contractParam(&q.Plan.Params[i], &p, of.Properties.Params.Properties[p.Name]))
		}
		for i := range cq.Columns {
			cq.Columns[i].Schema = of.Properties.Rows.Items.Properties[cq.Columns[i].Name]
		}
		for _, i := range q.Interfaces {
			cq.Interfaces = append(cq.Interfaces, contract.Interface{Name: i.Name, Types: append([]string{}, i.Types...)})
		}
		c.Queries = append(c.Queries, cq)
	}
	c.MakeSchemas()
	return c
}

// contractParam returns the entry of a parameter in the contract, from its plan, its model and its schema.
func contractParam(own *plan.Param, p *Param, schema json.RawMessage) contract.Param {
	c := contract.Param{Name: p.Name, Type: p.Type.Required().String(), Optional: p.Type.Nullable, Node: own.Node, Schema: schema}
	c.SetDescription(p.Doc)
	if own.Interface != "" {
		c.Type = own.Interface
	}
	if own.Bounds != (value.Bounds{}) {
		c.Range = own.Bounds.String()
	}
	if own.Pattern != nil {
		c.Check = own.Pattern.String()
	}
	if p.Default != "" {
		c.Default = json.RawMessage(p.Default)
	}
	for _, e := range p.Examples {
		c.Examples = append(c.Examples, json.RawMessage(e))
	}
	return c
}

// contractColumns converts the columns of a read.
func contractColumns(fields []Field) []contract.Column {
	cols := make([]contract.Column, len(fields))
	for i, f := range fields {
		cols[i] = contract.Column{Name: f.Name}
		if f.Record != nil {
			cols[i].Node, cols[i].Fields = f.Record.NodeType, contractColumns(f.Record.Fields)
			cols[i].Nullable = f.Type.Nullable
			switch {
			case f.Type.List:
				cols[i].Type = "[record]"
			case f.Record.NodeType == "":
				cols[i].Type = "record"
			}
		} else {
			cols[i].Type = f.Type.String()
		}
	}
	return cols
}
