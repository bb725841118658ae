package format_test

import (
	"os"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
	"github.com/omnigraph-go/omnigraph/internal/slow"
)

func TestComments(t *testing.T) {
	const del = "delete A where a = 1"
	for _, tt := range []struct{ name, text, want string }{
		{"alone", "// a", "// a\n"},
		{"alone, block", " /* a */ ", "/* a */\n"},
		{"at the start", "// a\n\n\n// b\nquery q() { " + del + " }", "// a\n\n// b\nquery q() { " + del + " }\n"},
		{"on the line of the declaration", "/* a */ /* b */query q() { " + del + " }", "/* a */ /* b */ query q() { " + del + " }\n"},
		{"at the end", "query q() { " + del + " } // a\n// b\n\n\n// c", "query q() { " + del + " } // a\n// b\n\n// c\n"},
		{"between declarations", "query q() { " + del + " }\n// a\nquery r() { " + del + " }", "query q() { " + del + " }\n\n// a\nquery r() { " + del + " }\n"},
		{"after a declaration", "query q() { " + del + " }\n// a\n\nquery r() { " + del + " }", "query q() { " + del + " }\n// a\n\nquery r() { " + del + " }\n"},
		{"between declarations on one line", "query q() { " + del + " } /* a */ query r() { " + del + " }", "query q() { " + del + " } /* a */\n\nquery r() { " + del + " }\n"},
		{"after the opening brace", "query q() { // a\n" + del + " }", "query q() { // a\n  " + del + "\n}\n"},
		{"before the first", "query q() {\n\n\n // a\n" + del + " }", "query q() {\n  // a\n  " + del + "\n}\n"},
		{"before the closing brace", "query q() { " + del + "\n// a\n\n}", "query q() {\n  " + del + "\n  // a\n}\n"},
		{"on the line of the closing brace", "query q() { " + del + "\n/* a */ }", "query q() {\n  " + del + "\n  /* a */\n}\n"},
		{"between statements", "query q() {\n" + del + "\n\n// a\n\n" + del + " }", "query q() {\n  " + del + "\n\n  // a\n\n  " + del + "\n}\n"},
		{"within a line", "query q() { delete/*a*/A where/*b*/a/*c*/= 1/*d*/}", "query q() { delete /*a*/ A where /*b*/ a /*c*/ = 1 /*d*/ }\n"},
		{"in the middle of a statement", "query q() {\ndelete A // a\nwhere a\n// b\n= 1 }", "query q() {\n  delete A // a\n    where a\n    // b\n    = 1\n}\n"},
		{"before the brace", "query q() // a\n{ " + del + " }", "query q() // a\n{ " + del + " }\n"},
		{"between annotations", "query q()\n// a\n\n@description(\"x\") // b\n/* c */ @instruction(\"y\") /* d */ { " + del + " }",
			"query q()\n  // a\n  @description(\"x\") // b\n  /* c */ @instruction(\"y\") /* d */\n{\n  " + del + "\n}\n"},
		{"in an annotation", "query q() @description( // a\n\"x\"\n// b\n) { " + del + " }", "query q()\n  @description( // a\n    \"x\"\n    // b\n    )\n{\n  " + del + "\n}\n"},
		{"after commas", "query q($a: I32, // a\n$b: I32 // b\n) { " + del + " }", "query q(\n  $a: I32, // a\n  $b: I32 // b\n) { " + del + " }\n"},
		{"before commas", "query q($a: I32 // a\n, /* c */ $b: I32) { " + del + " }", "query q(\n  $a: I32, // a\n  /* c */ $b: I32\n) { " + del + " }\n"},
		{"after the last comma", "query q() { insert A { a: 1, // a\n } }", "query q() {\n  insert A {\n    a: 1 // a\n  }\n}\n"},
		{"around the last comma", "query q() { insert A { a: 1 /* a */ , /* b */ } }", "query q() { insert A { a: 1 /* a */ /* b */ } }\n"},
		{"in empty brackets", "query q(/* a */) { insert A { // b\n } }", "query q( /* a */ ) {\n  insert A { // b\n  }\n}\n"},
		{"on its own line in empty brackets", "query q() { insert A {\n\n// b\n\n } }", "query q() {\n  insert A {\n    // b\n  }\n}\n"},
		{"in a list", "query q() { insert A { a: [1, // a\n2, 3,\n/* b */ 4] } }", "query q() {\n  insert A {\n    a: [\n      1, // a\n      2, 3,\n      /* b */ 4\n    ]\n  }\n}\n"},
		{"block over lines", "query q() { " + del + " /* a \n\tb\t\n*/ }", "query q() {\n  " + del + " /* a\n\tb\n*/\n}\n"},
		{"ignore", "// gq:ignore L107 reason\nquery q() { " + del + " }", "// gq:ignore L107 reason\nquery q() { " + del + " }\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := checkFormat(t, "x.gq", tt.text)
			if diff := gocmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestCommentsEverywhere puts comments, line breaks and blank lines into every gap between two
// tokens of texts that contain every construct.
func TestCommentsEverywhere(t *testing.T) {
	slow.Test(t)
	for _, path := range []string{"testdata/query.gq", "testdata/schema.pg"} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range declarations(path, string(b)) {
			for _, g := range decl.gaps {
				for _, s := range fillings {
					text := decl.text[:g.offset] + s + decl.text[g.offset:]
					if _, ok := checkLayout(t, path, text); ok == g.firm {
						t.Errorf("parses: %v\n%s", ok, text)
					}
				}
			}
		}
	}
}

type declaration struct {
	text string
	gaps []opening
}

// opening is the place before a token, or at the end of a declaration.
type opening struct {
	offset int
	token  string
	firm   bool // it is inside an enum value, whose tokens must stay together
}

func declarations(name, text string) []declaration {
	var all [][]syntax.Token
	if strings.HasSuffix(name, ".pg") {
		tree, _ := syntax.ParseSchema(name, text)
		for _, d := range tree.Decls {
			switch d := d.(type) {
			case *syntax.Interface:
				all = append(all, d.Tokens)
			case *syntax.Node:
				all = append(all, d.Tokens)
			case *syntax.Edge:
				all = append(all, d.Tokens)
			}
		}
	} else {
		tree, _ := syntax.ParseQueries(name, text)
		for _, q := range tree.Queries {
			all = append(all, q.Tokens)
		}
	}
	var out []declaration
	for _, tokens := range all {
		first, last := tokens[0].Pos.Offset, tokens[len(tokens)-1]
		d := declaration{text: text[first : last.Pos.Offset+len(last.Value)]}
		for i, t := range tokens {
			firm := i > 0 && isPart(tokens[i-1]) && isPart(t) && tokens[i-1].Pos.Offset+len(tokens[i-1].Value) == t.Pos.Offset
			d.gaps = append(d.gaps, opening{t.Pos.Offset - first, t.Value, firm})
		}
		d.gaps = append(d.gaps, opening{offset: len(d.text)})
		out = append(out, d)
	}
	return out
}

func isPart(t syntax.Token) bool {
	return t.Type == syntax.Name || t.Type == syntax.TypeName || t.Type == syntax.Int || t.Value == "-"
}
