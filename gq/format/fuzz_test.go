package format_test

import (
	"strings"
	"testing"
)

// FuzzFormat: what parses is formatted to a fixed point of the same tokens and
// comments, in the same order, and the same meaning; and so it is with other things
// between its tokens, which gaps chooses.
func FuzzFormat(f *testing.F) {
	for path, text := range corpus(f) {
		f.Add(text, strings.HasSuffix(path, ".pg"), []byte{0})
		if strings.Count(text, "\n") > 100 {
			continue // its declarations alone let the fuzzer try more
		}
		for _, d := range declarations(path, text) {
			f.Add(d.text, strings.HasSuffix(path, ".pg"), []byte{byte(len(d.text)), 0, 1})
		}
	}
	for i, p := range productions {
		f.Add(p.cramped, p.file == "x.pg", []byte{byte(i), 0, 0, 0})
	}
	f.Fuzz(func(t *testing.T, text string, schema bool, gaps []byte) {
		name := "x.gq"
		if schema {
			name = "x.pg"
		}
		if _, ok := checkFormat(t, name, text); !ok || len(gaps) == 0 {
			return
		}
		var b strings.Builder
		for _, d := range declarations(name, text) {
			for i, g := range d.gaps {
				if !g.firm {
					// A keyword in the first column would start a declaration.
					b.WriteString(fillings[int(gaps[i%len(gaps)])%len(fillings)] + " ")
				}
				b.WriteString(g.token)
			}
		}
		if _, ok := checkFormat(t, name, b.String()); !ok {
			t.Errorf("does not parse with other gaps:\n%s", b.String())
		}
	})
}

// fillings are what can stand between any two tokens.
var fillings = []string{
	" ", "\n", "\n\n\n", "/*c*/", " // c\n", "\n// c\n", "\n\n// c\n\n", "\n/*c*/", "/*c*/\n", "\n/*c*/\n", "/*c\nd*/",
	" // c\n// d\n\n/*e*/", " /*c*/ /*d*/ ", "\r\n\t", "\n/*c*/ /*d*/",
}
