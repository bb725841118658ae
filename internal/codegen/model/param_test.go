package model_test

import (
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/internal/codegen/model"
)

// TestAnnotatedParam checks how the annotations of a parameter combine with the schema of the graph.
func TestAnnotatedParam(t *testing.T) {
	const schema = `node Person { slug: String @key  state: enum(open, closed)  age: I32  big: I64?  @range(age, 0..150)  @check(slug, "^[a-z]+$") }`
	const read = "($x: %) { match { $p: Person { # } } return { $p.slug } }"
	for _, tt := range []struct {
		param, match string // the type with its annotations, and the condition on the parameter
		want         model.Param
		fault        string // text of the expected fault, or ""
	}{
		{"I32 @range(10..200)", "age: $x", model.Param{Minimum: "10", Maximum: "150"}, ""},
		{"I32 @range(10..)", "age: $x", model.Param{Minimum: "10", Maximum: "150"}, ""},
		{"I32 @range(200..300)", "age: $x", model.Param{Minimum: "200", Maximum: "300"}, ""},
		{"I64 @range(1..9)", "big: $x", model.Param{Doc: "From 1 to 9."}, ""},
		{`String @check("^b")`, "slug: $x", model.Param{Pattern: "^b"}, ""},
		{`String @check("(?i)^b")`, "slug: $x", model.Param{Pattern: "^[a-z]+$"}, ""},
		{`String @default("closed") @example("open")`, "state: $x", model.Param{Default: `"closed"`, Examples: []string{`"open"`}}, ""},
		{`String @default("shut")`, "state: $x", model.Param{}, `the @default "shut" of $x is not a value of the enum of Person.state`},
		{"I32 @default(151)", "age: $x", model.Param{}, "the schema does not allow the @default of $x: found 151, expected at most 150"},
	} {
		text := "query q" + strings.NewReplacer("%", tt.param, "#", tt.match).Replace(read)
		pkg, diags := build(t, schema, gq.Source{Name: "a.gq", Text: text})
		if tt.fault != "" {
			if len(diags) != 1 || diags[0].Code != model.BadDefault || diags[0].Message != tt.fault {
				t.Errorf("%s: found %v, expected %s", tt.param, diags, tt.fault)
			}
			continue
		}
		if diags.HasErrors() {
			t.Errorf("%s: %v", tt.param, diags)
			continue
		}
		got := pkg.Queries()[0].Params[0]
		if got.Minimum != tt.want.Minimum || got.Maximum != tt.want.Maximum || got.Pattern != tt.want.Pattern || got.Doc != tt.want.Doc ||
			got.Default != tt.want.Default || strings.Join(got.Examples, ",") != strings.Join(tt.want.Examples, ",") || got.Type.Nullable != (got.Default != "") {
			t.Errorf("%s: found %+v, expected %+v", tt.param, got, tt.want)
		}
	}
}
