package syntax

import (
	"slices"
	"strings"
)

// place describes where an error occurred.
type place struct {
	before []Token // tokens of the declaration, or of the text
	found  Token   // the token or the text that caused the error
	after  []Token // the tokens that follow `found`
	in     string  // the setting
	want   string  // the list of expected tokens, as the message words it
	opener int     // index in `before` of the innermost open bracket, or -1
	closed int     // index in `before` of the bracket that the last token of `before` closes, or -1
}

// placeIn returns the place of the token `found` within the tokens of a declaration.
func placeIn(tokens []Token, found Token) place {
	i, _ := slices.BinarySearchFunc(tokens, found.Pos.Offset, func(t Token, offset int) int { return t.Pos.Offset - offset })
	pl := place{before: tokens[:i], found: found, after: tokens[min(i+1, len(tokens)):], opener: -1, closed: -1}
	pl.in = inTypeHead
	if tokens[0].Value == "query" {
		pl.in = inQueryHead
	}
	type open struct {
		at int
		in string
	}
	outer := pl.in
	var stack []open
	for j, t := range pl.before {
		pl.closed = -1
		if t.Type != Punct {
			continue
		}
		switch t.Value {
		case "{", "(", "[":
			stack = append(stack, open{j, outer})
			outer = settingInside(pl.before[:j], t.Value, outer)
		case "}", ")", "]":
			if n := len(stack); n > 0 {
				pl.closed, outer = stack[n-1].at, stack[n-1].in
				stack = stack[:n-1]
			}
		}
	}
	pl.in = outer
	if n := len(stack); n > 0 {
		pl.opener = stack[n-1].at
	}
	return pl
}

// wantsType reports whether a type is expected at the place. The library's message does not say
// so, because a type starts with a lookahead.
func (pl place) wantsType() bool {
	n := len(pl.before)
	return (pl.in == inParams || pl.in == inType) && n > 0 && pl.before[n-1].Value == ":"
}

// settingInside returns the setting within a bracket. The slice `before` contains the tokens before
// the bracket, and `outer` is the setting around the bracket.
func settingInside(before []Token, bracket, outer string) string {
	word := func(n int) string {
		if n > len(before) {
			return ""
		}
		return strings.ToLower(before[len(before)-n].Value)
	}
	last := before[len(before)-1] // the declaration's keyword is never a bracket
	switch bracket {
	case "[":
		return inList
	case "(":
		switch {
		case outer == inQueryHead && word(2) == "query":
			return inParams
		case word(1) == "enum":
			return inEnum
		case word(2) == "@":
			return inAnnotation
		}
		return inCall
	}
	switch {
	case outer == inTypeHead:
		return inType
	case outer == inQueryHead:
		return inBody
	case outer == inBody && word(1) == "having":
		return inMatch
	case outer == inBody && (word(1) == "match" || word(1) == "return" || word(1) == "order"):
		return word(1)
	case outer == inBody && (word(1) == "set" || word(2) == "insert" || word(2) == "upsert" || word(2) == "new" && word(3) == "insert"):
		return inAssigns
	case outer == inBody && (last.Value == "}" || last.Value == "]" || word(2) == "limit" || word(2) == "in"):
		return inBody // the statements of a block
	case outer == inMatch && word(1) == "optional",
		slices.Contains([]string{inMatch, inReturn, inOrder, inCall}, outer) && (slices.Contains(blockKeywords, word(1)) || slices.Contains(SubqueryKeywords, word(1))):
		return inMatch
	case outer == inMatch && (word(1) == "return" || word(1) == "order"): // of a subquery
		return word(1)
	case outer == inMatch && last.Type == TypeName && word(2) == ":":
		return inBinding
	case outer == inMatch && (last.Type == Name || last.Type == TypeName || last.Value == ">"):
		return inBounds
	}
	return ""
}
