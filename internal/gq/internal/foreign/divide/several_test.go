package divide_test

import (
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/divide"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
)

// words writes parts with spaces between their tokens and bars between them.
func words(parts [][]lex.Token) string {
	var out []string
	for _, p := range parts {
		var text []string
		for _, t := range p {
			if t.Kind == lex.Dollar {
				t.Text = "$" + t.Text
			}
			text = append(text, t.Text)
		}
		out = append(out, strings.Join(text, " "))
	}
	return strings.Join(out, " | ")
}

func TestFieldParts(t *testing.T) {
	for text, want := range map[string]string{
		`query q($a: Int, $b: Int) { x(first: $a) { name } y(first: $b) { name } }`: `query ( $a : Int , ) { x ( first : $a ) { name } } | query ( $b : Int ) { y ( first : $b ) { name } }`,
		`{ x { name } }`:     ``,
		`query({(}(}}`:       ``,
		`MATCH (p) RETURN p`: ``,
	} {
		tokens, _ := lex.Scan(text)
		if got := words(divide.FieldParts(tokens)); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func TestUnion(t *testing.T) {
	for text, want := range map[string]string{
		`SELECT a FROM x UNION ALL SELECT b FROM y ORDER BY 1`: `SELECT a FROM x ORDER BY 1 | SELECT b as a FROM y ORDER BY 1`,
		`MATCH (p) RETURN p; MATCH (q) RETURN q`:               `MATCH ( p ) RETURN p | MATCH ( q ) RETURN q`,
		`SELECT (SELECT 1 UNION SELECT 2) FROM x`:              ``,
	} {
		tokens, _ := lex.Scan(text)
		if got := words(divide.UnionOf(tokens).Parts); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
