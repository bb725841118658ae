package pattern

import (
	"strings"
	"testing"
)

func TestCompileFaults(t *testing.T) {
	for _, c := range []struct{ pattern, want string }{
		{"(a", "the pattern is not valid at its end: missing closing ): `(a`"},
		{"é[b", "the pattern is not valid at character 2: missing closing ]: `[b`"},
		{"a)", "the pattern is not valid at character 2: unexpected ): `)`"},
		{`\d\q`, "the pattern is not valid at character 3: invalid escape sequence: `\\q`"},
		{"a*(*)", "the pattern is not valid at character 4: missing argument to repetition operator: `*`"},
		{"a{1001}", "the pattern is not valid at character 2: invalid repeat count: `{1001}`"},
		{strings.Repeat("a", 1001), "the pattern has 1001 bytes, and at most 1000 are allowed"},
		{"(ab){500}", "the pattern has 2000 elements when its repetitions are written out, and at most 1000 are allowed"},
		{"(((a{10}){10}){9})", "the pattern has 1999 elements when its repetitions are written out, and at most 1000 are allowed"},
	} {
		if _, err := Compile(c.pattern); err == nil || err.Error() != c.want {
			t.Errorf("Compile(%q):\n got %v\nwant %s", c.pattern, err, c.want)
		}
	}
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"b+", "abc", true}, {"^b", "abc", false}, {"^$", "", true}, {"", "abc", true}, {"(?i)É", "é", true}, {"a.c", "a\nc", false},
		{"x$", strings.Repeat("a", 1<<21) + "x", true}, {"y$", strings.Repeat("a", 1<<21) + "x", false},
	} {
		p, err := Compile(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, stop := range []func() bool{nil, func() bool { return false }} {
			if got := p.Match(c.text, stop); got != c.want {
				t.Errorf("%q matches %.10q: %t, want %t", c.pattern, c.text, got, c.want)
			}
		}
	}
}

// TestMatchStops checks that `stop` ends a match before the match has read the whole text.
func TestMatchStops(t *testing.T) {
	p, err := Compile("(a?){100}b")
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	text := strings.Repeat("a", 1<<24)
	if p.Match(text, func() bool { calls++; return calls == 3 }) {
		t.Error("the match found a b")
	}
	if calls != 3 {
		t.Errorf("stop was called %d times, want 3", calls)
	}
}
