// Package contract is the form of catalog.json, which describes the stored queries of a graph to their callers
// in any language. Generated Go embeds the file and makes its tools from it.
package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// File is the name of the file, which stands next to the generated Go.
const File = "catalog.json"

// Format is the number of the form that this package reads and writes.
const Format = 1

// Contract describes the stored queries of a graph to their callers, independent of the programming
// language.
type Contract struct {
	Format       int     `json:"format"`           // see the constant Format
	Graph        string  `json:"graph"`            // name of the graph
	SchemaDigest string  `json:"schema_digest"`    // identifies the compiled schema
	SourceDigest string  `json:"source_digest"`    // identifies the texts of the queries
	Strict       bool    `json:"strict,omitempty"` // every key of the arguments is required
	Frames       Frames  `json:"frames"`           // the common parts of the JSON Schemas
	Queries      []Query `json:"queries"`          // the stored queries
}

// Frames are the JSON Schemas of calls and answers without the parts that differ between queries. The
// schema {} of the property params stands for an object with the parameters of a query, and the schema {} of
// the items of the property rows for an object with its columns. If no parameter is required, params is not
// required either.
type Frames struct {
	ReadInput      json.RawMessage `json:"read_input"`       // the arguments of a read
	ReadOutput     json.RawMessage `json:"read_output"`      // the answer of a read
	WriteInput     json.RawMessage `json:"write_input"`      // the arguments of a mutation
	WriteOutput    json.RawMessage `json:"write_output"`     // the answer of a mutation without columns
	WriteRowOutput json.RawMessage `json:"write_row_output"` // the answer of a mutation with columns
}

// Query is one stored query and its tool.
type Query struct {
	Name        string      `json:"name"`
	Tool        string      `json:"tool"`                    // name of the tool
	Title       string      `json:"title"`                   // title of the tool for people
	Description string      `json:"description,omitempty"`   // what the query does
	Instruction string      `json:"instruction,omitempty"`   // when to use it
	Constraints string      `json:"constraints,omitempty"`   // what a mutation must meet
	Questions   []string    `json:"questions,omitempty"`     // examples of questions that the query answers
	MustBeEmpty string      `json:"must_be_empty,omitempty"` // the query is a check, which demands this
	Mutation    bool        `json:"mutation"`
	Exposed     bool        `json:"exposed"`              // MCP clients see the tool
	ReadOnly    bool        `json:"read_only"`            // the tool changes nothing
	Destructive bool        `json:"destructive"`          // a call may replace or delete data
	Idempotent  bool        `json:"idempotent"`           // a repeated call has no further effect
	File        string      `json:"file"`                 // path of the source in the module
	Caller      []string    `json:"caller,omitempty"`     // what the query uses of its caller, such as actor().id
	Params      []Param     `json:"params"`               // parameters in order
	Columns     []Column    `json:"columns"`              // columns of the result
	Interfaces  []Interface `json:"interfaces,omitempty"` // the interfaces over which the query ranges
	Plan        []byte      `json:"plan,omitempty"`       // the compiled query, for the generated Go

	// The JSON Schemas of the tool. They are made from the frames and the schemas of the parameters and columns.
	InputSchema  json.RawMessage `json:"-"`
	OutputSchema json.RawMessage `json:"-"`
}

// ToolDescription returns the text of the tool for a model.
func (q *Query) ToolDescription() string {
	return Paragraphs(q.Description, q.Instruction, q.Constraints, ForCaller(q.Caller))
}

// ForCaller returns the sentence about a query that uses its caller, or "" if it uses nothing of the caller.
func ForCaller(members []string) string {
	if len(members) == 0 {
		return ""
	}
	return "The answer is for the caller: the query uses " + strings.Join(members, ", ") + "."
}

// Paragraphs joins texts, and leaves out empty ones.
func Paragraphs(texts ...string) string {
	var parts []string
	for _, s := range texts {
		if s = strings.TrimSpace(s); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "\n\n")
}

// Interface is an interface over which a variable of a query ranges.
type Interface struct {
	Name  string   `json:"name"`
	Types []string `json:"types"` // names of the node types that implement it
}

// Param is a parameter. Its type is spelled as in a query.
type Param struct {
	Name     string `json:"name"`
	Type     string `json:"type"`           // as in a query, without ?; String for the id of a node
	Optional bool   `json:"optional"`       // the caller may leave it out
	Node     string `json:"node,omitempty"` // the node type that the argument is an id of

	Default  json.RawMessage   `json:"default,omitempty"`  // @default; for a 64-bit integer, a string of digits
	Range    string            `json:"range,omitempty"`    // @range as written, such as 1..100
	Check    string            `json:"check,omitempty"`    // @check: a regular expression
	Examples []json.RawMessage `json:"examples,omitempty"` // @example, like Default

	Schema json.RawMessage `json:"schema"` // the JSON Schema of the argument

	// OwnDescription is the description of the parameter if that of the schema has more sentences.
	OwnDescription *string `json:"description,omitempty"`
}

// facts are the parts of a parameter's JSON Schema that other fields do not repeat.
type facts struct {
	Description string    `json:"description"`
	Enum        []*string `json:"enum"` // may contain null
	Items       *facts    `json:"items"`
}

// facts decodes the schema. Without one, all facts are missing.
func (p *Param) facts() facts {
	var f facts
	_ = json.Unmarshal(p.Schema, &f) // an enum of other values than strings does not occur
	return f
}

// Description returns the description of the parameter, which may be empty.
func (p *Param) Description() string {
	if p.OwnDescription != nil {
		return *p.OwnDescription
	}
	return p.facts().Description
}

// SetDescription sets the description. Call it after Schema is set.
func (p *Param) SetDescription(text string) {
	p.OwnDescription = nil
	if text != p.Description() {
		p.OwnDescription = &text
	}
}

// Enum returns the values that the argument or, for a list, each element may have. It returns nil if the
// parameter takes all values of its type.
func (p *Param) Enum() []string {
	f := p.facts()
	if f.Items != nil {
		f = *f.Items
	}
	var values []string
	for _, v := range f.Enum {
		if v != nil {
			values = append(values, *v)
		}
	}
	return values
}

// Column is a column, or a member of a whole node. Its type is spelled as in a schema.
type Column struct {
	Name   string   `json:"name"`             // name of the column or member
	Type   string   `json:"type,omitempty"`   // as in GQ; empty for a whole node; [record] for a list of nodes; record or [record] for a block
	Node   string   `json:"node,omitempty"`   // the node type, if the column is a whole node or a list of nodes
	Fields []Column `json:"fields,omitempty"` // members of a record
	// Nullable is true if the column is a record that may be null. For other columns, Type says
	// whether they may be null.
	Nullable bool `json:"nullable,omitempty"`

	Schema json.RawMessage `json:"schema,omitempty"` // the JSON Schema of the values; absent in members
}

// UnmarshalJSON decodes a contract, and makes the schemas of the queries.
func (c *Contract) UnmarshalJSON(text []byte) error {
	type plain Contract // without this method
	if err := json.Unmarshal(text, (*plain)(c)); err != nil {
		return err
	}
	if c.Format != Format {
		return fmt.Errorf("the format is %d, expected %d; generate the file again with gq generate", c.Format, Format)
	}
	c.MakeSchemas()
	return nil
}

// MakeSchemas sets InputSchema and OutputSchema of each query.
func (c *Contract) MakeSchemas() {
	for i := range c.Queries {
		q := &c.Queries[i]
		q.InputSchema, q.OutputSchema = c.input(q), c.output(q)
	}
}

// The properties of a frame whose schemas differ between queries.
const (
	paramsHole = `"params":{}`
	rowsHole   = `"rows":{"items":{}`
)

// input returns the schema of the arguments of a query.
func (c *Contract) input(q *Query) json.RawMessage {
	o := object{nullable: c.Strict}
	for i := range q.Params {
		p := &q.Params[i]
		o.add(p.Name, p.Schema, c.Strict || !p.Optional)
		o.nullable = o.nullable && p.Optional
	}
	frame := string(c.Frames.ReadInput)
	if q.Mutation {
		frame = string(c.Frames.WriteInput)
	}
	if start, found := strings.CutSuffix(frame, `"required":["params"]}`); found && len(o.required) == 0 {
		frame = start + `"required":[]}`
	}
	return fill(frame, paramsHole, &o)
}

// output returns the schema of the answer of a query.
func (c *Contract) output(q *Query) json.RawMessage {
	frame := c.Frames.ReadOutput
	switch {
	case q.Mutation && len(q.Columns) == 0:
		return c.Frames.WriteOutput
	case q.Mutation:
		frame = c.Frames.WriteRowOutput
	}
	var o object
	for i := range q.Columns {
		o.add(q.Columns[i].Name, q.Columns[i].Schema, true)
	}
	return fill(string(frame), rowsHole, &o)
}

// fill returns a frame with the schema of an object in place of the {} that ends the hole.
func fill(frame, hole string, o *object) json.RawMessage {
	before, after, _ := strings.Cut(frame, hole)
	return slices.Concat(json.RawMessage(before+strings.TrimSuffix(hole, "{}")), o.schema(), json.RawMessage(after))
}

// object collects the properties of an object's schema.
type object struct {
	properties []byte   // the members, with commas between them
	required   [][]byte // names as JSON
	nullable   bool     // the object may be null: in the strict profile, params of which none is required
}

// add adds a property.
func (o *object) add(name string, schema json.RawMessage, required bool) {
	key := quote(name)
	if len(o.properties) > 0 {
		o.properties = append(o.properties, ',')
	}
	o.properties = append(append(append(o.properties, key...), ':'), schema...)
	if required {
		o.required = append(o.required, key)
	}
}

// schema returns the JSON Schema of the object.
func (o *object) schema() []byte {
	b := append([]byte(`{"properties":{`), o.properties...)
	b = append(b, `},"additionalProperties":false,`...)
	required := slices.Concat([]byte(`"required":[`), bytes.Join(o.required, []byte(",")), []byte("]"))
	if o.nullable {
		return append(append(b, required...), `,"type":["object","null"]}`...)
	}
	return append(append(append(b, `"type":"object",`...), required...), '}')
}
