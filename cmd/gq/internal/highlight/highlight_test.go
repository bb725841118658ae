package highlight_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/cmd/gq/internal/highlight"
)

// TestFresh compares the grammars of the editors with the table.
func TestFresh(t *testing.T) {
	files := highlight.Files()
	if len(files) != 4 {
		t.Errorf("%d files, want 4", len(files))
	}
	for path, want := range files {
		got, err := os.ReadFile(filepath.Join("../../editors", filepath.FromSlash(path)))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("cmd/gq/editors/%s is stale; run go generate ./cmd/gq/editors/highlighting", path)
		}
	}
}

// TestTable checks that each class has a type of semantic tokens, and that a row with a scope has a
// pattern or words.
func TestTable(t *testing.T) {
	for c := highlight.Comment; c <= highlight.Operator; c++ {
		if highlight.Semantic(c) == "" {
			t.Errorf("class %d has no type of semantic tokens", c)
		}
	}
	for _, r := range highlight.Table {
		byHand := r.Class == highlight.Comment || r.Class == highlight.String
		if matches := r.Pattern != "" || r.Words != nil; matches == byHand && r.Scope != "" {
			t.Errorf("class %d: the row needs a pattern or words", r.Class)
		}
		if (r.Scope == "") != (r.Vim == "") {
			t.Errorf("class %d: the scope is %q and the group of Vim %q; set both or none", r.Class, r.Scope, r.Vim)
		}
	}
}

// TestTextMate applies the rules of the grammar for queries to small texts as an editor does: the leftmost
// match wins, and of several at one place the first rule.
func TestTextMate(t *testing.T) {
	var grammar struct {
		Patterns []struct{ Name, Match, Begin string }
	}
	if err := json.Unmarshal(highlight.TextMate(highlight.Languages[0]), &grammar); err != nil {
		t.Fatal(err)
	}
	scopeAt := func(text string) string {
		for _, p := range grammar.Patterns {
			// Regular expressions in Go have no look-behind and no look-ahead, so the test removes
			// them. The texts are chosen so that they would hold.
			match := strings.NewReplacer(`(?<![A-Za-z0-9_$.])`, ``, `(?![A-Za-z0-9_])`, `\b`, `(?=[ \t]*:)`, `[ \t]*:`).Replace(p.Match + p.Begin)
			if regexp.MustCompile(`^(?:` + match + `)`).MatchString(text) {
				return p.Name
			}
		}
		return ""
	}
	for text, want := range map[string]string{
		"// a": "comment.line.double-slash.gq", "/* a */": "comment.block.gq", `"a"`: "string.quoted.double.gq", "@mcp(": "storage.modifier.annotation.gq",
		"$p knows": "variable.other.gq", "String)": "support.type.gq", "DateTime": "support.type.gq", "Person {": "entity.name.type.gq", "12": "constant.numeric.gq", "1.5": "constant.numeric.gq",
		"name: $n": "variable.other.member.gq", "count($p)": "support.function.gq", "match {": "keyword.control.gq", "query q": "keyword.control.gq",
		"!= 3": "keyword.operator.gq", "knows $q": "",
	} {
		if got := scopeAt(text); got != want {
			t.Errorf("%q has the scope %q, want %q", text, got, want)
		}
	}
}
