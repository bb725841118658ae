package syntax

import (
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/work"
)

// scanner splits a text into tokens. It collects errors and continues after each one, so that
// the declarations around an error are still parsed.
type scanner struct {
	file, text   string // name and content of the source
	off          int    // offset of the next byte to scan
	line         int    // number of the current line, from 1
	lineStart    int    // offset of the first byte of the line
	continuation int    // number of UTF-8 continuation bytes on the line so far

	// The last position that locate computed. Errors come roughly in source order, so that
	// counting continues from here.
	located lexer.Position

	tokens   []Token   // the tokens so far
	comments []Comment // the comments so far
	faults   diag.List // the errors so far
	// Offsets of text that forms no token, ascending. Of several such offsets between two
	// tokens, only the first is listed.
	garbled   []int
	garbledAt int           // number of tokens before the last offset in `garbled`
	unknown   []unknownText // pieces of text that form no token
	meter     *work.Meter   // counts the work; nil for no limits
}

// unknownText is a piece of text that forms no token.
type unknownText struct {
	fault  int    // index of the error that reports it
	tokens int    // number of tokens before it
	text   string // the piece itself
}

// scan splits a text into tokens. It counts a step for each token, and a step for each byte that it
// visits again to report an error.
func scan(m *work.Meter, file, text string) *scanner {
	s := &scanner{file: file, text: text, line: 1, located: lexer.Position{Line: 1, Column: 1}, meter: m}
	if !s.readable() {
		return s
	}
	room := len(text)/3 + 8 // most tokens take more than two bytes
	if most := m.Limits().Tokens; most > 0 {
		room = min(room, most+1)
	}
	s.tokens = make([]Token, 0, room)
	if strings.HasPrefix(text, "\uFEFF") {
		s.off, s.continuation = 3, 2
	}
	for s.skipSpace() {
		m.Step(1)
		s.next()
		m.Tokens(len(s.tokens))
	}
	for _, c := range s.unknown {
		m.Step(1)
		s.faults[c.fault].Help, _ = hintFor(place{
			before: s.tokens[:c.tokens], found: Token{Value: c.text}, after: s.tokens[c.tokens:], in: inCharacter, opener: -1, closed: -1,
		})
	}
	return s
}

// readable reports whether the text is valid UTF-8 without a NUL byte. Otherwise it reports the
// first offending byte, and the text is not scanned further.
func (s *scanner) readable() bool {
	nul := strings.IndexByte(s.text, 0)
	if nul < 0 && utf8.ValidString(s.text) {
		return true
	}
	for i, r := range s.text {
		if r == 0 {
			s.faultAt(i, i+1, NUL, "the text contains a NUL byte", "remove the byte, or save the file as text")
			return false
		}
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(s.text[i:]); n == 1 {
				s.faultAt(i, i+1, InvalidUTF8, "invalid UTF-8", "save the file as UTF-8")
				return false
			}
		}
	}
	return true
}

// faultAt reports an error in the text between two offsets, and records that this text forms no
// token.
func (s *scanner) faultAt(from, to int, code diag.Code, msg, help string) {
	if n := len(s.garbled); n > 0 && s.garbledAt == len(s.tokens) {
		s.garbled[n-1] = min(s.garbled[n-1], from)
	} else {
		s.garbled, s.garbledAt = append(s.garbled, from), len(s.tokens)
	}
	if len(s.faults) > diag.Most {
		return
	}
	s.faults = append(s.faults, diag.Diagnostic{
		Code: code, Message: msg, Help: help,
		Span: diag.Span{File: s.file, Start: s.locate(from), End: s.locate(to)},
	})
}

// locate computes the position of an offset. It counts from the last known position before the
// offset. Only errors need it.
func (s *scanner) locate(off int) diag.Pos {
	from := s.pos()
	switch {
	case s.located.Offset <= off && (s.located.Offset > from.Offset || from.Offset > off):
		from = s.located
	case from.Offset > off:
		from = lexer.Position{Line: 1, Column: 1}
	}
	between := s.text[from.Offset:off]
	s.meter.Step(len(between))
	if nl := strings.LastIndexByte(between, '\n'); nl >= 0 {
		from.Line += strings.Count(between, "\n")
		from.Column = 1
		between = between[nl+1:]
	}
	from.Column += utf8.RuneCountInString(between)
	from.Offset = off
	s.located = from
	return posOf(from)
}

// pos returns the current position.
func (s *scanner) pos() lexer.Position {
	return lexer.Position{Filename: s.file, Offset: s.off, Line: s.line, Column: s.off - s.lineStart - s.continuation + 1}
}

// advance moves to the offset `to`, and counts the lines and code points on the way.
func (s *scanner) advance(to int) {
	for ; s.off < to; s.off++ {
		switch c := s.text[s.off]; {
		case c == '\n':
			s.line++
			s.lineStart, s.continuation = s.off+1, 0
		case c&0xC0 == 0x80:
			s.continuation++
		}
	}
}

// skipSpace moves to the next token and keeps the comments on the way. It reports whether there
// is a token.
func (s *scanner) skipSpace() bool {
	for s.off < len(s.text) {
		switch c := s.text[s.off]; {
		case c == '\n':
			s.advance(s.off + 1)
		case c == ' ' || c == '\t' || c == '\r':
			s.off++
		case c == '/' && strings.HasPrefix(s.text[s.off:], "//"):
			end := len(s.text)
			if nl := strings.IndexByte(s.text[s.off:], '\n'); nl >= 0 {
				end = s.off + nl
			}
			s.comment(end)
		case c == '/' && strings.HasPrefix(s.text[s.off:], "/*"):
			end := strings.Index(s.text[s.off+2:], "*/")
			if end < 0 {
				s.faultAt(s.off, s.off+2, OpenComment, "comment without an end", "close it with */")
				s.advance(len(s.text))
				return false
			}
			s.comment(s.off + 2 + end + 2)
		default:
			return true
		}
	}
	return false
}

// comment reads a comment that ends at the offset `end`.
func (s *scanner) comment(end int) {
	s.meter.Step(1)
	start := posOf(s.pos())
	text := s.text[s.off:end]
	s.advance(end)
	s.comments = append(s.comments, Comment{
		Span: diag.Span{File: s.file, Start: start, End: posOf(s.pos())},
		Text: strings.TrimRight(text, "\r"),
	})
}

// next scans one token, or reports a character that cannot start a token.
func (s *scanner) next() {
	c := s.text[s.off]
	rest := s.text[s.off:]
	switch {
	case c >= 'a' && c <= 'z' || c == '_':
		s.emit(Name, wordLen(rest))
	case c >= 'A' && c <= 'Z':
		s.emit(TypeName, wordLen(rest))
	case c == '$':
		n := wordLen(rest[1:])
		switch {
		case n == 0:
			s.faultAt(s.off, s.off+1, BadCharacter, "$ without a name", "write $name, or $_ for a binding without a name")
			s.off++
			return
		case !startsLower(rest[1]):
			s.faultAt(s.off, s.off+1+n, BadCharacter, "the name of a variable must start with a lower-case letter or _, but this one is "+shorten(rest[:1+n]), "")
		}
		s.emit(Var, 1+n)
	case isDigit(c), c == '-' && len(rest) > 1 && isDigit(rest[1]) && !s.subtracts():
		s.number(rest)
	case c == '"':
		s.str(rest)
	default:
		if n := relationLen(rest); n > 0 {
			s.emit(Relation, n)
			return
		}
		if n := punctLen(rest); n > 0 {
			s.emit(Punct, n)
			return
		}
		if strings.IndexByte("+*/%", c) >= 0 && len(s.tokens) > 0 && (endsOperand(s.tokens[len(s.tokens)-1]) || s.tokens[len(s.tokens)-1].Value == "}") {
			s.emit(Punct, 1)
			return
		}
		if c == '|' && s.alternates(rest[1:]) {
			s.emit(Punct, 1)
			return
		}
		s.reportUnknown(rest)
	}
}

// alternates reports whether a bar is between the names of two edges. `after` is the text after
// the bar. Elsewhere a bar is a mistake of authors who know another language, which a message of
// its own explains.
func (s *scanner) alternates(after string) bool {
	n := len(s.tokens)
	if n < 2 || s.tokens[n-1].Type != Name {
		return false
	}
	blanks := 0
	for blanks < len(after) && strings.IndexByte(" \t\r\n", after[blanks]) >= 0 {
		blanks++
	}
	s.meter.Step(blanks)
	// The name may come after a comment, which starts with a slash.
	if blanks == len(after) || !startsLower(after[blanks]) && after[blanks] != '/' {
		return false
	}
	switch before := s.tokens[n-2]; {
	case before.Type == Var, before.Value == "<", before.Type == Punct && before.Value == "|":
		return true
	case before.Value == ":":
		return n > 2 && s.tokens[n-3].Type == Var
	}
	return false
}

// endsOperand reports whether an operand other than a block can end with the token. The characters
// + * / and % are operators only after such a token or after a block. Elsewhere they are mistakes of
// authors who know another language, which messages of their own explain.
func endsOperand(t Token) bool {
	switch t.Type {
	case Name, Var, Int, Float, String:
		return true
	}
	return t.Value == ")" || t.Value == "]"
}

// subtracts reports whether a minus before a digit is an operator and not the sign of the number.
// It is an operator if an operand can end before it.
func (s *scanner) subtracts() bool {
	n := len(s.tokens)
	if n == 0 || !endsOperand(s.tokens[n-1]) {
		return false
	}
	switch t := s.tokens[n-1]; t.Value {
	case "contains", "starts_with", "limit": // after a keyword, the minus is a sign
		return t.Type != Name || n > 1 && s.tokens[n-2].Value == "."
	}
	return true
}

// reportUnknown reports a character that cannot start a token. The report covers all of the text
// that would be one token in another language: a string in other quotes, && or ||, or a comment
// after #.
func (s *scanner) reportUnknown(rest string) {
	r, n := utf8.DecodeRuneInString(rest)
	msg, to := "unexpected character "+strings.TrimSpace(string(r)), n
	switch {
	case r == '#':
		if to = strings.IndexByte(rest, '\n'); to < 0 {
			to = len(rest)
		}
		s.meter.Step(to)
	case (r == '&' || r == '|') && strings.HasPrefix(rest[1:], rest[:1]):
		n, to = 2, 2
		msg = "unexpected " + rest[:2]
	default:
		if q := s.quotedLen(rest); q > 0 {
			n, to = q, q
			msg = "unexpected " + shorten(rest[:n])
		}
	}
	if len(s.faults) <= diag.Most {
		s.unknown = append(s.unknown, unknownText{len(s.faults), len(s.tokens), rest[:n]})
	}
	s.faultAt(s.off, s.off+n, BadCharacter, msg, "")
	s.advance(s.off + to)
}

// quotes maps the opening quotes of other languages to the closing ones.
var quotes = map[rune]rune{'\'': '\'', '`': '`', '‘': '’', '“': '”'}

// quotedLen returns the length of a text in foreign quotes, or 0 if it is not closed on its
// line. A quote after a letter is an apostrophe and opens no text.
func (s *scanner) quotedLen(rest string) int {
	open, n := utf8.DecodeRuneInString(rest)
	closing := quotes[open]
	if closing == 0 || s.off > 0 && wordLen("_"+s.text[s.off-1:s.off]) == 2 {
		return 0
	}
	for i, r := range rest[n:] {
		s.meter.Step(1)
		switch r {
		case closing:
			return n + i + utf8.RuneLen(r)
		case open, '\n': // the quote that opened the text occurs again, so the text is not closed
			return 0
		}
	}
	return 0
}

// emit adds a token of n bytes. The bytes must be ASCII without a line end.
func (s *scanner) emit(t lexer.TokenType, n int) {
	s.tokens = append(s.tokens, Token{Type: t, Value: s.text[s.off : s.off+n], Pos: s.pos()})
	s.off += n
}

// number reads the number at the start of `rest`.
func (s *scanner) number(rest string) {
	n := 1
	for n < len(rest) && isDigit(rest[n]) {
		n++
	}
	// A point makes a decimal only if a digit follows: 0..200 is a range.
	if n+1 < len(rest) && rest[n] == '.' && isDigit(rest[n+1]) {
		for n++; n < len(rest) && isDigit(rest[n]); n++ {
		}
		s.emit(Float, n)
		return
	}
	s.emit(Int, n)
}

// str reads the string at the start of `rest`.
func (s *scanner) str(rest string) {
	n := 1
	bad := false
	for ; n < len(rest) && rest[n] != '"'; n++ {
		if rest[n] != '\\' {
			continue
		}
		n++
		if n < len(rest) && !strings.ContainsRune(`"\nrt`, rune(rest[n])) {
			_, size := utf8.DecodeRuneInString(rest[n:])
			s.faultAt(s.off+n-1, s.off+n+size, BadEscape, "unknown escape "+rest[n-1:n+size], `the escapes are \" \\ \n \r \t`)
			bad = true
		}
	}
	if n >= len(rest) {
		s.faultAt(s.off, s.off+1, OpenString, "string without an end", `close it with "`)
		s.advance(len(s.text))
		return
	}
	n++
	t := Token{Type: String, Value: rest[:n], Pos: s.pos()}
	if bad {
		// Text must find only valid escapes. The length stays the same.
		t.Value = strings.ReplaceAll(t.Value, `\`, `/`)
	}
	s.tokens = append(s.tokens, t)
	s.advance(s.off + n)
}

// isDigit reports whether c is an ASCII digit.
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// startsLower reports whether a name can start with c.
func startsLower(c byte) bool { return c >= 'a' && c <= 'z' || c == '_' }

// wordLen returns the length of the name at the start of s, or 0.
func wordLen(s string) int {
	n := 0
	for n < len(s) && (startsLower(s[n]) || s[n] >= 'A' && s[n] <= 'Z' || n > 0 && isDigit(s[n])) {
		n++
	}
	return n
}

// relationLen returns the length of the comparison operator at the start of s, or 0.
func relationLen(s string) int {
	switch {
	case len(s) >= 2 && s[1] == '=' && (s[0] == '<' || s[0] == '>' || s[0] == '!'):
		return 2
	case s[0] == '=' || s[0] == '<' || s[0] == '>':
		return 1
	}
	return 0
}

// punctLen returns the length of the punctuation at the start of s, or 0.
func punctLen(s string) int {
	if strings.HasPrefix(s, "->") || strings.HasPrefix(s, "..") {
		return 2
	}
	if strings.IndexByte("{}()[],:.?@-", s[0]) >= 0 {
		return 1
	}
	return 0
}
