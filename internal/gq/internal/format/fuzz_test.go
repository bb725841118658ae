package format_test

import (
	"strings"
	"testing"
)

// FuzzFormat checks that every text that parses is formatted to a fixed point with the same
// tokens and comments in the same order and with the same meaning. It also replaces the white space
// and comments between the tokens with fillings, and checks the result in the same way. The
// parameter `gaps` selects the fillings.
func FuzzFormat(f *testing.F) {
	for path, text := range corpus(f) {
		f.Add(text, strings.HasSuffix(path, ".pg"), []byte{0})
		if strings.Count(text, "\n") > 100 {
			continue // the fuzzer can try more inputs with single declarations
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
					// The space prevents a keyword from starting a declaration in the first
					// column.
					b.WriteString(fillings[int(gaps[i%len(gaps)])%len(fillings)] + " ")
				}
				b.WriteString(g.token)
			}
		}
		if _, ok := checkFormat(t, name, b.String()); !ok {
			t.Errorf("the text does not parse with other white space and comments:\n%s", b.String())
		}
	})
}

// fillings lists texts that may occur between any two tokens.
var fillings = []string{
	" ", "\n", "\n\n\n", "/*c*/", " // c\n", "\n// c\n", "\n\n// c\n\n", "\n/*c*/", "/*c*/\n", "\n/*c*/\n", "/*c\nd*/",
	" // c\n// d\n\n/*e*/", " /*c*/ /*d*/ ", "\r\n\t", "\n/*c*/ /*d*/",
}
