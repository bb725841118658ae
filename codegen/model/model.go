// Package model is the plain form of a graph package: what the generators write
// down, with every Go name, schema and hint decided.
package model

import (
	"encoding/json"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Package is what is generated for one graph.
type Package struct {
	Graph        string // the graph's name
	GoName       string // the package clause
	SchemaDigest string
	SourceDigest string
	Strict       bool    // the profile of the input schemas
	Enums        []*Enum // in schema order
	Files        []*File // in source order
	Frames       Frames
}

// Frames are what the schemas of all queries have around those of their parameters and
// rows: an input schema is InputHead, the schema of the parameters and a tail, the output
// schema of a read is RowsHead, the schema of a row and RowsTail.
type Frames struct {
	InputHead           string
	ReadTail, WriteTail string // where a parameter is required
	ReadTailOptional    string // where none is
	WriteTailOptional   string
	RowsHead, RowsTail  string
	Change              string // the whole output schema of a mutation
}

// Queries are the queries of all files, in source order.
func (p *Package) Queries() []*Query {
	var all []*Query
	for _, f := range p.Files {
		all = append(all, f.Queries...)
	}
	return all
}

// File is the queries of one source file.
type File struct {
	Source  string // relative to the module
	GoFile  string // base name of the Go file
	Queries []*Query
}

// Enum is the named string type of an enum property.
type Enum struct {
	Entity   plan.Entity
	Type     string // the node or edge type
	Property string
	GoName   string
	Values   []EnumValue // in schema order
}

// EnumValue is a constant of an Enum.
type EnumValue struct {
	GoName string
	Value  string
}

// Names returns the values as they are stored.
func (e *Enum) Names() []string {
	names := make([]string, len(e.Values))
	for i, v := range e.Values {
		names[i] = v.Value
	}
	return names
}

// Query is a stored query.
type Query struct {
	Name        string
	GoName      string // of the function, and the stem of the types
	GoLower     string // the stem of what the package keeps to itself
	File        string // the source, relative to the module
	Line        int    // where it stands in the file: for docs alone, it changes with the queries before it
	Description string // @description alone
	Instruction string
	Exposed     bool
	Tool        Tool
	Plan        *plan.Query
	Params      []Param
	Columns     []Field // of a read, one a column of the plan
}

// Mutation reports whether the query writes.
func (q *Query) Mutation() bool { return q.Plan.Mutation != nil }

// Tool is the descriptor of a query as a tool.
type Tool struct {
	Name         string
	Title        string
	Description  string // what a model reads: description, instruction, constraints
	InputSchema  json.RawMessage
	OutputSchema json.RawMessage

	// The parts of the schemas that [Frames] leave to the query.
	ParamsSchema   string
	ParamsOptional bool
	RowSchema      string // of a read

	ReadOnly    bool
	Destructive bool
	Idempotent  bool
}

// Param is a parameter of a query. A nullable one is optional.
type Param struct {
	Name    string
	GoName  string
	Type    value.Type
	Doc     string // @description, or what the schema knows
	OwnDoc  string // @description alone
	Enum    *Enum  // set when all values are those of an enum property
	Minimum string // a JSON number, or "" for an open end
	Maximum string
	Pattern string // an ECMA-262 regular expression, unanchored, or ""
}

// Field is a field of a row, or of a whole node in a row.
type Field struct {
	Name   string // in JSON
	GoName string
	Type   value.Type
	Doc    string
	Enum   *Enum
	Node   *Struct // set for a whole node
}

// Struct is the type of a whole node in a row.
type Struct struct {
	NodeType string
	GoName   string
	Fields   []Field
}
