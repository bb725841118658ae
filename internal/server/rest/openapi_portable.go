package rest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The ends of the names of the schemas of a stored query. Generators of clients make names of their own from the
// name of an operation, such as FindParams, FindRequest or FindResponse; none of them ends like these.
const (
	bodySuffix      = "Body"
	argumentsSuffix = "Arguments"
	answerSuffix    = "Answer"
	rowSuffix       = "Row"
	recordSuffix    = "Record" // of an object within a row or within the arguments
)

// floatName is the schema of a float in an answer. JSON has no number for a float that is not finite.
const floatName = "FloatValue"

// floatSchema is the schema named floatName.
var floatSchema = map[string]any{
	"description": "A number, or a text for a float that is not finite.",
	"oneOf":       json.RawMessage(`[{"type":"number","format":"double"},{"type":"string","enum":["NaN","Infinity","-Infinity"]}]`),
}

// portable converts the schema of a value in a tool's arguments or result to the form that generators of
// clients for many languages understand:
//
//   - A 64-bit integer is a string, as the header Omnigraph-Integers demands. Most generators refuse a schema
//     with two types besides null.
//   - A float in an answer is a reference to [floatSchema].
//   - Another number has a format, because some generators otherwise take 32 bits for all integers or all floats.
//   - An enum that may be null is an enum or null. Some generators make a type for each of the two types otherwise.
//   - An object is a schema of its own. Some generators give an inline object a name that another schema has, and some
//     ignore that it may be null.
//
// name is the beginning of the names of the schemas of objects in the value.
func (d *document) portable(schema json.RawMessage, name string) (json.RawMessage, error) {
	members, err := ordered(compact(schema))
	if err != nil {
		return nil, err
	}
	types, at, err := typesOf(members)
	if err != nil {
		return nil, err
	}
	null := slices.Contains(types, "null")
	has := func(name string) bool {
		return slices.ContainsFunc(members, func(m member) bool { return m.name == name })
	}
	switch {
	case slices.Contains(types, "number") && slices.Contains(types, "string"):
		d.schemas.made[floatName] = floatSchema
		return orNull(refTo(floatName), null), nil
	case slices.Contains(types, "integer") && slices.Contains(types, "string"):
		types = slices.DeleteFunc(types, func(t string) bool { return t == "integer" })
		members[at].value = typeText(types)
		return objectText(append(members, member{"pattern", json.RawMessage(strconv.Quote(integerPattern))})), nil
	case slices.Contains(types, "integer") && !has("format"):
		return objectText(append(members, member{"format", json.RawMessage(`"int64"`)})), nil
	case slices.Contains(types, "number") && !has("format"):
		return objectText(append(members, member{"format", json.RawMessage(`"double"`)})), nil
	case null && has("enum"):
		return orNullEnum(members, at)
	case slices.Contains(types, "object") && has("properties"):
		own := d.free(name)
		d.schemas.made[own] = nil // reserves the name
		members[at].value = typeText([]string{"object"})
		if d.schemas.made[own], err = d.record(objectText(members), own); err != nil {
			return nil, err
		}
		return orNull(refTo(own), null), nil
	case slices.Contains(types, "array"):
		for i := range members {
			if members[i].name == "items" {
				if members[i].value, err = d.portable(members[i].value, name); err != nil {
					return nil, err
				}
			}
		}
	}
	return objectText(members), nil
}

// orNullEnum returns the schema of an enum that may be null, in two parts.
func orNullEnum(members []member, at int) (json.RawMessage, error) {
	for i := range members {
		if members[i].name != "enum" {
			continue
		}
		var values []*string
		if err := json.Unmarshal(members[i].value, &values); err != nil {
			return nil, fmt.Errorf("read the values %s of an enum: %w", members[i].value, err)
		}
		b, err := json.Marshal(slices.DeleteFunc(values, func(v *string) bool { return v == nil }))
		if err != nil {
			return nil, err
		}
		members[i].value = b
	}
	members[at].value = typeText([]string{"string"})
	return orNull(objectText(members), true), nil
}

// record converts the schema of an object with properties, as portable does. name is the name of the schema.
func (d *document) record(schema json.RawMessage, name string) (map[string]any, error) {
	members, err := ordered(compact(schema))
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	for _, m := range members {
		out[m.name] = m.value
		if m.name != "properties" {
			continue
		}
		properties, err := ordered(m.value)
		if err != nil {
			return nil, err
		}
		for i := range properties {
			p := &properties[i]
			if p.value, err = d.portable(p.value, strings.TrimSuffix(name, recordSuffix)+pascal(p.name)); err != nil {
				return nil, err
			}
		}
		out[m.name] = objectText(pythonOrder(properties))
	}
	return out, nil
}

// pythonOrder returns properties in an order in which the code of openapi-python-client works: it reads them one
// by one from a dictionary in a variable `d`, and would overwrite the variable with a property of that name.
func pythonOrder(properties []member) []member {
	at := slices.IndexFunc(properties, func(m member) bool { return m.name == "d" })
	if at < 0 {
		return properties
	}
	return append(slices.Delete(slices.Clone(properties), at, at+1), properties[at])
}

// free returns a name for the schema of an object: the name with recordSuffix, and with a number if another schema
// has that name.
func (d *document) free(name string) string {
	for n := 1; ; n++ {
		own := name
		if n > 1 {
			own += strconv.Itoa(n)
		}
		own += recordSuffix
		if _, made := d.schemas.made[own]; !made {
			return own
		}
	}
}

// typesOf returns the types of a schema, and the index of the keyword `type`; nil if the schema has none.
func typesOf(members []member) (types []string, at int, err error) {
	at = slices.IndexFunc(members, func(m member) bool { return m.name == "type" })
	if at < 0 {
		return nil, at, nil
	}
	var one string
	if json.Unmarshal(members[at].value, &one) == nil {
		return []string{one}, at, nil
	}
	if err := json.Unmarshal(members[at].value, &types); err != nil {
		return nil, at, fmt.Errorf("read the types %s of a schema: %w", members[at].value, err)
	}
	return types, at, nil
}

// typeText returns the value of the keyword `type`.
func typeText(types []string) json.RawMessage {
	if len(types) == 1 {
		return json.RawMessage(strconv.Quote(types[0]))
	}
	return json.RawMessage(`["` + strings.Join(types, `","`) + `"]`)
}

// refTo returns a reference to a schema.
func refTo(name string) json.RawMessage {
	return json.RawMessage(`{"$ref":"` + schemaPrefix + name + `"}`)
}

// orNull returns a schema that also allows null, if null is true.
func orNull(schema json.RawMessage, null bool) json.RawMessage {
	if !null {
		return schema
	}
	return json.RawMessage(`{"anyOf":[` + string(schema) + `,{"type":"null"}]}`)
}

// pascal returns a name in the form of the names of schemas: the words of the name, each with a capital letter at its start.
func pascal(name string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		first, n := utf8.DecodeRuneInString(word)
		b.WriteRune(unicode.ToUpper(first))
		b.WriteString(word[n:])
	}
	return b.String()
}
