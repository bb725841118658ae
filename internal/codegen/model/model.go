// Package model is the plain form of a graph package, which is the input of the generators. In it,
// every Go name, schema and hint is already decided.
package model

import (
	"encoding/json"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/contract"
)

// Package is the model of the package that is generated for one graph.
type Package struct {
	Graph        string  // the graph's name
	GoName       string  // the name in the package clause
	SchemaDigest string  // digest of the compiled schema
	SourceDigest string  // digest of the names and texts of the sources
	Strict       bool    // whether the input schemas use the strict profile
	Enums        []*Enum // in schema order
	IDs          []*ID   // of the node types and then of the interfaces, in schema order
	Files        []*File // in source order

	Frames contract.Frames // common parts of the tools' schemas
}

// Queries returns the queries of all files, in source order.
func (p *Package) Queries() []*Query {
	var all []*Query
	for _, f := range p.Files {
		all = append(all, f.Queries...)
	}
	return all
}

// Types returns the names of all types of the package, and the name of a class for the graph, which differs from them.
func (p *Package) Types() (class string, names map[string]bool) {
	names = map[string]bool{}
	var add func(s *Struct)
	add = func(s *Struct) {
		if s != nil {
			names[s.GoName] = true
			for i := range s.Fields {
				add(s.Fields[i].Record)
			}
		}
	}
	for _, e := range p.Enums {
		names[e.GoName] = true
	}
	for _, id := range p.IDs {
		names[id.GoName] = true
		add(id.Record)
	}
	for _, q := range p.Queries() {
		names[q.GoName+"Params"], names[q.GoName+"Row"] = true, true
		for i := range q.Params {
			add(q.Params[i].Record)
		}
		for i := range q.Columns {
			add(q.Columns[i].Record)
		}
	}
	for class = GoName(p.Graph); names[class] || names["Async"+class]; {
		class += "Graph"
	}
	return class, names
}

// File is the queries of one source file.
type File struct {
	Source  string   // path relative to the module
	GoFile  string   // base name of the Go file
	Queries []*Query // in source order
}

// Enum is the named string type of an enum property.
type Enum struct {
	Entity   plan.Entity // whether Type is a node type or an edge type
	Type     string      // the node or edge type
	Property string      // name of the property
	GoName   string      // name of the Go type
	Values   []EnumValue // in schema order
}

// EnumValue is a constant of an Enum.
type EnumValue struct {
	GoName string // name of the Go constant
	Value  string // value in the graph
}

// Names returns the values as the graph stores them.
func (e *Enum) Names() []string {
	names := make([]string, len(e.Values))
	for i, v := range e.Values {
		names[i] = v.Value
	}
	return names
}

// ID is the type of the ids of nodes.
type ID struct {
	Of     string  // the node type or the interface
	GoName string  // name of the Go type
	Record *Struct // for an interface: the type and the id of a node; nil for a node type, whose ids are strings
}

// Query is a stored query.
type Query struct {
	Name        string      // as the source spells it
	GoName      string      // name of the function and stem of the type names
	File        string      // path of the source file, relative to the module
	Line        int         // line in File, for docs only: it changes when earlier queries change
	Description string      // text of @description only
	Instruction string      // text of @instruction
	Questions   []string    // texts of @question
	MustBeEmpty string      // text of @must_be_empty, or ""
	Exposed     bool        // MCP clients see the tool
	One         bool        // the query is a read with at most one row
	Tool        Tool        // how the query is served as a tool
	Plan        *plan.Query // the compiled query
	Params      []Param     // in the order of the declaration
	Columns     []Field     // columns of the rows, one for each column of the plan
	Interfaces  []Interface // the interfaces over which variables of the query range, by first use
}

// Interface is an interface over which a variable ranges.
type Interface struct {
	Name  string
	Types []string // names of the node types that implement it, in schema order
}

// Returns reports whether the query has rows: it is a read, or a mutation that returns a row.
func (q *Query) Returns() bool { return !q.Mutation() || q.Plan.Mutation.Returns != nil }

// OneName returns the name of the function that returns the only row.
func (q *Query) OneName() string { return q.GoName + "One" }

// Mutation reports whether the query writes.
func (q *Query) Mutation() bool { return q.Plan.Mutation != nil }

// Tool describes how a query is served as a tool.
type Tool struct {
	Name         string
	Title        string
	Description  string          // the text for a model: description, instruction, constraints
	Constraints  string          // what a mutation must meet, or ""
	InputSchema  json.RawMessage // JSON Schema of the arguments
	OutputSchema json.RawMessage // JSON Schema of the answer

	ReadOnly    bool // a call writes nothing
	Destructive bool // a call may replace or delete data
	Idempotent  bool // a repeated call has no further effect
}

// Param is a parameter of a query. A parameter of a nullable type is optional. The type of a
// parameter with a default is nullable too, because a call may leave the parameter out.
type Param struct {
	Name   string
	GoName string     // name of the field in the Params struct
	Type   value.Type // type in the query language
	Doc    string     // text of @description, or else a text derived from the schema
	OwnDoc string     // text of @description only
	Enum   *Enum      // set if all values are those of an enum property
	ID     *ID        // set if the argument is the id of a node of one type
	Record *Struct    // the type of the parameter, or of an element of it, if it is a record or a list of records
	// Interface is the name of the interface, if the parameter is a node of an interface. Record is then that of the
	// interface's ID.
	Interface string
	Default   string   // @default as JSON, or ""
	Examples  []string // values of @example as JSON; for a list, each is one element

	// The limits of the argument or, for a list, of each element. They combine the parameter's own
	// @range and @check with those of the properties that the query uses the parameter with.
	Minimum string // a JSON number, or "" if there is no limit
	Maximum string // a JSON number, or "" if there is no limit
	Pattern string // an unanchored ECMA-262 regular expression, or ""
}

// DefaultText returns the default for people: JSON, but integers without quotes.
func (p *Param) DefaultText() string {
	if p.Type.Kind.IsNumeric() {
		return strings.ReplaceAll(p.Default, `"`, "")
	}
	return p.Default
}

// Field is a field of a row, or of a whole node in a row.
type Field struct {
	Name   string     // name in JSON
	GoName string     // name of the field in the Go struct
	Type   value.Type // type in the query language; for records only Nullable and List are set
	Doc    string     // text of the field's comment
	Enum   *Enum      // set if all values are those of an enum property
	ID     *ID        // set if all values are ids of nodes of one type
	Record *Struct    // set if the field is a record or a list of records
}

// Struct is the type of a record in a row, or of a record in a list that is a parameter.
type Struct struct {
	NodeType string  // name of the node type or of the interface, if the record is a whole node, also in a list; else empty
	EndOf    string  // name of the interface, if the record is the type and the id of a node at an end of an edge; else empty
	GoName   string  // name of the Go type
	Fields   []Field // one for each property, or for each column of the block
}
