package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// encodingVersion numbers the layout of an encoded schema.
//
// Version 1 is a JSON object {"version": 1, "schema": …} of the schema's fields under
// their JSON names; the ends of a range are decimal strings beside the kind of number.
const encodingVersion = 1

type envelope struct {
	Version int     `json:"version"`
	Schema  *Schema `json:"schema"`
}

// Encode writes a schema for Decode. Equal schemas have equal encodings.
func Encode(s *Schema) []byte {
	b, err := json.Marshal(envelope{encodingVersion, s})
	if err != nil {
		panic("catalog: a schema of plain fields cannot be encoded: " + err.Error())
	}
	return b
}

// VersionError says that an encoding is of a version that this program does not know.
type VersionError struct{ Version int }

func (e *VersionError) Error() string {
	return fmt.Sprintf("schema encoding version %d is unknown; this program reads version %d", e.Version, encodingVersion)
}

// Decode reads what Encode wrote. The error is a *VersionError when a newer program
// wrote it.
func Decode(b []byte) (*Schema, error) {
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, fmt.Errorf("schema encoding: %w", err)
	}
	if head.Version != encodingVersion {
		return nil, &VersionError{head.Version}
	}
	env := envelope{}
	if err := json.Unmarshal(b, &env); err != nil {
		return nil, fmt.Errorf("schema encoding: %w", err)
	}
	if env.Schema == nil {
		return nil, fmt.Errorf("schema encoding: no schema in it")
	}
	if err := env.Schema.verify(); err != nil {
		return nil, fmt.Errorf("schema encoding: %w", err)
	}
	env.Schema.Index()
	return env.Schema, nil
}

// Digest identifies a schema, whatever the layout and comments of its source:
// sha256: and the hash of its encoding in hex.
func Digest(s *Schema) string {
	sum := sha256.Sum256(Encode(s))
	return "sha256:" + hex.EncodeToString(sum[:])
}

type rangeJSON struct {
	Property string  `json:"property"`
	Kind     string  `json:"kind"`
	Min      *string `json:"min,omitempty"`
	Max      *string `json:"max,omitempty"`
}

// MarshalJSON writes the ends as decimal strings, which lose nothing.
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

// UnmarshalJSON reads what MarshalJSON wrote.
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
		if !ok {
			return fmt.Errorf("range of %s: %q is no %s", j.Property, *end.s, j.Kind)
		}
		*end.dst = &v
	}
	return nil
}
