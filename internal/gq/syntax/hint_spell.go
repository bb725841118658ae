package syntax

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// expand inserts names of the source into a help text. %1 is the token that matched the first term.
// A letter before the digit changes the form: `l` lower-cases the first letter, `u` upper-cases it,
// `q` puts the token in double quotes, `s` inserts the scalar type that the token most likely
// means, `S` inserts the full advice on scalar types, and `a` and `b` propose the annotation or the
// keyword of a body that the token most likely means. %v is the variable of the binding, %o the innermost open bracket and %c
// the bracket that closes it.
func expand(help string, at []Token, pl place) string {
	var b strings.Builder
	for i := 0; i < len(help); i++ {
		if help[i] != '%' {
			b.WriteByte(help[i])
			continue
		}
		i++
		switch c := help[i]; c {
		case 'v':
			b.WriteString(bindingVar(pl))
		case 'o', 'c':
			t := pl.before[pl.opener]
			if c == 'c' {
				b.WriteString(map[string]string{"{": "}", "(": ")", "[": "]"}[t.Value])
			} else {
				fmt.Fprintf(&b, "%s at line %d, column %d", t.Value, t.Pos.Line, t.Pos.Column)
			}
		case 'a':
			i++
			b.WriteString(diag.DidYouMean("@"+at[help[i]-'1'].Value, annotationsIn(pl.in)))
		case 'b':
			i++
			b.WriteString(diag.DidYouMean(at[help[i]-'1'].Value, bodyKeywords))
		case 'l', 'u', 'q', 's', 'S':
			i++
			b.WriteString(respell(c, shorten(at[help[i]-'1'].Value)))
		default:
			b.WriteString(shorten(at[c-'1'].Value))
		}
	}
	return b.String()
}

// bodyKeywords are the words with which the parts of a body start.
var bodyKeywords = []string{"match", "return", "having", "order", "limit", "insert", "upsert", "update", "set", "delete", "where", "for"}

// respell changes the case or spelling of a word as the verb `how` says; see expand.
func respell(how byte, word string) string {
	switch how {
	case 'l':
		if strings.ToUpper(word) == word {
			return strings.ToLower(word)
		}
		r, n := utf8.DecodeRuneInString(word)
		return string(unicode.ToLower(r)) + word[n:]
	case 'u':
		r, n := utf8.DecodeRuneInString(word)
		return string(unicode.ToUpper(r)) + word[n:]
	case 'q':
		if strings.ContainsAny(word, `"\…`) { // it would need escapes, or it is cut short
			return `"…"`
		}
		_, first := utf8.DecodeRuneInString(word)
		_, last := utf8.DecodeLastRuneInString(word)
		word = word[first : len(word)-last]
		return `"` + word + `"`
	case 's':
		if s, _, _ := strings.Cut(scalarLike(word), " or "); s != "" {
			return s
		}
		return "String"
	}
	return scalarHelp(word)
}

// bindingVar returns the variable of the binding with the open braces.
func bindingVar(pl place) string {
	if pl.opener < 3 {
		return "$p"
	}
	return shorten(pl.before[pl.opener-3].Value)
}

// scalarList is a help that lists the scalar types.
var scalarList = "the scalars are " + listed(scalarNames)

// listed joins names with commas, and puts "and" before the last name.
func listed(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// scalarHelp returns the help for a word that is not a scalar type. The word may name a scalar type
// of another language.
func scalarHelp(word string) string {
	if s := scalarLike(word); s != "" {
		return "write " + s + "; " + scalarList
	}
	return scalarList
}

// scalarLike returns the scalar type that a word most likely means, or "".
func scalarLike(word string) string {
	if s, ok := foreignScalars[strings.ToLower(word)]; ok {
		return s
	}
	return diag.Closest(word, scalarNames)
}
