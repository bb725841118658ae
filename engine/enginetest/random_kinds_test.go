package enginetest

import (
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// TestDrawnKinds checks that every kind has a row with values of that kind, and that properties
// draw every kind that can be compared.
func TestDrawnKinds(t *testing.T) {
	rows := map[value.Kind]drawnKind{}
	for _, row := range drawnKinds {
		rows[row.kind] = row
	}
	for _, k := range value.Kinds() {
		row, ok := rows[k]
		if !ok || len(row.pool) < 2 || k.IsComparable() != (row.share > 0) || k.IsNumeric() != (row.wild != nil) {
			t.Errorf("the row of %s is absent or incomplete: %+v", k, row)
		}
		for _, v := range append(row.wild, row.pool...) {
			if v.Kind() != k {
				t.Errorf("the row of %s has a value of kind %s", k, v.Kind())
			}
		}
	}
}
