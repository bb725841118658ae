// Package schematest checks JSON Schemas against the profile that all known clients accept. Tests
// use it.
package schematest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// CheckInput checks that a schema satisfies the input profile, which all known clients accept. The
// error joins all violations. The profile allows: a root object; objects with properties, required
// and additionalProperties: false, or open objects without properties; items on every array; one
// type per schema; enums of strings; and keys of [A-Za-z0-9_.-]{1,64}. It forbids $schema, $id,
// $ref, $defs, oneOf, anyOf, allOf, not, const and exclusive bounds.
func CheckInput(schema json.RawMessage) error { return check(schema, input) }

// CheckOutput is [CheckInput] for output schemas, which may also have type arrays, and null in an
// enum.
func CheckOutput(schema json.RawMessage) error { return check(schema, output) }

// CheckStrict is [CheckInput] for the schemas that jsonschema.Strict makes. Every property must be
// required, and a property that would be optional must be nullable by a type array that includes
// null.
func CheckStrict(schema json.RawMessage) error { return check(schema, strict) }

// OpenObjects returns the paths of the objects in a schema that accept members of any name. The
// paths are spelled as in the errors of the checks. Open objects are exceptions to the profile, and
// each one is listed by name.
func OpenObjects(schema json.RawMessage) []string {
	var root map[string]any
	if json.Unmarshal(schema, &root) != nil {
		return nil
	}
	w := &walker{dir: output}
	w.schema("", root)
	return w.open
}

// keywords lists all keywords that a schema may use.
var keywords = []string{
	"type", "properties", "required", "additionalProperties", "items", "minItems", "maxItems", "enum", "minimum",
	"maximum", "pattern", "format", "contentEncoding", "description", "title", "default", "examples",
}

// notStrict lists the keywords that clients of the strict profile refuse.
var notStrict = []string{"default", "examples", "minimum", "maximum", "minItems", "maxItems"}

// propertyKey matches the keys that clients accept.
var propertyKey = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// check returns all violations of the profile in a schema.
func check(schema json.RawMessage, dir direction) error {
	var root map[string]any
	if err := json.Unmarshal(schema, &root); err != nil {
		return fmt.Errorf("the schema is not a JSON object: %w", err)
	}
	w := &walker{dir: dir}
	if root["type"] != "object" || root["properties"] == nil {
		w.fault("", "the root is %v, want an object with properties", root["type"])
	}
	w.schema("", root)
	return errors.Join(w.faults...)
}

// direction says which form of the profile a schema must satisfy.
type direction uint8

const (
	input direction = iota
	output
	strict
)

// walker visits the schemas within a schema and collects the violations of the profile.
type walker struct {
	dir    direction // the form that the schema must satisfy
	faults []error   // the violations so far
	open   []string  // paths of open objects
}

// fault adds a violation. `path` is the JSON pointer of the schema that has it.
func (w *walker) fault(path, format string, args ...any) {
	w.faults = append(w.faults, fmt.Errorf("schema#%s: "+format, append([]any{path}, args...)...))
}

// schema checks a schema and the schemas in it.
func (w *walker) schema(path string, s map[string]any) {
	for _, k := range slices.Sorted(maps.Keys(s)) {
		if !slices.Contains(keywords, k) || w.dir == strict && slices.Contains(notStrict, k) {
			w.fault(path, "found the keyword %s, which the profile does not allow", k)
		}
	}
	if f := s["format"]; f != nil && f != "date-time" && w.dir != output {
		w.fault(path, "found the format %v, which some clients refuse", f)
	}
	var types []string
	switch t := s["type"].(type) {
	case string:
		types = []string{t}
	case []any:
		if w.dir == input {
			w.fault(path, "found an array of types, want one type")
		}
		if w.dir == strict && (len(t) != 2 || t[0] == "null" || t[1] != "null") {
			w.fault(path, "found the types %v, want one type, or one type and null", t)
		}
		for _, one := range t {
			name, _ := one.(string)
			types = append(types, name)
		}
	default:
		w.fault(path, "has no type")
	}
	for _, t := range types {
		switch t {
		case "object":
			if len(types) == 1 || len(types) == 2 && types[1] == "null" { // a schema with more types does not describe members
				w.object(path, s)
			}
		case "array":
			if len(types) > 1 && s["items"] == nil && slices.Contains(types, "object") {
				continue // a schema without a type accepts any value
			}
			items, ok := s["items"].(map[string]any)
			if !ok {
				w.fault(path, "is an array without items")
				continue
			}
			w.schema(path+"/items", items)
		case "string", "integer", "number", "boolean":
		case "null":
			if w.dir == input || w.dir == strict && len(types) == 1 {
				w.fault(path, "may be null")
			}
		default:
			w.fault(path, "found the type %q", t)
		}
	}
	w.enum(path, s, slices.Contains(types, "null"))
}

// object checks the schema of an object.
func (w *walker) object(path string, s map[string]any) {
	if s["properties"] == nil && s["additionalProperties"] != nil && s["additionalProperties"] != false {
		w.open = append(w.open, path)
		return
	}
	if s["additionalProperties"] != false {
		w.fault(path, "is an object without additionalProperties: false")
	}
	properties, ok := s["properties"].(map[string]any)
	if !ok {
		w.fault(path, "is an object without properties")
	}
	required, ok := s["required"].([]any)
	if !ok {
		w.fault(path, "is an object without required")
	}
	for _, r := range required {
		if name, _ := r.(string); properties[name] == nil {
			w.fault(path, "requires %v, which is not a property", r)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if w.dir == strict && !slices.Contains(required, any(name)) {
			w.fault(path, "does not require %s", name)
		}
		if !propertyKey.MatchString(name) {
			w.fault(path, "found the property key %q, want 1 to 64 characters of A-Z, a-z, 0-9, _, . and -", name)
		}
		p, ok := properties[name].(map[string]any)
		if !ok {
			w.fault(path+"/"+name, "is not a schema object")
			continue
		}
		w.schema(path+"/"+name, p)
	}
}

// enum checks the enum of a schema. `nullable` says that the schema's type allows null.
func (w *walker) enum(path string, s map[string]any, nullable bool) {
	values, ok := s["enum"].([]any)
	if !ok {
		return
	}
	if w.dir == strict && nullable != slices.Contains(values, nil) {
		w.fault(path, "has null in only one of its type and its enum")
	}
	for _, v := range values {
		if _, ok := v.(string); !ok && (w.dir == input || v != nil) {
			w.fault(path, "found %v in an enum, want strings", v)
		}
	}
}
