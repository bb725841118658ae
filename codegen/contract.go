package codegen

import (
	"bytes"
	"encoding/json"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/codegen/model"
)

// ContractFile is the name of the contract file, which is written to the folder of the Go files.
const ContractFile = "catalog.json"

// Contract describes the stored queries of a graph to their callers, independent of the programming
// language.
type Contract struct {
	Graph        string          `json:"graph"`         // name of the graph
	SchemaDigest string          `json:"schema_digest"` // identifies the compiled schema
	SourceDigest string          `json:"source_digest"` // identifies the texts of the queries
	Queries      []ContractQuery `json:"queries"`       // the stored queries
}

// ContractQuery is one stored query and its tool.
type ContractQuery struct {
	Name         string           `json:"name"`
	Tool         string           `json:"tool"`                    // name of the tool
	Title        string           `json:"title"`                   // title of the tool for people
	Description  string           `json:"description"`             // what the query does
	Questions    []string         `json:"questions,omitempty"`     // examples of questions that the query answers
	MustBeEmpty  string           `json:"must_be_empty,omitempty"` // the query is a check, which demands this
	Mutation     bool             `json:"mutation"`
	Exposed      bool             `json:"exposed"`       // MCP clients see the tool
	ReadOnly     bool             `json:"read_only"`     // the tool changes nothing
	Destructive  bool             `json:"destructive"`   // a call may replace or delete data
	Idempotent   bool             `json:"idempotent"`    // a repeated call has no further effect
	File         string           `json:"file"`          // path of the source in the module
	Params       []ContractParam  `json:"params"`        // parameters in order
	Columns      []ContractColumn `json:"columns"`       // columns of the result
	InputSchema  json.RawMessage  `json:"input_schema"`  // JSON Schema of the tool's input
	OutputSchema json.RawMessage  `json:"output_schema"` // JSON Schema of the tool's output

	Interfaces []ContractInterface `json:"interfaces,omitempty"` // the interfaces over which the query ranges
}

// ContractInterface is an interface over which a variable of a query ranges.
type ContractInterface struct {
	Name  string   `json:"name"`
	Types []string `json:"types"` // names of the node types that implement it
}

// ContractParam is a parameter. Its type is spelled as in a query.
type ContractParam struct {
	Name        string `json:"name"`
	Type        string `json:"type"`     // as in a query, without ?; String for the id of a node
	Optional    bool   `json:"optional"` // the caller may leave it out
	Description string `json:"description,omitempty"`
	Node        string `json:"node,omitempty"` // the node type that the argument is an id of

	Default  json.RawMessage   `json:"default,omitempty"`  // @default; for a 64-bit integer, a string of digits
	Range    string            `json:"range,omitempty"`    // @range as written, such as 1..100
	Check    string            `json:"check,omitempty"`    // @check: a regular expression
	Examples []json.RawMessage `json:"examples,omitempty"` // @example, like Default
}

// ContractColumn is a column, or a member of a whole node. Its type is spelled as in a schema.
type ContractColumn struct {
	Name   string           `json:"name"`             // name of the column or member
	Type   string           `json:"type,omitempty"`   // as in GQ; empty for a whole node; [record] for a list of nodes; record or [record] for a block
	Node   string           `json:"node,omitempty"`   // the node type, if the column is a whole node or a list of nodes
	Fields []ContractColumn `json:"fields,omitempty"` // members of a record
	// Nullable is true if the column is a record that may be null. For other columns, Type says
	// whether they may be null.
	Nullable bool `json:"nullable,omitempty"`
}

// contract encodes the contract of a package.
func contract(p *model.Package) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(ContractOf(p))
	return b.Bytes(), err
}

// ContractOf returns the contract of a package.
func ContractOf(p *model.Package) *Contract {
	c := &Contract{Graph: p.Graph, SchemaDigest: p.SchemaDigest, SourceDigest: p.SourceDigest, Queries: []ContractQuery{}}
	for _, q := range p.Queries() {
		t := q.Tool
		cq := ContractQuery{
			Name: q.Name, Tool: t.Name, Title: t.Title, Description: t.Description, Questions: q.Questions, MustBeEmpty: q.MustBeEmpty,
			Mutation: q.Mutation(), Exposed: q.Exposed,
			ReadOnly: t.ReadOnly, Destructive: t.Destructive, Idempotent: t.Idempotent, File: q.File,
			Params: []ContractParam{}, Columns: contractColumns(q.Columns),
			InputSchema: t.InputSchema, OutputSchema: t.OutputSchema,
		}
		for i, p := range q.Params {
			cq.Params = append(cq.Params, contractParam(&q.Plan.Params[i], &p))
		}
		for _, i := range q.Interfaces {
			cq.Interfaces = append(cq.Interfaces, ContractInterface{Name: i.Name, Types: append([]string{}, i.Types...)})
		}
		c.Queries = append(c.Queries, cq)
	}
	return c
}

// contractParam returns the entry of a parameter in the contract, from its plan and its model.
func contractParam(own *plan.Param, p *model.Param) ContractParam {
	c := ContractParam{Name: p.Name, Type: p.Type.Required().String(), Optional: p.Type.Nullable, Description: p.Doc, Node: own.Node}
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
func contractColumns(fields []model.Field) []ContractColumn {
	cols := make([]ContractColumn, len(fields))
	for i, f := range fields {
		cols[i] = ContractColumn{Name: f.Name}
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
