// Package jsonschema makes the JSON Schemas of tools by reflection on Go types, and restricts them
// to the one profile that clients of tools accept.
//
// It inlines and normalises the reflected schema by these rules:
//
//   - an object lists its properties in field order, has required (present even
//     when empty) and additionalProperties: false;
//   - in an input a field is optional if it is a pointer, nullable or omitempty,
//     and it is never null;
//   - in an output a field is left out only if it is omitempty; a pointer or
//     nullable field is always present and may be null, which a type array states;
//   - a BigInt or BigUint, and a 64-bit integer among the parameters and columns of a stored query, is a
//     decimal string in an input; in an output it may be a number or a string, because numbers lose precision past 2^53;
//   - a float in an output may be a string, because JSON has no NaN and no infinity;
//   - of the formats, an input has date-time alone, because some clients refuse others; the description of a
//     Date says how to write it;
//   - the bounds of the 32-bit integers are written in inputs only;
//   - an optional field of an input may have a default, and any field may have examples; the examples of an
//     array are those of its items;
//   - a map with string keys is an open object; a field of type any in an output
//     may have any type;
//   - there is no $schema, $id, $ref, $defs, oneOf, anyOf or allOf.
package jsonschema

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/invopop/jsonschema"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// Input returns the schema of t, a struct or a pointer to one, for the arguments of a tool. It
// panics if t contains a type that the input profile cannot express: an interface, a raw message or
// a function. A type must not contain itself.
func Input(t reflect.Type) json.RawMessage { return reflectObject(t, input) }

// Output returns the schema of t, a struct or a pointer to one, for the structured result of a
// tool. It panics if t contains a function or a channel. A type must not contain itself.
func Output(t reflect.Type) json.RawMessage { return reflectObject(t, output) }

// BigIntPattern and BigUintPattern match 64-bit integers written as strings.
const (
	BigIntPattern  = `^-?\d+$`
	BigUintPattern = `^\d+$` // without a sign
)

// BigInt and BigUint are 64-bit integers that JSON may write as strings.
type (
	BigInt  int64
	BigUint uint64
)

// direction says whether a schema describes the input or the output of a call.
type direction uint8

const (
	input  direction = iota // the arguments
	output                  // the result
)

// reflectObject returns the schema of a struct type.
func reflectObject(t reflect.Type, dir direction) json.RawMessage {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("jsonschema: %s is not a struct; the arguments and results of tools must be objects", t))
	}
	r := &jsonschema.Reflector{Anonymous: true, DoNotReference: true, Mapper: dir.leaf}
	s := r.ReflectFromType(t)
	s.Version = ""
	dir.normalise(s, t)
	b, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("jsonschema: encode the schema of %s: %v", t, err))
	}
	return unescapeHTML(b)
}

var (
	bigIntType     = reflect.TypeFor[BigInt]()          // a 64-bit integer, as a number or a string
	bigUintType    = reflect.TypeFor[BigUint]()         // the same without a sign
	timeType       = reflect.TypeFor[time.Time]()       // an instant
	rawMessageType = reflect.TypeFor[json.RawMessage]() // any JSON value
)

// texts maps the Go types of kinds that are strings in JSON to their kinds. It leaves out String,
// whose Go type also has other uses.
var texts = func() map[reflect.Type]value.Kind {
	m := map[reflect.Type]value.Kind{reflect.TypeFor[value.DateTimeValue](): value.DateTime}
	for _, k := range value.Kinds() {
		if k.JSON() == value.JSONText && k != value.String {
			m[k.GoType()] = k
		}
	}
	return m
}()

// Typed is a Go type that writes its own JSON, which has one of the types that JSONTypes returns, such as
// string and object. JSONTypes must work on the zero value.
type Typed interface{ JSONTypes() []string }

// inputFormat is the only format in an input schema. The function declarations of Gemini refuse a tool with
// another one.
const inputFormat = "date-time"

// leaf maps the Go types of scalars to schemas. It returns nil for every other type, and the
// reflection then descends into that type. Struct tags apply to the returned schema.
func (dir direction) leaf(t reflect.Type) *jsonschema.Schema {
	switch t {
	case bigIntType:
		return dir.wide(BigIntPattern)
	case bigUintType:
		return dir.wide(BigUintPattern)
	case rawMessageType:
		return dir.any(t)
	}
	if t.Implements(reflect.TypeFor[Typed]()) && t.Kind() != reflect.Pointer {
		return union(reflect.Zero(t).Interface().(Typed).JSONTypes()...)
	}
	if k, ok := texts[t]; ok {
		s := k.Schema()
		if dir == input && s.Format != inputFormat {
			s.Format = ""
		}
		return &jsonschema.Schema{Type: "string", Format: s.Format, Pattern: s.Pattern, ContentEncoding: s.Encoding}
	}
	switch t.Kind() {
	case reflect.Int32:
		return dir.bounded(strconv.Itoa(math.MinInt32), strconv.Itoa(math.MaxInt32))
	case reflect.Uint32:
		return dir.bounded("0", strconv.FormatUint(math.MaxUint32, 10))
	case reflect.Uint, reflect.Uint64:
		return dir.bounded("0", "")
	case reflect.Interface:
		return dir.any(t)
	}
	return nil
}

// wide returns the schema of a 64-bit integer. The regular expression `pattern` limits the string
// form.
func (dir direction) wide(pattern string) *jsonschema.Schema {
	if dir == output {
		return union("integer", "string")
	}
	return &jsonschema.Schema{Type: "string", Pattern: pattern}
}

// bounded returns the schema of an integer. Only an input schema has the bounds.
func (dir direction) bounded(lo, hi string) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "integer"}
	if dir == input {
		s.Minimum, s.Maximum = json.Number(lo), json.Number(hi)
	}
	return s
}

// any returns the schema of a Go type that may hold any JSON value.
func (dir direction) any(t reflect.Type) *jsonschema.Schema {
	if dir == input {
		panic(fmt.Sprintf("jsonschema: %s has no JSON type; give the argument a concrete type, or a map for an object with any members", t))
	}
	return union("object", "array", "string", "number", "boolean", "null")
}

// union returns a schema that allows several types. The library's Schema has room for only one
// type, so the types are stored as an extra member.
func union(types ...string) *jsonschema.Schema {
	return &jsonschema.Schema{Extras: map[string]any{"type": types}}
}

// normalise changes the schema s, reflected from t, to satisfy the profile.
func (dir direction) normalise(s *jsonschema.Schema, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if dir.leaf(t) != nil {
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		if s.Properties == nil { // a struct with its own format, such as a time
			return
		}
		s.Required = nil
		dir.fields(s, t)
		s.AdditionalProperties = jsonschema.FalseSchema
		if len(s.Required) == 0 {
			extra(s, "required", []string{})
		}
	case reflect.Map:
		if s.AdditionalProperties == nil {
			s.AdditionalProperties = jsonschema.TrueSchema
		} else {
			dir.normalise(s.AdditionalProperties, t.Elem())
		}
	case reflect.Slice:
		if s.Items != nil {
			dir.normalise(s.Items, t.Elem())
		}
	case reflect.Array:
		// An array is a vector. Its components are finite, so they are always numbers.
	case reflect.Float32, reflect.Float64:
		if dir == output && s.Type == "number" {
			s.Type = ""
			extra(s, "type", []string{"number", "string"})
		}
	}
}

// fields normalises the properties that come from the fields of t, including embedded structs.
func (dir direction) fields(s *jsonschema.Schema, t reflect.Type) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			embedded := f.Type
			if embedded.Kind() == reflect.Pointer {
				embedded = embedded.Elem()
			}
			if embedded.Kind() == reflect.Struct {
				dir.fields(s, embedded)
				continue
			}
		}
		if name == "" {
			name = f.Name
		}
		p, ok := s.Properties.Get(name)
		if !ok {
			continue
		}
		nullable := f.Type.Kind() == reflect.Pointer
		if len(p.OneOf) == 2 && p.OneOf[1].Type == "null" { // the reflection writes a nullable type like this
			p, nullable = p.OneOf[0], true
			s.Properties.Set(name, p)
		}
		dir.normalise(p, f.Type)
		keywordsOf(p, f)
		if dir == input {
			explainDate(p, f.Type)
		}
		optional := omittable(options)
		switch dir {
		case input:
			optional = optional || nullable
		case output:
			if nullable && !optional {
				orNull(p)
			}
		}
		if !optional {
			s.Required = append(s.Required, name)
		}
	}
}

// These struct tags contain keywords of a field that the struct tag of the library cannot express,
// because their values may be of any type and contain any character.
const (
	DefaultTag      = "jsonschema_default"       // the keyword default, as JSON
	ExamplesTag     = "jsonschema_examples"      // the keyword examples, as a JSON array
	ItemsPatternTag = "jsonschema_items_pattern" // the keyword pattern of the items of an array
)

// keywordsOf adds the keywords of the module's own struct tags to the schema of a field.
func keywordsOf(s *jsonschema.Schema, f reflect.StructField) {
	if text, ok := f.Tag.Lookup(DefaultTag); ok {
		s.Default = json.RawMessage(text)
	}
	items := s
	if f.Type.Kind() == reflect.Slice && s.Items != nil { // but a Go array is a vector: one value
		items = s.Items
	}
	if text, ok := f.Tag.Lookup(ExamplesTag); ok {
		if err := json.Unmarshal([]byte(text), &items.Examples); err != nil {
			panic(fmt.Sprintf("jsonschema: the tag %s is %q, want a JSON array: %v", ExamplesTag, text, err))
		}
	}
	if text, ok := f.Tag.Lookup(ItemsPatternTag); ok {
		items.Pattern = text
	}
}

// explainDate adds to the schema of a field how to write a Date, if its type is one or a list of them. The
// schema cannot say it with a format.
func explainDate(s *jsonschema.Schema, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	text := "A date as YYYY-MM-DD."
	if t.Kind() == reflect.Slice {
		t, text = t.Elem(), "Each is a date as YYYY-MM-DD."
	}
	if t == value.Date.GoType() {
		addSentence(s, text)
	}
}

// addSentence adds a sentence to the description of a schema.
func addSentence(s *jsonschema.Schema, text string) {
	s.Description = strings.TrimSpace(s.Description + " " + text)
}

// optionalInput reports whether a field may be left out of an input.
func optionalInput(f reflect.StructField) bool {
	_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	return f.Type.Kind() == reflect.Pointer || omittable(options) ||
		slices.Contains(strings.Split(f.Tag.Get("jsonschema"), ","), "nullable")
}

// omittable reports whether the options of a json tag omit empty values.
func omittable(jsonOptions string) bool {
	return strings.Contains(jsonOptions, "omitempty") || strings.Contains(jsonOptions, "omitzero")
}

// orNull makes a schema accept null as well.
func orNull(s *jsonschema.Schema) {
	types, _ := s.Extras["type"].([]string)
	if s.Type != "" {
		types, s.Type = []string{s.Type}, ""
	}
	extra(s, "type", append(types[:len(types):len(types)], "null"))
	if s.Enum != nil {
		s.Enum = append(s.Enum, nil)
	}
}

// extra adds a member to a schema that the library has no field for.
func extra(s *jsonschema.Schema, name string, v any) {
	if s.Extras == nil {
		s.Extras = map[string]any{}
	}
	s.Extras[name] = v
}

// unescapeHTML replaces the escapes of <, > and & in encoded JSON with the characters.
// encoding/json escapes them for HTML, but models read the schemas as plain text.
func unescapeHTML(b []byte) []byte {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' || i+1 == len(b) {
			out = append(out, b[i])
			continue
		}
		if i+6 <= len(b) {
			switch string(b[i : i+6]) {
			case `\u003c`:
				out, i = append(out, '<'), i+5
				continue
			case `\u003e`:
				out, i = append(out, '>'), i+5
				continue
			case `\u0026`:
				out, i = append(out, '&'), i+5
				continue
			}
		}
		out = append(out, b[i], b[i+1])
		i++
	}
	return out
}
