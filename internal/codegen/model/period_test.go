package model_test

import (
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq"
)

// TestPeriodEnd checks the example of the end of a period, which must be after the start in an example call.
func TestPeriodEnd(t *testing.T) {
	for _, c := range []struct{ params, valid, want string }{
		{"$a: Date, $b: Date", "during $a, $b", `"2024-05-02"`},
		{"$a: Date, $b: DateTime", "during $a, $b", `"2024-05-02T12:30:00.000Z"`},
		{`$a: Date @example(date("2026-12-31")), $b: Date`, "during $a, $b", `"2027-01-01"`},
		{`$a: Date @default(date("2026-12-31")), $b: Date`, "during $a, $b", `"2027-01-01"`},
		{`$a: Date, $b: Date @example(date("2030-01-01"))`, "during $a, $b", `"2030-01-01"`},
		{"$a: Date, $b: Date", `during date("2025-03-01"), $b`, `"2025-03-02"`},
		{`$a: Date @example(date("9999-12-31")), $b: Date`, "during $a, $b", ""},
		{`$a: Date @example(date("9999-12-31")), $b: DateTime`, "during $a, $b", ""},
		{"$a: Date, $b: Date", "during now(), $b", `"9999-12-31"`},
		{"$a: Date, $b: Date", "during $b, $a", ""},
		{"$a: Date, $b: Date", "at $b", ""},
	} {
		pkg, diags := build(t, "node A @valid(since, until) { slug: String @key since: Date until: Date? }",
			gq.Source{Name: "a.gq", Text: "query q(" + c.params + ") { match valid " + c.valid + " { $a: A } return { $a.slug } }"})
		if err := diags.Err(); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(pkg.Queries()[0].Params[1].Examples, " "); got != c.want {
			t.Errorf("%s, %s: %s, expected %s", c.params, c.valid, got, c.want)
		}
	}
}
