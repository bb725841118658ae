package tool

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"
)

// TestActions checks that each constant of type Action has one row, and that the rows are
// consistent.
func TestActions(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "actions.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	constants := map[Action]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "Action" {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			constants[Action(text)] = spec.Names[0].Name
		}
		return true
	})
	if len(constants) < 10 {
		t.Fatalf("found %d constants: %v", len(constants), constants)
	}
	rows := map[Action]int{}
	for _, row := range Actions() {
		rows[row.Action]++
		if constants[row.Action] == "" {
			t.Errorf("%s has a row and no constant", row.Action)
		}
		if row.NeedsRead && !(row.Writes && row.Branch()) {
			t.Errorf("%s needs read, and is no write to a branch", row.Action)
		}
		if row.ByVia() && !row.Branch() {
			t.Errorf("%s distinguishes via, and is not on a branch", row.Action)
		}
	}
	for action, name := range constants {
		if rows[action] != 1 || action.Row().Action != action {
			t.Errorf("%s has %d rows, expected 1", name, rows[action])
		}
	}
	if row := Action("nosuch").Row(); *row != (ActionRow{}) {
		t.Errorf("an unknown action has the row %+v", row)
	}
}
