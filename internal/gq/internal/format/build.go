package format

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
	"github.com/omnigraph-go/omnigraph/internal/gq/work"
)

// gap is the kind of white space between a piece and the one before it.
type gap uint8

const (
	glued  gap = iota // nothing
	spaced            // one space
	soft              // a line break if the group is broken
	fill              // a line break if the group is broken and the line is full
	line              // a line break
)

// piece is a token of the output.
type piece struct {
	text       string // as it is written
	start, end int    // offsets of the token in the source
	gap        gap    // before the piece
	group      *group // the innermost group that contains the gap, or nil
	flat       int    // width of a soft or fill gap if the group is not broken
	indent     int    // indentation of its line in addition to the group's, in levels
	decl       bool   // it starts a declaration
	last       int    // after a fill gap: index of the last piece of the element
	opens      *group // the group that it opens, or nil
	closes     *group // the group that it closes, or nil
}

// group is a pair of brackets. Lines can be broken inside it.
type group struct {
	parent      *group // the group around it, or nil
	open, close int    // indexes of the bracket pieces
	broken      bool   // while building: it must be broken; while printing: it is broken
	level       int    // indentation of its contents if it is broken, in levels
}

// empty reports whether no token is between the brackets.
func (g *group) empty() bool { return g.close == g.open+1 }

// builder turns the tokens of declarations into pieces.
type builder struct {
	schema bool        // the text is a schema
	meter  *work.Meter // counts the work; nil for no limits

	tokens []syntax.Token // the tokens of the declaration
	at     int            // index of the next token

	// blocks holds the blocks that are operands, by the offsets of their first tokens.
	blocks map[int]syntax.Operand

	pieces []piece  // the result
	groups []*group // in the order of their opening brackets
	group  *group   // the innermost open group
}

// startDeclaration starts a declaration. Its first token starts a new line.
func (b *builder) startDeclaration(r syntax.Range) {
	b.tokens, b.at, b.blocks = r.Tokens, 0, nil
	b.take(line).decl = true
}

// take makes a piece of the next token.
func (b *builder) take(g gap) *piece {
	b.meter.Step(1)
	t := b.tokens[b.at]
	b.at++
	b.pieces = append(b.pieces, piece{
		text: t.Value, start: t.Pos.Offset, end: t.Pos.Offset + len(t.Value), gap: g, group: b.group, flat: 1,
	})
	return &b.pieces[len(b.pieces)-1]
}

// is reports whether the next token has the text s.
func (b *builder) is(s string) bool {
	return b.at < len(b.tokens) && b.tokens[b.at].Value == s
}

// open makes a piece of an opening bracket and starts its group.
func (b *builder) open(before gap) {
	g := &group{parent: b.group, open: len(b.pieces)}
	b.take(before).opens = g
	b.group = g
	b.groups = append(b.groups, g)
}

// close makes a piece of the closing bracket of the innermost group. On one line, braces have
// spaces inside and other brackets have none.
func (b *builder) close() {
	g := b.group
	g.close = len(b.pieces)
	p := b.take(soft)
	p.closes = g
	if p.text != "}" {
		p.flat = 0
		b.pieces[g.open+1].flat = 0
	}
	b.group = g.parent
}

// comma drops the comma after an element of a group, if there is one. It adds a comma unless the
// element is the last one.
func (b *builder) comma(last bool) {
	if b.is(",") {
		b.at++
	}
	if !last {
		b.pieces[len(b.pieces)-1].text += ","
	}
}

// run makes pieces of the tokens before the index `end`. They are on one line, except inside list
// literals and enums. `g` is the gap before the first token.
func (b *builder) run(end int, g gap) {
	for first := true; b.at < end; first = false {
		if !first {
			g = b.between()
		}
		b.token(g)
	}
}

// token makes a piece of the next token. If the token starts a block, a list literal or an enum, it
// makes a group of that instead.
func (b *builder) token(g gap) {
	switch block := b.blocks[b.tokens[b.at].Pos.Offset]; {
	case block != nil:
		b.take(g)
		if s, ok := block.(*syntax.Subquery); ok {
			b.subquery(s)
			return
		}
		inner, _ := syntax.Inside(block)
		b.match(inner)
	case b.is("[") && b.tokens[b.at+1].Type != syntax.TypeName:
		b.list(g)
	case b.startsEnum():
		b.enum(g)
	default:
		b.take(g)
	}
}

// rangeOf makes pieces of the tokens of a node. They must be the next tokens.
func (b *builder) rangeOf(r syntax.Range, g gap) { b.run(b.at+len(r.Tokens), g) }

// list makes a group of a list literal.
func (b *builder) list(before gap) {
	b.open(before)
	for g := soft; !b.is("]"); g = fill {
		first := len(b.pieces)
		b.element(g)
		b.pieces[first].last = len(b.pieces) - 1
	}
	b.close()
}

// element makes pieces of one element of a list literal and of the comma after it.
func (b *builder) element(g gap) {
	for ; !b.is(",") && !b.is("]"); g = b.between() {
		b.token(g)
	}
	b.comma(b.is("]"))
}

// startsEnum reports whether the next tokens begin an enum.
func (b *builder) startsEnum() bool {
	return b.schema && b.is("enum") && b.tokens[b.at-1].Value == ":" && b.tokens[b.at+1].Value == "("
}

// enum makes a group of the values of an enum. The tokens of one value must stay together.
func (b *builder) enum(before gap) {
	b.take(before)
	b.open(glued)
	for !b.is(")") {
		for g := soft; !b.is(",") && !b.is(")"); g = glued {
			b.take(g)
		}
		b.comma(b.is(")"))
	}
	b.close()
}

// beforeOperands lists the words after which an operand in parentheses follows, not the arguments of a call.
var beforeOperands = []string{"contains", "starts_with", "in", "matches", "distinct"}

// between returns the gap between two tokens of a line.
func (b *builder) between() gap {
	prev, next := b.tokens[b.at-1], b.tokens[b.at]
	switch prev.Value {
	case ",":
		return spaced
	case "(", "[", ".", "..", "@":
		return glued
	}
	switch next.Value {
	case ",", ")", "]", "?", ".", "..", ":":
		return glued
	case "(":
		if (prev.Type == syntax.Name || prev.Type == syntax.TypeName) && !slices.Contains(beforeOperands, prev.Value) {
			return glued // for a call, not for an operand in parentheses
		}
	}
	// In a schema the only relation is the one in @embed("text", model="m").
	if b.schema && (prev.Type == syntax.Relation || next.Type == syntax.Relation) {
		return glued
	}
	return spaced
}
