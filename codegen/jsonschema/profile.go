package jsonschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// CheckInput reports, joined into one error, where a schema leaves the profile of
// input schemas that all known clients accept: a root object; objects with properties,
// required and additionalProperties: false, or open ones without properties; items on
// every array; one type each; enums of strings; keys of [A-Za-z0-9_.-]{1,64}; and none
// of $schema, $id, $ref, $defs, oneOf, anyOf, allOf, not, const and exclusive bounds.
func CheckInput(schema json.RawMessage) error { return check(schema, input) }

// CheckOutput is [CheckInput] for output schemas, which may have type arrays, and null
// in an enum.
func CheckOutput(schema json.RawMessage) error { return check(schema, output) }

// keywords are all that a schema may say.
var keywords = []string{
	"type", "properties", "required", "additionalProperties", "items", "minItems", "maxItems", "enum", "minimum",
	"maximum", "pattern", "format", "contentEncoding", "description", "title",
}

var propertyKey = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

func check(schema json.RawMessage, dir direction) error {
	var root map[string]any
	if err := json.Unmarshal(schema, &root); err != nil {
		return fmt.Errorf("the schema is no JSON object: %w", err)
	}
	w := &walker{dir: dir}
	if root["type"] != "object" || root["properties"] == nil {
		w.fault("", "the root is %v, wanted an object with properties", root["type"])
	}
	w.schema("", root)
	return errors.Join(w.faults...)
}

type walker struct {
	dir    direction
	faults []error
}

func (w *walker) fault(path, format string, args ...any) {
	w.faults = append(w.faults, fmt.Errorf("schema#%s: "+format, append([]any{path}, args...)...))
}

func (w *walker) schema(path string, s map[string]any) {
	for _, k := range slices.Sorted(maps.Keys(s)) {
		if !slices.Contains(keywords, k) {
			w.fault(path, "found the keyword %s, wanted one of the profile", k)
		}
	}
	var types []string
	switch t := s["type"].(type) {
	case string:
		types = []string{t}
	case []any:
		if w.dir == input {
			w.fault(path, "found a type array, wanted one type")
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
			if len(types) == 1 { // one of many types says nothing of its members
				w.object(path, s)
			}
		case "array":
			if len(types) > 1 && s["items"] == nil && slices.Contains(types, "object") {
				continue // any value
			}
			items, ok := s["items"].(map[string]any)
			if !ok {
				w.fault(path, "is an array without items")
				continue
			}
			w.schema(path+"/items", items)
		case "string", "integer", "number", "boolean":
		case "null":
			if w.dir == input {
				w.fault(path, "may be null")
			}
		default:
			w.fault(path, "found the type %q", t)
		}
	}
	w.enum(path, s)
}

func (w *walker) object(path string, s map[string]any) {
	if s["properties"] == nil && s["additionalProperties"] != nil && s["additionalProperties"] != false {
		return // an open object
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
			w.fault(path, "requires %v, which is no property", r)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !propertyKey.MatchString(name) {
			w.fault(path, "found the property key %q, wanted 1 to 64 characters out of A-Z, a-z, 0-9, _, . and -", name)
		}
		p, ok := properties[name].(map[string]any)
		if !ok {
			w.fault(path+"/"+name, "is no schema object")
			continue
		}
		w.schema(path+"/"+name, p)
	}
}

func (w *walker) enum(path string, s map[string]any) {
	values, ok := s["enum"].([]any)
	if !ok {
		return
	}
	for _, v := range values {
		if _, ok := v.(string); !ok && (w.dir == input || v != nil) {
			w.fault(path, "found %v in an enum, wanted strings", v)
		}
	}
}
