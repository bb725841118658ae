package postgres

import (
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/value"
)

// TestParseCheck has conditions as PostgreSQL prints them. The result is the list of texts, or the bounds for an I64 and for an F64.
func TestParseCheck(t *testing.T) {
	for _, tt := range []struct{ expression, want string }{
		{`(n > 0)`, "1.. 0.."},
		{`(n >= (0)::numeric)`, "0.. 0.."},
		{`((n >= 1) AND (n < 5))`, "1..4 1..5"},
		{`(n >= '-180'::integer)`, "-180.. -180.."},
		{`(("n" >= (0)::double precision) AND ("n" <= (0.5)::double precision))`, " 0..0.5"},
		{`((VALUE > 0) AND (VALUE <= 9))`, "1..9 0..9"},
		{`(n = ANY (ARRAY['a'::text, 'b, c'::text, 'it''s'::text]))`, "a|b, c|it's"},
		{`((n)::text = ANY ((ARRAY['a'::character varying, 'b'::character varying(3)])::text[]))`, "a|b"},
		{`(n = ANY (ARRAY[1, 2]))`, "none"},
		{`((n > 1) OR (n < 0))`, "none"},
		{`(NOT (n > 1))`, "none"},
		{`(abs(n) > 1)`, "none"},
		{`(n > m)`, "none"},
		{`((n > 1) AND (n > 2))`, "none"},
		{`(length(n) > 3)`, "none"},
		{`(n ~ '^a AND n > 1$'::text)`, "none"},
		{`(n <> ALL (ARRAY['a'::text]))`, "none"},
	} {
		texts, b, ok := parseCheck("n", tt.expression)
		got := "none"
		switch {
		case texts != nil:
			got = strings.Join(texts, "|")
		case ok:
			got = b.text(value.Of(value.I64)) + " " + b.text(value.Of(value.F64))
		}
		if got != tt.want {
			t.Errorf("%s: found %q, expected %q", tt.expression, got, tt.want)
		}
	}
}
