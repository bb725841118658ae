package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// The versions number the layouts of an encoded schema. A schema has the first version that can hold it, so
// that older programs read the schemas that they know, and refuse the others with a VersionError.
//
// Version 1 is a JSON object {"version": 1, "schema": …} with the schema's fields under their
// JSON names. The ends of a range are decimal strings, and a separate member contains the kind of
// these numbers.
//
// Version 2 adds edge types with an interface at an end.
//
// Version 3 adds the order of @key where it differs from the order of the names. Programs that do not know it
// would take the values of the members in another order, and so find or write another node.
//
// Version 4 adds @default and @backfill. Programs that do not know them would insert nulls.
//
// Version 5 adds @valid. Programs that do not know it would write entities that end before they begin.
const (
	encodingVersion         = 1
	encodingVersionEnds     = 2
	encodingVersionKeyOrder = 3
	encodingVersionFilling  = 4
	encodingVersionValid    = 5
	lastEncodingVersion     = encodingVersionValid
)

// versionOf returns the version of the encoding of a schema.
func versionOf(s *Schema) int {
	if slices.ContainsFunc(s.Nodes, func(n *Node) bool { return n.Valid != nil }) || slices.ContainsFunc(s.Edges, func(e *Edge) bool { return e.Valid != nil }) {
		return encodingVersionValid
	}
	filled := func(props []*Property) bool { return slices.ContainsFunc(props, fills) }
	if slices.ContainsFunc(s.Nodes, func(n *Node) bool { return filled(n.Properties) }) || slices.ContainsFunc(s.Edges, func(e *Edge) bool { return filled(e.Properties) }) ||
		slices.ContainsFunc(s.Interfaces, func(i *Interface) bool { return filled(i.Properties) }) {
		return encodingVersionFilling
	}
	if slices.ContainsFunc(s.Nodes, func(n *Node) bool { return len(n.KeyOrder) > 0 }) {
		return encodingVersionKeyOrder
	}
	if slices.ContainsFunc(s.Edges, (*Edge).HasInterfaceEnd) {
		return encodingVersionEnds
	}
	return encodingVersion
}

// envelope is the JSON form of an encoded schema.
type envelope struct {
	Version int     `json:"version"` // the version of the encoding
	Schema  *Schema `json:"schema"`  // the encoded schema
}

// Encode encodes a schema for Decode. Equal schemas have equal encodings.
func Encode(s *Schema) []byte {
	b, err := json.Marshal(envelope{versionOf(s), s})
	if err != nil {
		panic("catalog: cannot encode the schema: " + err.Error())
	}
	return b
}

// VersionError reports that an encoding has a version that this program does not know.
type VersionError struct{ Version int }

func (e *VersionError) Error() string {
	return fmt.Sprintf("schema encoding version %d is unknown; this program reads versions %d to %d; use the program that wrote the schema", e.Version, encodingVersion, lastEncodingVersion)
}

// Decode decodes the output of Encode. The error is a *VersionError when the encoding has
// another version.
func Decode(b []byte) (*Schema, error) {
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, fmt.Errorf("schema encoding: %w", err)
	}
	if head.Version < encodingVersion || head.Version > lastEncodingVersion {
		return nil, &VersionError{head.Version}
	}
	env := envelope{}
	if err := json.Unmarshal(b, &env); err != nil {
		return nil, fmt.Errorf("schema encoding: %w", err)
	}
	if env.Schema == nil {
		return nil, fmt.Errorf("schema encoding: the data contains no schema")
	}
	if err := env.Schema.verify(); err != nil {
		return nil, fmt.Errorf("schema encoding: %w", err)
	}
	env.Schema.Index()
	return env.Schema, nil
}

// Digest identifies a schema independently of the layout and comments of its source. It is
// "sha256:" and the hash of the encoding in hex.
func Digest(s *Schema) string {
	sum := sha256.Sum256(Encode(s.withoutPlans()))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// rangeJSON is the JSON form of a Range.
type rangeJSON struct {
	Property string  `json:"property"`      // name of the property
	Kind     string  `json:"kind"`          // name of the kind of Min and Max
	Min      *string `json:"min,omitempty"` // in decimal
	Max      *string `json:"max,omitempty"` // in decimal
}

// MarshalJSON writes the ends as decimal strings, so that no precision is lost.
func (r Range) MarshalJSON() ([]byte, error) {
	j := rangeJSON{Property: r.Property}
	for _, end := range []struct {
		v   *value.Value
		dst **string
	}{{r.Min, &j.Min}, {r.Max, &j.Max}} {
		if end.v != nil {
			s := value.Text(*end.v)
			j.Kind, *end.dst = end.v.Kind().String(), &s
		}
	}
	return json.Marshal(j)
}

// UnmarshalJSON decodes the output of MarshalJSON.
func (r *Range) UnmarshalJSON(b []byte) error {
	var j rangeJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	kind, _ := value.KindOf(j.Kind)
	*r = Range{Property: j.Property}
	for _, end := range []struct {
		s   *string
		dst **value.Value
	}{{j.Min, &r.Min}, {j.Max, &r.Max}} {
		if end.s == nil {
			continue
		}
		v, ok := value.ParseNumber(*end.s, kind)
		if j.Kind == value.Decimal.String() {
			v, ok = parseText(*end.s, value.Decimal)
		}
		if !ok {
			return fmt.Errorf("range of %s: %q is not a valid %s", j.Property, *end.s, j.Kind)
		}
		*end.dst = &v
	}
	return nil
}
