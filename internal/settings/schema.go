// Package settings prints the JSON Schema and the reference page of a configuration file. It makes
// both from the description that the reader of the file uses.
package settings

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/goccy/go-yaml"
	"github.com/invopop/jsonschema"

	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
)

// draft is the version of JSON Schema. Editors that read schemas for YAML know it best.
const draft = "http://json-schema.org/draft-07/schema#"

// JSONSchema returns the JSON Schema of a file, for editors. It accepts each file that the reader
// accepts. It also accepts some files that the reader refuses: it cannot know which files, graphs
// and groups exist.
func JSONSchema(file string, s *strictyaml.Setting) []byte {
	d := &definitions{uses: map[*strictyaml.Setting]int{}, names: map[*strictyaml.Setting]string{}, list: jsonschema.Definitions{}}
	d.count(s)
	root := d.schemaOf(s)
	root.Version, root.Title = draft, file
	if len(d.list) > 0 {
		root.Definitions = d.list
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(root); err != nil {
		panic("settings: encode the schema of " + file + ": " + err.Error())
	}
	return b.Bytes()
}

// definitions holds the schemas of settings with parts that a file has in several places.
type definitions struct {
	uses  map[*strictyaml.Setting]int // number of places of each setting
	names map[*strictyaml.Setting]string
	list  jsonschema.Definitions
}

// count counts the places of a setting and of its parts.
func (d *definitions) count(s *strictyaml.Setting) {
	if d.uses[s]++; d.uses[s] > 1 {
		return
	}
	for _, part := range slices.Concat(s.Keys, s.Forms) {
		d.count(part)
	}
	if s.Each != nil {
		d.count(s.Each)
	}
}

// schemaOf returns the JSON Schema of a setting, or a reference to its definition.
func (d *definitions) schemaOf(s *strictyaml.Setting) *jsonschema.Schema {
	if d.uses[s] < 2 || s.Type != strictyaml.Mapping && s.Type != strictyaml.Union {
		return d.plain(s)
	}
	name := d.names[s]
	if name == "" {
		name = "part" + strconv.Itoa(len(d.names)+1)
		d.names[s] = name
		d.list[name] = d.plain(s)
	}
	return &jsonschema.Schema{Ref: "#/$defs/" + name}
}

// notBlank matches a text that has at least one character other than a blank; readers refuse other
// texts.
const notBlank = `\S`

// plain returns the JSON Schema of a setting.
func (d *definitions) plain(s *strictyaml.Setting) *jsonschema.Schema {
	out := &jsonschema.Schema{Description: s.Text}
	if s.Example != "" {
		out.Examples = []any{value(s.Example)}
	}
	switch s.Type {
	case strictyaml.Text:
		out.Type, out.Pattern = "string", notBlank
		if s.Pattern != "" {
			out.Pattern = s.Pattern
		}
	case strictyaml.Choice:
		out.Type = "string"
		for _, word := range s.OneOf {
			out.Enum = append(out.Enum, word)
		}
	case strictyaml.Int:
		out.Type, out.Minimum, out.Maximum = "integer", number(s.Min), number(s.Max)
		if n, err := strconv.ParseInt(s.Default, 10, 64); err == nil {
			out.Default = n
		}
	case strictyaml.Bool:
		out.Type, out.Default = "boolean", s.Default == "true"
	case strictyaml.List:
		out.Type, out.Items, out.UniqueItems = "array", d.schemaOf(s.Each), !s.Repeats
		if s.NotEmpty {
			out.MinItems = new(uint64(1))
		}
	case strictyaml.Mapping:
		d.mapping(out, s)
	case strictyaml.Map:
		out.Type, out.AdditionalProperties = "object", d.schemaOf(s.Each)
		if s.NotEmpty {
			out.MinProperties = new(uint64(1))
		}
		if s.Pattern != "" {
			out.PropertyNames = &jsonschema.Schema{Pattern: s.Pattern}
		}
	case strictyaml.Union:
		for _, form := range s.Forms {
			out.AnyOf = append(out.AnyOf, d.schemaOf(form))
		}
	}
	if s.Type == strictyaml.Choice && !s.Required && s.Default != "" {
		for _, word := range s.OneOf {
			if word == s.Default {
				out.Default = word
			}
		}
	}
	return out
}

// mapping adds the keys of a mapping to its schema.
func (d *definitions) mapping(out *jsonschema.Schema, s *strictyaml.Setting) {
	out.Type, out.AdditionalProperties, out.Properties = "object", jsonschema.FalseSchema, jsonschema.NewProperties()
	for _, k := range s.Keys {
		out.Properties.Set(k.Key, d.schemaOf(k))
		if k.Required {
			out.Required = append(out.Required, k.Key)
		}
	}
	for _, key := range s.ExactlyOne {
		out.OneOf = append(out.OneOf, &jsonschema.Schema{Required: []string{key}})
	}
}

// value returns the value of an example, which is YAML.
func value(text string) any {
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		panic("settings: the example " + text + " is not YAML: " + err.Error())
	}
	return v
}

// number returns n as a JSON number.
func number(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }
