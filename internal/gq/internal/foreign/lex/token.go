// Package lex divides a text into the tokens that Cypher, SQL, GraphQL and ISO GQL share.
package lex

import "strings"

// Kind is a kind of token.
type Kind uint8

const (
	End    Kind = iota // after the last token
	Word               // a name or a keyword, also one in backquotes
	Dollar             // $name; its text is the name
	Text               // a string; its text is the content
	Number             // digits, perhaps with a decimal point
	Mark               // everything else
)

// Token is a lexical unit of any of the languages.
type Token struct {
	Kind  Kind
	Text  string
	Space bool // white space or a comment comes before it

	Double bool // a string in double quotes
}

// marks lists the marks of more than one character, the longest first.
var marks = []string{"...", "<>", "<=", ">=", "!=", "==", "=~", "&&", "||", "->", "<-", "..", "::"}

// Scan splits a text into tokens. It reports false for a string or a comment without an end, and for
// a character of none of the languages.
func Scan(s string) (out []Token, ok bool) {
	space := false
	for i := 0; i < len(s); {
		c, rest := s[i], s[i:]
		add := func(k Kind, value string, n int) {
			out = append(out, Token{Kind: k, Text: value, Space: space, Double: c == '"'})
			space = false
			i += n
		}
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i, space = i+1, true
		case strings.HasPrefix(rest, "//"), strings.HasPrefix(rest, "-- "), c == '#':
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			i, space = i+n, true
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				return nil, false
			}
			i, space = i+n+4, true
		case c == '\'' || c == '"' || c == '`':
			value, n := Quoted(rest)
			if n == 0 {
				return nil, false
			}
			if c == '`' {
				add(Word, value, n)
			} else {
				add(Text, value, n)
			}
		case c == '$' && len(rest) > 1 && Letter(rest[1]):
			n := 1 + WordLen(rest[1:])
			add(Dollar, rest[1:n], n)
		case Letter(c):
			n := WordLen(rest)
			add(Word, rest[:n], n)
		case Digit(c):
			n := 1
			for n < len(rest) && (Digit(rest[n]) || rest[n] == '.' && n+1 < len(rest) && Digit(rest[n+1]) && !strings.Contains(rest[:n], ".")) {
				n++
			}
			add(Number, rest[:n], n)
		case c < 0x80 && strings.IndexByte("(){}[]<>=!+-*/%|&,:;.?@~$", c) >= 0:
			n := 1
			for _, m := range marks {
				if strings.HasPrefix(rest, m) {
					n = len(m)
					break
				}
			}
			add(Mark, rest[:n], n)
		default:
			return nil, false
		}
	}
	return out, true
}

// Quoted reads the string at the start of s and returns its content and its length, which is 0 if the
// string has no end. A quote inside is doubled or comes after a backslash.
func Quoted(s string) (content string, n int) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			switch s[i] {
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			case 'r':
				b.WriteByte('\r')
			case '\\', '\'', '"':
				b.WriteByte(s[i])
			default:
				b.WriteByte('\\')
				b.WriteByte(s[i])
			}
		case s[i] == s[0] && i+1 < len(s) && s[i+1] == s[0]:
			b.WriteByte(s[i])
			i++
		case s[i] == s[0]:
			return b.String(), i + 1
		default:
			b.WriteByte(s[i])
		}
	}
	return "", 0
}

func Letter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }
func Digit(c byte) bool  { return c >= '0' && c <= '9' }

// WordLen returns the length of the word at the start of s.
func WordLen(s string) int {
	n := 0
	for n < len(s) && (Letter(s[n]) || n > 0 && Digit(s[n])) {
		n++
	}
	return n
}

// Quote writes a string of this language.
func Quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s) + `"`
}
