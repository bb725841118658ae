package codegraph

import "testing"

func TestWords(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"HTTPServer", "http server"},
		{"parseURL", "parse url"},
		{"minHTTPID", "min httpid"},
		{"Vector2D", "vector 2 d"},
		{"snake_case", "snake case"},
		{"<get>size", "get size"},
		{"left-pad", "left pad"},
		{"x", "x"},
		{"", ""},
		{"ÄrgerÜber", "ärger über"},
		{"ABc", "a bc"},
	} {
		if got := Words(c.in); got != c.want {
			t.Errorf("Words(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	if got := Words("stock", "", "Find"); got != "stock find" {
		t.Errorf("words of several identifiers: %q", got)
	}
}
