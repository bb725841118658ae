package lex_test

import (
	"fmt"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
)

var kinds = map[lex.Kind]string{lex.Word: "word", lex.Dollar: "dollar", lex.Text: "text", lex.Number: "number", lex.Mark: "mark"}

func TestScan(t *testing.T) {
	for text, want := range map[string]string{
		`p.age >= 1.5 -- old`:       `word "p" mark "." word "age" mark ">=" number "1.5" `,
		`'it''s' "a\"b"`:            `text "it's" text "a\"b" `,
		"`order` $x /* a */ [1..3]": `word "order" dollar "x" mark "[" number "1" mark ".." number "3" mark "]" `,
		`a // b`:                    `word "a" `,
		`'open`:                     `none`,
		`/* open`:                   `none`,
		`a \ b`:                     `none`,
	} {
		got := ""
		tokens, ok := lex.Scan(text)
		for _, x := range tokens {
			got += fmt.Sprintf("%s %q ", kinds[x.Kind], x.Text)
		}
		if !ok {
			got = "none"
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
