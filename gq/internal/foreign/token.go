package foreign

import "strings"

// kind is a kind of token.
type kind uint8

const (
	end    kind = iota // after the last token
	word               // a name or a keyword, also one in backquotes
	dollar             // $name; its text is the name
	text               // a string; its text is the content
	number             // digits, perhaps with a decimal point
	mark               // everything else
)

// token is a lexical unit of any of the languages.
type token struct {
	kind  kind
	text  string
	space bool // white space or a comment comes before it

	double bool // a string in double quotes
}

// marks lists the marks of more than one character, the longest first.
var marks = []string{"...", "<>", "<=", ">=", "!=", "==", "=~", "&&", "||", "->", "<-", "..", "::"}

// scan splits a text into tokens. It reports false for a string or a comment without an end, and for
// a character of none of the languages.
func scan(s string) (out []token, ok bool) {
	space := false
	for i := 0; i < len(s); {
		c, rest := s[i], s[i:]
		add := func(k kind, value string, n int) {
			out = append(out, token{kind: k, text: value, space: space, double: c == '"'})
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
			value, n := quoted(rest)
			if n == 0 {
				return nil, false
			}
			if c == '`' {
				add(word, value, n)
			} else {
				add(text, value, n)
			}
		case c == '$' && len(rest) > 1 && letter(rest[1]):
			n := 1 + wordLen(rest[1:])
			add(dollar, rest[1:n], n)
		case letter(c):
			n := wordLen(rest)
			add(word, rest[:n], n)
		case digit(c):
			n := 1
			for n < len(rest) && (digit(rest[n]) || rest[n] == '.' && n+1 < len(rest) && digit(rest[n+1]) && !strings.Contains(rest[:n], ".")) {
				n++
			}
			add(number, rest[:n], n)
		case c < 0x80 && strings.IndexByte("(){}[]<>=!+-*/%|&,:;.?@~$", c) >= 0:
			n := 1
			for _, m := range marks {
				if strings.HasPrefix(rest, m) {
					n = len(m)
					break
				}
			}
			add(mark, rest[:n], n)
		default:
			return nil, false
		}
	}
	return out, true
}

// quoted reads the string at the start of s and returns its content and its length, which is 0 if the
// string has no end. A quote inside is doubled or comes after a backslash.
func quoted(s string) (content string, n int) {
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

func letter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

// wordLen returns the length of the word at the start of s.
func wordLen(s string) int {
	n := 0
	for n < len(s) && (letter(s[n]) || n > 0 && digit(s[n])) {
		n++
	}
	return n
}

// quote writes a string of this language.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s) + `"`
}
