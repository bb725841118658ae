package client

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// returned decodes the row that a mutation returned. A column that holds a whole node becomes one
// value for each field of the node.
func returned(columns []plan.Column, rows []Row) ([]value.Value, error) {
	if columns == nil || len(rows) == 0 {
		return nil, nil
	}
	members, err := object(json.RawMessage(rows[0]))
	if err != nil {
		return nil, err
	}
	var row []value.Value
	for _, c := range columns {
		if c.Fields == nil {
			v, err := cell(c.Type, members[c.Name])
			if err != nil {
				return nil, fmt.Errorf("column %s: %w", c.Name, err)
			}
			row = append(row, v)
			continue
		}
		fields, err := object(members[c.Name])
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Name, err)
		}
		for _, f := range c.Fields {
			v, err := cell(f.Type, fields[f.Name])
			if err != nil {
				return nil, fmt.Errorf("column %s, field %s: %w", c.Name, f.Name, err)
			}
			row = append(row, v)
		}
	}
	return row, nil
}

// object returns the members of a JSON object. It returns nil for null.
func object(b json.RawMessage) (map[string]json.RawMessage, error) {
	var members map[string]json.RawMessage
	err := json.Unmarshal(b, &members)
	return members, err
}

// cell decodes a value of the type `t`. It returns null if the JSON is null or missing.
func cell(t value.Type, b json.RawMessage) (value.Value, error) {
	if len(b) == 0 || string(b) == "null" {
		return value.Null, nil
	}
	if t.List {
		var parts []json.RawMessage
		if err := json.Unmarshal(b, &parts); err != nil {
			return value.Null, err
		}
		elems := make([]value.Value, len(parts))
		for i, part := range parts {
			var err error
			if elems[i], err = cell(t.Elem().Required(), part); err != nil {
				return value.Null, err
			}
		}
		return value.OfList(t.Kind, elems), nil
	}
	switch {
	case t.Kind == value.Vector:
		var vector []float32
		err := json.Unmarshal(b, &vector)
		return value.OfVector(vector), err
	case t.Kind == value.Bool:
		var truth bool
		err := json.Unmarshal(b, &truth)
		return value.OfBool(truth), err
	case t.Kind.IsNumeric():
		text := string(bytes.Trim(b, `"`)) // the server writes large integers as strings for models
		v, ok := value.ParseNumber(text, t.Kind)
		if !ok {
			return value.Null, fmt.Errorf("%s is not a value of type %s", text, t.Kind)
		}
		return v, nil
	}
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return value.Null, err
	}
	switch {
	case t.Kind == value.Decimal:
		return value.ParseDecimal(text, t)
	case t.Kind.HasText():
		return t.Kind.Parse(text)
	}
	return value.OfString(text), nil
}
