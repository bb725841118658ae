package infer

import (
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
	"golang.org/x/text/unicode/norm"
)

// wordsOf splits a name into lower-case words of ASCII letters and digits.
func wordsOf(name string) []string {
	plain, _, err := transform.String(transform.Chain(norm.NFD, runes.Remove(runes.In(unicode.Mn)), norm.NFC), name)
	if err != nil {
		plain = name
	}
	var words []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
			word = nil
		}
	}
	letters := []rune(plain)
	for i, r := range letters {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
		case r >= 'A' && r <= 'Z':
			before := i > 0 && (letters[i-1] >= 'a' && letters[i-1] <= 'z' || letters[i-1] >= '0' && letters[i-1] <= '9')
			acronymEnds := i > 0 && i+1 < len(letters) && letters[i-1] >= 'A' && letters[i-1] <= 'Z' && letters[i+1] >= 'a' && letters[i+1] <= 'z'
			if before || acronymEnds {
				flush()
			}
		case unicode.IsLetter(r): // left out within a word
			continue
		default:
			flush()
			continue
		}
		word = append(word, r)
	}
	flush()
	return words
}

// singular returns the singular of an English noun, by its ending.
func singular(w string) string {
	switch {
	case w == "series", w == "species":
		return w
	case w == "movies", w == "cookies", w == "calories", w == "ties", w == "pies":
		return w[:len(w)-1]
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "xes"), strings.HasSuffix(w, "ches"), strings.HasSuffix(w, "shes"):
		return w[:len(w)-2]
	case w == "people":
		return "person"
	case len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is"):
		return w[:len(w)-1]
	}
	return w
}

// typeName returns the name of the type of a file: Port for ports.csv.
func typeName(file string) string {
	base := filepath.Base(file)
	if dot := strings.IndexByte(base, '.'); dot > 0 {
		base = base[:dot]
	}
	words := wordsOf(base)
	if len(words) > 0 {
		words[len(words)-1] = singular(words[len(words)-1])
	}
	return pascal(words)
}

// typeOfTable returns the name of the type of a table of a database: Order for sales.orders.
func typeOfTable(table string) string {
	return typeName(table[strings.LastIndexByte(table, '.')+1:])
}

// pascal joins words as the name of a type.
func pascal(words []string) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	if s := b.String(); s != "" && s[0] >= 'A' && s[0] <= 'Z' {
		return s
	}
	return "T" + b.String()
}

// propertyName returns the name of the property of a column: home_port for HomePort.
func propertyName(column string) string {
	s := strings.Join(wordsOf(column), "_")
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		s = "c_" + s
	}
	return s
}

// unique returns a name that is not in `taken`, ignoring case, and adds it.
func unique(name string, taken map[string]bool) string {
	out := name
	for i := 2; taken[strings.ToLower(out)]; i++ {
		out = name + strconv.Itoa(i)
	}
	taken[strings.ToLower(out)] = true
	return out
}

// count formats a number with commas between thousands.
func count(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
