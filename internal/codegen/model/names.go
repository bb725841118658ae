package model

import (
	"go/token"
	"strings"
	"unicode"
)

// initialisms are the words that Go names write entirely in capitals.
var initialisms = map[string]bool{
	"acl": true, "api": true, "ascii": true, "cpu": true, "css": true, "db": true, "dns": true, "eof": true,
	"guid": true, "html": true, "http": true, "https": true, "id": true, "ip": true, "json": true, "mcp": true,
	"qps": true, "ram": true, "rpc": true, "sha": true, "sla": true, "smtp": true, "sql": true, "ssh": true,
	"tcp": true, "tls": true, "ttl": true, "udp": true, "ui": true, "uid": true, "uri": true, "url": true,
	"utf8": true, "uuid": true, "vm": true, "xml": true,
}

// GoName returns the exported Go name for a name in a schema or query, by these rules:
//
//  1. The name is cut into words at every character that is not a letter or a digit, and these
//     characters are dropped; between a lower-case letter or digit and an upper-case letter; and
//     before the last letter of a run of upper-case letters if a lower-case letter follows the run.
//  2. A word that is an initialism, such as id or url, is written in capitals. In any other word
//     the first letter becomes upper-case and the rest stays as it is.
//  3. The words are joined. If the result is empty or begins with a digit, an X is put in front.
//
// For example, find_symbol becomes FindSymbol, p.userId becomes PUserID, and 2fa becomes X2fa.
func GoName(name string) string {
	var b strings.Builder
	for _, w := range words(name) {
		b.WriteString(title(w))
	}
	return exported(b.String())
}

// PackageName returns the Go package name for a graph: the letters and digits of its name in lower
// case. A keyword, and a name whose package no program can import, get the suffix "graph"; a name with a leading digit gets the prefix "graph".
func PackageName(graph string) string {
	s := strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return -1
	}, graph)
	switch {
	case s == "":
		return "graph"
	case s[0] <= '9':
		return "graph" + s
	case token.IsKeyword(s), s == "main", s == "internal", s == "documentation":
		return s + "graph"
	}
	return s
}

// CamelName returns a name as programs in TypeScript write the names of members: find_symbol becomes findSymbol, and
// p.userID becomes pUserId.
func CamelName(name string) string {
	ws := words(name)
	for i, w := range ws {
		switch {
		case i == 0:
			ws[i] = strings.ToLower(w)
		case initialisms[strings.ToLower(w)]:
			ws[i] = strings.ToUpper(w[:1]) + strings.ToLower(w[1:])
		default:
			ws[i] = title(w)
		}
	}
	return lettered(strings.Join(ws, ""))
}

// SnakeName returns a name as programs in Python write the names of functions and members: findSymbol becomes
// find_symbol, and p.userID becomes p_user_id.
func SnakeName(name string) string {
	return lettered(strings.ToLower(strings.Join(words(name), "_")))
}

// lettered returns a name that begins with a letter.
func lettered(s string) string {
	if s == "" || !unicode.IsLetter([]rune(s)[0]) {
		return "x" + s
	}
	return s
}

// UniqueNames returns the names in the style of a language. A name that is reserved, or that an earlier name has got,
// gets underscores at its end.
func UniqueNames(names []string, style func(string) string, reserved map[string]bool) []string {
	taken := map[string]bool{}
	unique := make([]string, len(names))
	for i, name := range names {
		name = style(name)
		for taken[name] || reserved[name] {
			name += "_"
		}
		unique[i], taken[name] = name, true
	}
	return unique
}

// InWords returns a name as words for people to read: find_symbol becomes Find symbol.
func InWords(name string) string {
	ws := words(name)
	for i, w := range ws {
		switch {
		case initialisms[strings.ToLower(w)]:
			ws[i] = strings.ToUpper(w)
		case i == 0:
			ws[i] = title(w)
		default:
			ws[i] = strings.ToLower(w)
		}
	}
	if len(ws) == 0 {
		return name
	}
	return strings.Join(ws, " ")
}

// singular returns the name of one element of the list with the given name, by these rules on the last word: people
// becomes person and children child; ies becomes y; a final es is dropped after ss, sh, ch, x and z; any other final
// s is dropped, except after s, u and i. Every other word stays as it is.
func singular(name string) string {
	ws := words(name)
	if len(ws) == 0 {
		return name
	}
	last := strings.ToLower(ws[len(ws)-1])
	cut := func(n int) string { return name[:len(name)-n] } // the endings are ASCII
	switch {
	case !strings.HasSuffix(strings.ToLower(name), last): // another character follows the last word
		return name
	case last == "people":
		return cut(5) + "erson"
	case last == "children":
		return cut(3)
	case last == "series", last == "species":
		return name
	case strings.HasSuffix(last, "ies") && len(last) > 4:
		return cut(3) + "y"
	}
	for _, end := range []string{"sses", "shes", "ches", "xes", "zes"} {
		if strings.HasSuffix(last, end) {
			return cut(2)
		}
	}
	for _, end := range []string{"ss", "us", "is"} {
		if strings.HasSuffix(last, end) {
			return name
		}
	}
	if strings.HasSuffix(last, "s") && len(last) > 1 {
		return cut(1)
	}
	return name
}

// words cuts a name into words by rule 1 of [GoName].
func words(name string) []string {
	var ws []string
	rs := []rune(name)
	start := 0
	flush := func(end int) {
		if end > start {
			ws = append(ws, string(rs[start:end]))
		}
		start = end
	}
	for i, r := range rs {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush(i)
			start = i + 1
		case unicode.IsUpper(r) && i > start:
			if !unicode.IsUpper(rs[i-1]) || i+1 < len(rs) && unicode.IsLower(rs[i+1]) {
				flush(i)
			}
		}
	}
	flush(len(rs))
	return ws
}

// title changes the first letter of a word, or all letters of an initialism such as id, to upper
// case.
func title(word string) string {
	if initialisms[strings.ToLower(word)] {
		return strings.ToUpper(word)
	}
	rs := []rune(word)
	rs[0] = unicode.ToUpper(rs[0])
	return string(rs)
}

// exported returns a name that begins with an upper-case letter.
func exported(s string) string {
	if s == "" || !unicode.IsUpper([]rune(s)[0]) {
		return "X" + s
	}
	return s
}
