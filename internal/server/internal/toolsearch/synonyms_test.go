package toolsearch

import (
	"slices"
	"strings"
	"testing"
)

// TestThesaurus checks that each line of synonyms.txt is a group: at least two members, none of
// them twice or without letters, and no line twice.
func TestThesaurus(t *testing.T) {
	a := newAnalyzer()
	lines := map[string]bool{}
	for line := range strings.Lines(synonymsText) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		words := strings.Split(line, ",")
		for i := range words {
			words[i] = strings.TrimSpace(words[i])
			if len(a.tokens(words[i])) == 0 {
				t.Errorf("%q has an empty member", line)
			}
		}
		slices.Sort(words)
		if len(slices.Compact(slices.Clone(words))) != len(words) || len(words) < 2 {
			t.Errorf("%q has a member twice, or fewer than two members", line)
		}
		if sorted := strings.Join(words, ","); lines[sorted] {
			t.Errorf("%q is there twice", line)
		} else {
			lines[sorted] = true
		}
	}
	for word := range negations {
		if word != "not" && !slices.Contains(english().near["not"], word) {
			t.Errorf("%q is not in the group of \"not\"", word)
		}
	}
}

func TestPhrases(t *testing.T) {
	for text, want := range map[string]string{"took time off": "", "time off work": "time off", "out of offices": "out of offic", "outer": ""} {
		got := ""
		if p := english().phrasesAt(newAnalyzer().tokens(text)); len(p) > 0 {
			got = strings.Join(p[0], " ")
		}
		if got != want {
			t.Errorf("%q begins with the phrase %q, want %q", text, got, want)
		}
	}
}

func TestTokens(t *testing.T) {
	for text, want := range map[string]string{
		"the client's unsigned contracts": "the client not sign contract",
		"who bought it":                   "who buy it",
		"isn't under a unit":              "is not under a unit",
		"callersOfSymbol":                 "caller of symbol",
		"commitments of departments":      "commitment of department",
		"":                                "",
	} {
		var got []string
		for _, token := range newAnalyzer().tokens(text) {
			got = append(got, token.text)
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestAlike(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"depart", "departur", true}, {"satisfact", "satisfi", true}, {"employ", "employe", true},
		{"complet", "compli", false}, {"for", "form", false}, {"inter", "interconnect", false}, {"time", "time off", false},
	} {
		if alike(tt.a, tt.b) != tt.want || alike(tt.b, tt.a) != tt.want {
			t.Errorf("%s and %s: want %t", tt.a, tt.b, tt.want)
		}
	}
}

func TestIntentOf(t *testing.T) {
	for text, want := range map[string]intent{
		"create a task": change, "I want to cancel an order": change, "please remove it": change, "open a ticket": change,
		"open tickets": either, "report": either, "orders of a customer": read, "who created this": read, "": read,
	} {
		if got := intentOf(text); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}
