package toolsearch

import "testing"

func TestWithoutNames(t *testing.T) {
	for text, want := range map[string]struct {
		rest  string
		named bool
	}{
		"who calls `Store.Put`?":    {"who calls  ?", true},
		"who calls Store.Put?":      {"who calls Store.Put?", true},
		"who reads maxRetries":      {"who reads maxRetries", true},
		"what is in api/quote.go":   {"what is in api/quote.go", true},
		"`Store.Put`":               {"`Store.Put`", true},
		"user_orders":               {"user_orders", true},
		"who calls whom? Nobody.":   {"who calls whom? Nobody.", false},
		"the functions that are it": {"the functions that are it", false},
	} {
		if rest, named := withoutNames(text); rest != want.rest || named != want.named {
			t.Errorf("%q: got %q, %v", text, rest, named)
		}
	}
}

// TestNamedThing checks that a search with the exact name of a thing prefers entries that take one.
func TestNamedThing(t *testing.T) {
	asked := []Entry{
		{Name: "unused_functions", Description: "Lists functions that nobody uses.", Nameless: true},
		{Name: "callees", Description: "Lists what functions use.", Params: []string{"path"}},
	}
	for text, want := range map[string]string{
		"what functions does `Store.Put` use": "callees",
		"functions that nobody uses":          "unused_functions",
	} {
		if found := search(text, asked...); len(found) == 0 || asked[found[0]].Name != want {
			t.Errorf("%q: found %v, expected %s first", text, found, want)
		}
	}
}
