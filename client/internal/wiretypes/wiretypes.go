// Package wiretypes prints the wire vocabulary, which is declared in package client, for the clients in TypeScript and
// Python: the types of requests and answers from the OpenAPI document, and the classes of errors from error.go.
package wiretypes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Types are the named types of an OpenAPI document.
type Types struct {
	names   []string           // in the order of the document
	schemas map[string]*schema // by the name that the clients use
}

// schema is the part of a JSON Schema that becomes a type.
type schema struct {
	Ref         string     `json:"$ref"`
	Type        names      `json:"type"`
	Enum        []string   `json:"enum"`
	AnyOf       []*schema  `json:"anyOf"`
	OneOf       []*schema  `json:"oneOf"`
	Items       *schema    `json:"items"`
	Properties  properties `json:"properties"`
	Required    []string   `json:"required"`
	Description string     `json:"description"`
}

// names is a JSON string, or an array of strings.
type names []string

// UnmarshalJSON implements [json.Unmarshaler].
func (n *names) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*n = names{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(n))
}

// property is a member of an object.
type property struct {
	name   string
	schema *schema
}

// properties are the members of an object in the order of the document.
type properties []property

// UnmarshalJSON implements [json.Unmarshaler].
func (p *properties) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if _, err := d.Token(); err != nil { // the opening brace
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		s := &schema{}
		if err := d.Decode(s); err != nil {
			return err
		}
		*p = append(*p, property{name.(string), s})
	}
	return nil
}

// Read reads the types of an OpenAPI document. It leaves out those that only deprecated operations use.
func Read(document []byte) (*Types, error) {
	var doc struct {
		Components struct{ Schemas properties }
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		return nil, err
	}
	t := &Types{schemas: map[string]*schema{}}
	for _, p := range doc.Components.Schemas {
		if p.name == "DeprecatedReadAnswer" || p.name == "ReadBody" {
			continue
		}
		t.names = append(t.names, p.name)
		t.schemas[p.name] = p.schema
	}
	slices.Sort(t.names)
	return t, nil
}

// language is what the types of a programming language look like.
type language struct {
	scalars  map[string]string                       // by JSON type
	unknown  string                                  // any JSON value
	row      string                                  // an object with columns or properties
	params   string                                  // an object with arguments
	null     string                                  // the type of null
	list     func(of string) string                  // an array
	literals func(values []string) string            // one of some strings
	object   func(l *language, ps properties) string // an object without a name
}

// typeOf returns the type of a schema. The argument `in` is the name of the type that it is in.
func (l *language) typeOf(s *schema, in string) string {
	switch {
	case s.Ref != "":
		return s.Ref[strings.LastIndex(s.Ref, "/")+1:]
	case s.AnyOf != nil || s.OneOf != nil:
		var parts []string
		for _, alternative := range append(slices.Clone(s.AnyOf), s.OneOf...) {
			parts = append(parts, l.typeOf(alternative, in))
		}
		return strings.Join(parts, " | ")
	case s.Enum != nil:
		return l.literals(s.Enum)
	case len(s.Type) == 0:
		return l.unknown
	}
	var parts []string
	for _, t := range s.Type {
		switch {
		case t == "null":
			parts = append(parts, l.null)
		case t == "array":
			parts = append(parts, l.list(l.typeOf(s.Items, in)))
		case t == "object" && s.Properties != nil:
			parts = append(parts, l.object(l, s.Properties))
		case t == "object" && strings.HasSuffix(in, "Body"):
			parts = append(parts, l.params)
		case t == "object":
			parts = append(parts, l.row)
		default:
			parts = append(parts, l.scalars[t])
		}
	}
	return strings.Join(parts, " | ")
}

// quoted returns the values as string literals, joined by `by`.
func quoted(values []string, by string) string {
	var b strings.Builder
	for i, v := range values {
		if i > 0 {
			b.WriteString(by)
		}
		fmt.Fprintf(&b, "%q", v)
	}
	return b.String()
}
