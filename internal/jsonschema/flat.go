package jsonschema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Flat returns the input schema of a stored query, of either profile, with the parameters at the top instead of in the member
// params, and with the other members in the member `options`. If a parameter has one of the reserved names, which mean an option at
// the top, Flat returns the schema unchanged.
func Flat(schema json.RawMessage, options string, reserved []string) json.RawMessage {
	whole := objectOf(schema)
	params := string(whole.members["params"])
	if params == "" {
		params = `{"properties":{},"additionalProperties":false,"type":"object","required":[]}`
	}
	inner := objectOf(json.RawMessage(params))
	for _, name := range append([]string{"params", options}, reserved...) {
		if _, ok := inner.members[name]; ok {
			return schema
		}
	}
	rest := strings.Replace(string(whole.Properties), `"params":`+string(whole.members["params"])+",", "", 1) // params is the first of several
	outside := slices.DeleteFunc(slices.Clone(whole.Required), func(name string) bool { return name == "params" })
	under := `{"properties":` + rest + `,"additionalProperties":false,"type":"object","required":` + listOf(outside) + `}`
	comma := ","
	if len(inner.members) == 0 {
		comma = ""
	}
	properties := strings.TrimSuffix(string(inner.Properties), "}") + comma + `"` + options + `":` + under + `}`
	required := slices.Clone(inner.Required)
	if len(outside) > 0 { // the profile that requires every member
		required = append(required, options)
	}
	return json.RawMessage(`{"properties":` + properties + `,"additionalProperties":false,"type":"object","required":` + listOf(required) + `}`)
}

// object is the schema of an object.
type object struct {
	Properties json.RawMessage
	Required   []string
	members    map[string]json.RawMessage // the schemas in Properties
}

// objectOf reads the schema of an object.
func objectOf(schema json.RawMessage) (o object) {
	err := json.Unmarshal(schema, &o)
	if o.Properties == nil {
		o.Properties = json.RawMessage("{}")
	}
	if err == nil {
		err = json.Unmarshal(o.Properties, &o.members)
	}
	if err != nil {
		panic(fmt.Sprintf("jsonschema: read the input schema %s: %v", schema, err))
	}
	return o
}

// listOf returns names as a JSON array.
func listOf(names []string) string {
	if len(names) == 0 {
		return "[]"
	}
	b, err := json.Marshal(names)
	if err != nil {
		panic(err) // strings always encode
	}
	return string(b)
}
