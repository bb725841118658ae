package jsonschema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
)

// Strict converts an input schema to the strict profile, for clients that want every key required.
// An optional property becomes required and nullable: null is added to its type array and, if it
// has one, to its enum. Clients of this profile refuse default and examples, so a default becomes a
// sentence of the description, and examples are left out. Open objects stay unchanged. Strict panics if
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

// requireAll makes every property of s, and of the schemas in s, required.
func requireAll(s *jsonschema.Schema) {
	if s.Default != nil {
		text, err := json.Marshal(s.Default)
		if err != nil {
			panic(fmt.Sprintf("jsonschema: encode the default %v: %v", s.Default, err))
		}
		s.Description = strings.TrimSpace(s.Description + " The default is " + string(unescapeHTML(text)) + ".")
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
