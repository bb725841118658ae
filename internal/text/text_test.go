package text

import (
	"slices"
	"testing"
)

func TestTokens(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"", nil},
		{"The quick brown foxes", []string{"quick", "brown", "fox"}},
		{"Generations of running, runners' RUN!", []string{"generat", "run", "runner", "run"}},
		{"don't can't", nil},
		{"x86 v1.26.8 3,000", []string{"x86", "v1.26.8", "3,000"}},
		{"naïve Straße", []string{"naïv", "straße"}},
		{"— … !", nil},
		{"read_file readFile", []string{"read_fil", "readfil"}},
	} {
		if got := AppendTokens(nil, c.in); !slices.Equal(got, c.want) {
			t.Errorf("tokens of %q are %q, want %q", c.in, got, c.want)
		}
	}
}

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		a, b  string
		limit int
		want  bool
	}{
		{"", "", 0, true},
		{"abc", "abc", 0, true},
		{"abc", "abd", 0, false},
		{"abc", "abd", 1, true},
		{"kitten", "sitting", 2, false},
		{"kitten", "sittin", 2, true},
		{"ab", "ba", 1, false},
		{"ab", "ba", 2, true},
		{"", "abc", 2, false},
		{"é", "e", 1, true},
	} {
		if got := Within(c.a, c.b, c.limit); got != c.want {
			t.Errorf("Within(%q, %q, %d) = %v", c.a, c.b, c.limit, got)
		}
		if got := Within(c.b, c.a, c.limit); got != c.want {
			t.Errorf("Within(%q, %q, %d) = %v", c.b, c.a, c.limit, got)
		}
	}
}

func FuzzTokens(f *testing.F) {
	f.Add("The quick brown foxes")
	f.Add("\xff\x00 it's")
	f.Fuzz(func(t *testing.T, s string) {
		for _, w := range AppendTokens(nil, s) {
			if w == "" {
				t.Errorf("%q has an empty token", s)
			}
		}
	})
}
