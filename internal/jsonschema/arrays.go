package jsonschema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// ArrayRows returns the output schema of a tool whose rows are arrays of their values, in the order of the member
// `columns`, instead of objects. The given schema has rows as objects. ArrayRows returns other schemas unchanged.
func ArrayRows(schema json.RawMessage) json.RawMessage {
	var s struct {
		Properties struct {
			Columns json.RawMessage
			Rows    struct{ Items json.RawMessage }
		}
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		panic(fmt.Sprintf("jsonschema: read the output schema %s: %v", schema, err))
	}
	items := s.Properties.Rows.Items
	if len(items) == 0 {
		return schema
	}
	var row struct {
		Type       string
		Properties map[string]json.RawMessage
		Required   []string // all columns in order, because a column without a value is null
	}
	if err := json.Unmarshal(items, &row); err != nil || row.Type != "object" || len(row.Properties) != len(row.Required) {
		panic(fmt.Sprintf("jsonschema: the rows of an output schema are not objects with all columns: %s", items))
	}
	array := []byte(`{"type":"array"`)
	for i, name := range row.Required {
		if array = append(array, ','); i == 0 {
			array = append(array, `"prefixItems":[`...)
		}
		array = append(array, row.Properties[name]...)
	}
	if n := len(row.Required); n > 0 {
		count := strconv.Itoa(n)
		array = append(array, `],"minItems":`+count+`,"maxItems":`+count...)
	}
	array = append(array, '}')
	before := `"rows":{"items":`
	after := before
	if s.Properties.Columns == nil { // a mutation, whose one row has its names in objects only
		after = `"columns":{"items":{"type":"string"},"type":"array"},` + before
	}
	text := bytes.Replace(schema, append([]byte(before), items...), append([]byte(after), array...), 1)
	return bytes.Replace(text, []byte("Each row with its columns by name."), []byte("Each row: its values in the order of columns."), 1)
}
