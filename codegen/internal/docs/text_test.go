package docs

import "testing"

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"List people, the best first (find_person).":  "List people, the best first (find_person).",
		"<script>alert(1)</script>":                   `\<script\>alert(1)\</script\>`,
		"[here](https://example.com)":                 `\[here\](https\://example.com)`,
		"see www.example.com":                         `see www\.example.com`,
		"a@example.com":                               `a\@example.com`,
		"![x](y)":                                     `!\[x\](y)`,
		"**bold** _it_ __x__ a_b `code`":              "\\*\\*bold\\*\\* \\_it\\_ \\_\\_x\\_\\_ a_b \\`code\\`",
		"# one\n- two\n 3. three\n---\n===\n    code": "\\# one\n\\- two\n3\\. three\n\\---\n\\===\ncode",
		"&lt;b&gt; $x$ ~~y~~":                         `\&lt;b\&gt; \$x\$ \~\~y\~\~`,
		`a\b`:                                         `a\\b`,
		"such as: a word":                             "such as: a word",
	} {
		if got := plain(text); got != want {
			t.Errorf("plain(%q) = %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{"a": "`a`", "a`b": "`` a`b ``", "``": "``` `` ```"} {
		if got := code(text); got != want {
			t.Errorf("code(%q) = %q, want %q", text, got, want)
		}
	}
}
