package xref

import (
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// A query file is read in pieces, so that Update reads only those that changed. As in the parser, the word
// `query` at the start of a line begins a query; each piece but the first begins with such a line. A comment
// may contain such a line, a string may not: a quote without an end, which an author has just typed, does not
// reach into the next query.

// piece is what was read of one piece of a text. Its places are those in the whole text.
type piece struct {
	tokens   []syntax.Token
	comments []syntax.Comment
	names    []Name
}

// begins is what the line of a query begins with, after the end of the line before.
const begins = "\nquery"

// nextPiece returns the offset of the first line of a query that starts at the offset `from` or after it, or
// the length of the text.
func nextPiece(text string, from int) int {
	for at := max(from-1, 0); ; {
		i := strings.Index(text[at:], begins)
		if i < 0 {
			return len(text)
		}
		at += i + 1
		after := at + len(begins) - 1
		if at >= from && after < len(text) && (text[after] == ' ' || text[after] == '\t') {
			return at
		}
	}
}

// readPiece reads the piece that starts at an offset, in the line with the given number, and returns the
// offset of its end.
func readPiece(s *catalog.Schema, name, text string, from, line int) (piece, int) {
	end := nextPiece(text, from+1)
	for {
		// Tokens are parts of the text that was scanned. The clone lets go of the rest of this version of the text.
		own := strings.Clone(text[from:end])
		var p piece
		p.tokens, p.comments = syntax.Scan(name, own)
		open := openComment(own, &p)
		if open < 0 || end == len(text) {
			for i := range p.tokens {
				moveToken(&p.tokens[i], from, line-1)
			}
			for i := range p.comments {
				moveComment(&p.comments[i], from, line-1)
			}
			p.names = queryNames(s, p.tokens)
			return p, end
		}
		// The comment reaches into the next query.
		if closing := strings.Index(text[from+open+2:], "*/"); closing >= 0 {
			end = nextPiece(text, max(end+1, from+open+2+closing+2))
		} else {
			end = len(text)
		}
	}
}

// openComment returns the offset at which a comment without an end starts in the text of a piece, or -1.
func openComment(text string, p *piece) int {
	from := 0
	if n := len(p.tokens); n > 0 {
		from = p.tokens[n-1].Pos.Offset + len(p.tokens[n-1].Value)
	}
	if n := len(p.comments); n > 0 {
		from = max(from, p.comments[n-1].Span.End.Offset)
	}
	if i := strings.Index(text[from:], "/*"); i >= 0 {
		return from + i
	}
	return -1
}

// moveToken moves a token by a number of bytes and of lines.
func moveToken(t *syntax.Token, by, lines int) {
	t.Pos.Offset += by
	t.Pos.Line += lines
}

// moveComment moves a comment by a number of bytes and of lines.
func moveComment(c *syntax.Comment, by, lines int) {
	c.Span.Start.Offset += by
	c.Span.Start.Line += lines
	c.Span.End.Offset += by
	c.Span.End.Line += lines
}

// readPieces reads the pieces of a text from an offset, where a piece starts in the line with the given
// number, up to an offset where another piece starts or the text ends. It reports false if a comment reaches
// beyond `to`.
func readPieces(s *catalog.Schema, name, text string, from, to, line int) (all piece, starts []int, ok bool) {
	for from < to {
		p, end := readPiece(s, name, text, from, line)
		starts = append(starts, from)
		all.tokens = append(all.tokens, p.tokens...)
		all.comments = append(all.comments, p.comments...)
		all.names = append(all.names, p.names...)
		line += strings.Count(text[from:end], "\n")
		from = end
	}
	return all, starts, from == to
}

// Update changes the source to that of another text of the same file: afterwards it is as Read returns it
// for that text and the same catalog. It reads only the queries that differ, and moves those after them.
func (s *Source) Update(c *catalog.Schema, name, text string) {
	if len(s.pieces) == 0 || text == s.Text {
		if text != s.Text {
			*s = *Read(c, name, text)
		}
		return
	}
	old := s.Text
	same := 0 // bytes at the start
	for most := min(len(old), len(text)); same < most && old[same] == text[same]; same++ {
	}
	tail := 0 // bytes at the end
	for most := min(len(old), len(text)) - same; tail < most && old[len(old)-1-tail] == text[len(text)-1-tail]; tail++ {
	}
	by := len(text) - len(old)
	// The first piece to read is the last one whose word `query`, with the byte after it, is before the change. A
	// change in these bytes decides whether a piece starts there.
	first := max(searchPiece(s.pieces, same-len(begins)+1)-1, 0)
	// The end of the line before the first piece behind the change is in both texts.
	behind := searchPiece(s.pieces, len(old)-tail+1)
	from, to := s.pieces[first], len(old)
	if behind < len(s.pieces) {
		to = s.pieces[behind]
	}
	s.Text = text
	line := 1 + strings.Count(text[:from], "\n")
	read, starts, ok := readPieces(orEmpty(c), name, text, from, to+by, line)
	if !ok {
		*s = *Read(c, name, text)
		return
	}
	lines := strings.Count(text[from:to+by], "\n") - strings.Count(old[from:to], "\n")
	s.pieces = slices.Replace(s.pieces, first, behind, starts...)
	for i := first + len(starts); i < len(s.pieces); i++ {
		s.pieces[i] += by
	}

	lo, hi := s.index(from), s.index(to)
	s.Tokens = slices.Replace(s.Tokens, lo, hi, read.tokens...)
	for i := lo + len(read.tokens); i < len(s.Tokens); i++ {
		moveToken(&s.Tokens[i], by, lines)
	}
	lo, hi = searchComment(s.Comments, from), searchComment(s.Comments, to)
	s.Comments = slices.Replace(s.Comments, lo, hi, read.comments...)
	for i := lo + len(read.comments); i < len(s.Comments); i++ {
		moveComment(&s.Comments[i], by, lines)
	}
	lo, hi = searchName(s.Names, from), searchName(s.Names, to)
	s.Names = slices.Replace(s.Names, lo, hi, read.names...)
	for i := lo + len(read.names); i < len(s.Names); i++ {
		n := &s.Names[i]
		moveToken(&n.Token, by, lines)
		if n.Scope != 0 { // the name has one
			n.Scope += by
		}
	}
	s.findQueries()
}

// searchPiece returns the index of the first piece that starts at an offset or after it.
func searchPiece(pieces []int, offset int) int {
	i, _ := slices.BinarySearch(pieces, offset)
	return i
}

// searchComment returns the index of the first comment at an offset or after it.
func searchComment(list []syntax.Comment, offset int) int {
	i, _ := slices.BinarySearchFunc(list, offset, func(c syntax.Comment, at int) int { return c.Span.Start.Offset - at })
	return i
}

// searchName returns the index of the first name at an offset or after it.
func searchName(list []Name, offset int) int {
	i, _ := slices.BinarySearchFunc(list, offset, func(n Name, at int) int { return n.Pos.Offset - at })
	return i
}
