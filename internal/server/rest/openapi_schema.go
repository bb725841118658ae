package rest

import (
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/invopop/jsonschema"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

const (
	schemaPrefix = "#/components/schemas/" // begins each reference to a schema

	// A 64-bit integer is a string, because many clients lose precision on numbers beyond 2^53.
	integerPattern = `^-?[0-9]+$`
)

// side says whether a schema is for request bodies or for answers.
type side uint8

const (
	incoming side = iota // request bodies
	outgoing             // answers
)

// schemas are the component schemas of the document, reflected from the structs of bodies and
// answers:
//
//   - A member of a body is optional if it is a pointer or has omitempty; null counts as
//     absent; other members are refused. The server also takes an integer as a string, but the schema
//     does not say so, because generators of clients refuse a schema with two types.
//   - A member of an answer is always present unless it has omitempty; a nil pointer becomes
//     null; other members never occur.
type schemas struct {
	made  map[string]map[string]any // the schemas by component name
	types map[string]typeOf         // the reflected types by component name
}

// typeOf is a type, and whether the type is for bodies or for answers.
type typeOf struct {
	t    reflect.Type
	side side // whether it is for bodies or for answers
}

// newSchemas returns an empty collection of schemas.
func newSchemas() *schemas {
	return &schemas{made: map[string]map[string]any{}, types: map[string]typeOf{}}
}

// of returns a reference to the schema of the struct v. It panics if two types, or the two
// sides of one type, would have the same component name; all types come from this package.
func (s *schemas) of(v any, side side) map[string]any {
	return map[string]any{"$ref": s.refer(elem(reflect.TypeOf(v)), side)}
}

// refer returns the reference to the schema of a struct. The first call for a struct creates
// the schema.
func (s *schemas) refer(t reflect.Type, side side) string {
	name := componentName(t)
	switch had, ok := s.types[name]; {
	case !ok:
		s.types[name] = typeOf{t, side}
		s.made[name] = s.reflect(t, side)
	case had != typeOf{t, side}:
		panic(fmt.Sprintf("rest: two types, %[2]s and %[3]s, or a body and an answer, both need the name %[1]s in the OpenAPI document; rename one", name, had.t, t))
	}
	return schemaPrefix + name
}

// componentNames contains the components that are named differently from their structs.
var componentNames = map[reflect.Type]string{
	reflect.TypeFor[deprecatedReadBody](): "ReadBody",
}

// componentName returns the name of a struct, with a capital letter.
func componentName(t reflect.Type) string {
	if name, ok := componentNames[t]; ok {
		return name
	}
	r, n := utf8.DecodeRuneInString(t.Name())
	return string(unicode.ToUpper(r)) + t.Name()[n:]
}

// reflect returns the schema of a type and adds the schemas of the structs in it.
func (s *schemas) reflect(t reflect.Type, side side) map[string]any {
	r := &jsonschema.Reflector{Anonymous: true, DoNotReference: true, Mapper: leaf, Lookup: func(u reflect.Type) jsonschema.ID {
		if u == t || u.Kind() != reflect.Struct || u.Name() == "" || u == reflect.TypeFor[time.Time]() || leaf(u) != nil {
			return jsonschema.EmptyID
		}
		return jsonschema.ID(s.refer(u, side))
	}}
	schema := r.ReflectFromType(t)
	schema.Version = ""
	schema.Required = nil
	side.members(schema, t)
	alternatives(schema)
	return asMap(schema)
}

// alternatives describes in words which of several members an object needs, and excludes all of them together. A list of schemas that only have the
// keyword `required` means the same, but generators of clients take it for a list of different types.
func alternatives(s *jsonschema.Schema) {
	names := func(list []*jsonschema.Schema) string {
		var all []string
		for _, a := range list {
			all = append(all, strings.Join(a.Required, " with "))
		}
		return strings.Join(all, ", ") + "."
	}
	switch {
	case s.OneOf != nil:
		s.Description = "Needs exactly one of " + names(s.OneOf)
		s.Not = &jsonschema.Schema{}
		for _, a := range s.OneOf {
			s.Not.Required = append(s.Not.Required, a.Required...)
		}
	case s.AnyOf != nil:
		s.Description = "Needs at least one of " + names(s.AnyOf)
	}
	s.OneOf, s.AnyOf = nil, nil
}

// leaf returns the schema of a type that is encoded as a single value. For every other type it
// returns nil, and the reflector then walks the fields of the type.
func leaf(t reflect.Type) *jsonschema.Schema {
	switch {
	case t == reflect.TypeFor[client.Code]():
		s := &jsonschema.Schema{Type: "string"}
		for _, c := range client.Codes {
			s.Enum = append(s.Enum, c)
		}
		return s
	case t == reflect.TypeFor[diag.Severity]():
		return &jsonschema.Schema{Type: "string", Enum: []any{diag.Error, diag.Warning, diag.Note}}
	case t == reflect.TypeFor[client.ParamKind]():
		return &jsonschema.Schema{Type: "string", Enum: kindNames()}
	case t == reflect.TypeFor[value.DateTimeValue]():
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	case t == reflect.TypeFor[client.EdgeEnd]():
		return edgeEnd()
	case t == reflect.TypeFor[client.Row]():
		return &jsonschema.Schema{Type: "object"}
	case t == reflect.TypeFor[json.RawMessage]():
		// A list of all types means the same, but generators of clients refuse it.
		return &jsonschema.Schema{Description: anyValue}
	case t != reflect.TypeFor[time.Time]() && t.Implements(reflect.TypeFor[json.Marshaler]()):
		panic(fmt.Sprintf("rest: %s writes its JSON itself; add its schema here", t))
	case t != reflect.TypeFor[time.Time]() && t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return &jsonschema.Schema{Type: "string"}
	}
	return nil
}

// edgeEnd returns the schema of an end of an edge, which is a string or an object.
func edgeEnd() *jsonschema.Schema {
	object := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), Required: []string{"type", "id"}, AdditionalProperties: jsonschema.FalseSchema}
	object.Properties.Set("type", &jsonschema.Schema{Type: "string", Description: "Name of the node's type."})
	object.Properties.Set("id", &jsonschema.Schema{Type: "string"})
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "string", Description: "Id of the node."}, object}}
}

// members marks the properties of a schema as required or not, and adjusts their types. The
// properties come from the fields of t and of the structs that it embeds.
func (side side) members(s *jsonschema.Schema, t reflect.Type) {
	t = elem(t)
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			side.members(s, f.Type)
			continue
		}
		if name == "-" || !f.IsExported() {
			continue
		}
		name = cmp.Or(name, f.Name)
		p, ok := s.Properties.Get(name)
		if !ok {
			panic(fmt.Sprintf("rest: the schema of %s does not have the member %s", t, name))
		}
		if f.Type == reflect.TypeFor[json.RawMessage]() && p.Description == "" {
			p.Description = anyValue // the reflector has replaced the description of leaf
		}
		pointer := f.Type.Kind() == reflect.Pointer
		dropped := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
		var types []string
		if p.Type != "" {
			types = []string{p.Type}
		}
		if p.Type == "integer" {
			p.Format = "int64"
			if f.Type.Kind() == reflect.Int32 {
				p.Format = "int32"
			}
		}
		optional := dropped || side == incoming && pointer
		if !optional {
			s.Required = append(s.Required, name)
		}
		if optional && side == incoming || pointer && !optional {
			p, types = nullable(p, types)
			s.Properties.Set(name, p)
		}
		if len(types) > 1 {
			p.Type = ""
			setExtra(p, "type", types)
		}
	}
}

// nullable makes a schema of the given types also allow null. A schema without types allows null
// already.
func nullable(p *jsonschema.Schema, types []string) (*jsonschema.Schema, []string) {
	switch {
	case p.Ref != "":
		description := p.Description
		p.Description = ""
		return &jsonschema.Schema{Description: description, AnyOf: []*jsonschema.Schema{p, {Type: "null"}}}, nil
	case len(types) == 0:
		return p, nil
	}
	if p.Enum != nil {
		return &jsonschema.Schema{Description: p.Description, AnyOf: []*jsonschema.Schema{{Type: types[0], Enum: p.Enum}, {Type: "null"}}}, nil
	}
	return p, append(types, "null")
}

// anyValue describes a value of any type. A schema without a keyword would be written as true, which many generators
// of clients refuse.
const anyValue = "Any JSON value."

// setExtra sets a keyword that jsonschema.Schema has no field for.
func setExtra(s *jsonschema.Schema, name string, v any) {
	if s.Extras == nil {
		s.Extras = map[string]any{}
	}
	s.Extras[name] = v
}

// elem returns the type that a pointer type points to.
func elem(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// asMap converts a schema to the form that it has in the document. Properties keep the order of
// their fields.
func asMap(s *jsonschema.Schema) map[string]any {
	b, err := json.Marshal(s)
	if err != nil {
		// This cannot happen: a schema has only strings, numbers and maps.
		panic(fmt.Sprintf("rest: encode a schema: %v", err))
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		panic(fmt.Sprintf("rest: read a schema: %v", err))
	}
	m := make(map[string]any, len(raw))
	for k, v := range raw {
		m[k] = v
	}
	return m
}
