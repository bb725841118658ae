package restricted

import (
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
)

// TestWithoutNames tests that the error of a write has no name of a hidden property, also if a rule is about several properties.
func TestWithoutNames(t *testing.T) {
	broken := func(property string) error {
		return &engine.ConstraintViolation{Entity: "node", Type: "Person", ID: "ada", Property: property, Rule: "unique", Detail: "taken"}
	}
	for _, c := range []struct {
		err   error
		shown bool
	}{
		{broken("name"), true},
		{broken("name, bio"), true},
		{broken("pay"), false},
		{broken("name, pay"), false},
		{broken("pay, name"), false},
		{broken(""), true},
		{&engine.LoadErrors{Lines: []engine.LineError{{Line: 1, Field: "data.pay", Err: broken("name, pay")}}}, false},
		{&engine.NotAllowed{Entity: "node", Type: "Person", Property: "pay"}, false},
	} {
		got := withoutNames(c.err, hiding("Person.pay"))
		if c.shown != (got == c.err) || !c.shown && strings.Contains(got.Error(), "pay") {
			t.Errorf("%v became %v", c.err, got)
		}
	}
}
