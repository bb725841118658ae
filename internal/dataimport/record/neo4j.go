package record

import (
	"bytes"
	"regexp"
	"strings"
)

// neo4jColumn matches a column in the header of Neo4j's admin importer that only such a header has, such as personId:ID(Person)
// or :START_ID.
var neo4jColumn = regexp.MustCompile(`^[^:]*:(ID|START_ID|END_ID|LABEL|TYPE)(\(.*\))?(\{.*\})?$`)

// isNeo4j reports whether a header is for Neo4j's admin importer.
func isNeo4j(header []string) bool {
	for _, name := range header {
		if neo4jColumn.MatchString(name) {
			return true
		}
	}
	return false
}

// neo4jArrays is between the elements of arrays, and between labels.
const neo4jArrays = ";"

// neo4jHeader returns the names of the columns without their types and id spaces: name of name:string, personId of
// personId:ID(Person), and :START_ID of :START_ID(Person). It also returns which columns have lists. Columns with the type
// IGNORE have no name.
func neo4jHeader(header []string) (names []string, lists []bool) {
	names, lists = make([]string, len(header)), make([]bool, len(header))
	for i, column := range header {
		name, typ, _ := strings.Cut(column, ":")
		if at := strings.IndexAny(typ, "({"); at >= 0 {
			typ = typ[:at]
		}
		if name == "" {
			name = ":" + typ
		}
		if typ == "IGNORE" {
			name = ""
		}
		names[i], lists[i] = name, strings.HasSuffix(typ, "[]") || typ == "LABEL"
	}
	return names, lists
}

// splitList returns a text as a list.
func splitList(v Value) Value {
	if v.Kind != Text {
		return v
	}
	out := Value{Kind: List}
	for part := range bytes.SplitSeq(v.Raw, []byte(neo4jArrays)) {
		out.Elems = append(out.Elems, Value{Kind: Text, Raw: part})
	}
	return out
}
