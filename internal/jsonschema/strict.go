package jsonschema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/invopop/jsonschema"
)

// Strict converts an input schema to the strict profile, for clients that want every key required.
// An optional property becomes required and nullable: null is added to its type array and, if it
// has one, to its enum. Clients of this profile refuse default, examples, and the bounds of numbers and arrays,
// so a default and bounds become sentences of the description, and examples are left out. Open objects stay unchanged. Strict panics if
// [Input] could not have returned the schema.
func Strict(schema json.RawMessage) json.RawMessage {
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		panic(fmt.Sprintf("jsonschema: read the input schema %s: %v", schema, err))
	}
	requireAll(&s)
	b, err := json.Marshal(&s)
	if err != nil {
		panic(fmt.Sprintf("jsonschema: encode the strict form of %s: %v", schema, err))
	}
	return unescapeHTML(b)
}

// sayBounds adds a sentence about bounds to the description of a schema. An empty text is no bound.
func sayBounds(s *jsonschema.Schema, lo, hi, unit string) {
	switch {
	case lo == "" && hi == "":
	case lo == hi:
		addSentence(s, "Exactly "+lo+unit+".")
	case hi == "":
		addSentence(s, "At least "+lo+unit+".")
	case lo == "":
		addSentence(s, "At most "+hi+unit+".")
	default:
		addSentence(s, "From "+lo+" to "+hi+unit+".")
	}
}

// decimal returns a number as text, or "" for nil.
func decimal(n *uint64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatUint(*n, 10)
}

// requireAll makes every property of s, and of the schemas in s, required.
func requireAll(s *jsonschema.Schema) {
	sayBounds(s, string(s.Minimum), string(s.Maximum), "")
	s.Minimum, s.Maximum = "", ""
	sayBounds(s, decimal(s.MinItems), decimal(s.MaxItems), " elements")
	s.MinItems, s.MaxItems = nil, nil
	if s.Default != nil {
		text, err := json.Marshal(s.Default)
		if err != nil {
			panic(fmt.Sprintf("jsonschema: encode the default %v: %v", s.Default, err))
		}
		addSentence(s, "The default is "+string(unescapeHTML(text))+".")
	}
	s.Default, s.Examples = nil, nil
	if s.Items != nil {
		requireAll(s.Items)
	}
	if s.Properties == nil {
		return
	}
	was := s.Required
	s.Required = nil
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		requireAll(p.Value)
		if !slices.Contains(was, p.Key) {
			orNull(p.Value)
		}
		s.Required = append(s.Required, p.Key)
	}
	if len(s.Required) == 0 {
		extra(s, "required", []string{})
	}
}
