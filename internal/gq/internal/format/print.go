package format

import (
	"strings"
	"unicode/utf8"

	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
	"github.com/omnigraph-go/omnigraph/internal/gq/work"
)

// printer writes pieces and the comments between them.
type printer struct {
	meter    *work.Meter // counts the work
	source   string      // the text that is formatted
	pieces   []piece     // the pieces to write, in order
	comments [][]comment // by piece: the comments before it
	ends     []int       // by piece: the width of the text up to its end, on one line
	breaks   []int       // by piece: the number of unavoidable line breaks up to its end

	b      strings.Builder
	column int    // number of code points on the line so far
	blanks []bool // the buffer that blankLines returns, reused
}

// comment is a comment of the output.
type comment struct {
	text       string // with its delimiters
	start, end int    // offsets in the source
}

func (c comment) isLine() bool { return strings.HasPrefix(c.text, "//") }

// render lays out the pieces of a source with its comments.
func render(m *work.Meter, source string, pieces []piece, groups []*group, comments []syntax.Comment) string {
	// The comments after the last declaration are attached to an empty piece at the end.
	end := piece{start: len(source), end: len(source), gap: line}
	p := &printer{meter: m, source: source, pieces: append(pieces, end)}
	p.attach(comments)
	p.measure()
	p.mustBreak(groups)
	p.b.Grow(len(source) + len(source)/8)
	for i := range p.pieces {
		m.Step(1)
		p.space(i)
		p.write(p.pieces[i].text)
		if g := p.pieces[i].opens; g != nil {
			p.open(g)
		}
	}
	return p.b.String()
}

// attach assigns each comment to the piece that follows it.
func (p *printer) attach(comments []syntax.Comment) {
	p.comments = make([][]comment, len(p.pieces))
	for i := range p.pieces {
		p.meter.Step(1)
		for len(comments) > 0 && (p.isEnd(i) || comments[0].Span.Start.Offset < p.pieces[i].start) {
			c := comments[0]
			comments = comments[1:]
			p.comments[i] = append(p.comments[i], comment{trimLines(c.Text), c.Span.Start.Offset, c.Span.End.Offset})
		}
	}
}

// isEnd reports whether piece i is the empty piece at the end of the text.
func (p *printer) isEnd(i int) bool { return i == len(p.pieces)-1 }

// level returns the indentation of a line that starts with piece i, in levels.
func (p *printer) level(i int) int {
	pc := &p.pieces[i]
	switch {
	case pc.closes != nil:
		return pc.closes.level - 1
	case pc.group != nil:
		return pc.group.level + pc.indent
	}
	return pc.indent
}

// space writes the white space and comments between piece i and the one before it.
func (p *printer) space(i int) {
	pc := &p.pieces[i]
	broken := p.breaksLine(i)
	level := p.level(i)
	if !broken && pc.opens == nil {
		level++
	}
	inner := level // a comment before a closing bracket is indented like the contents
	if pc.closes != nil && broken {
		inner++
	}
	first := i == 0
	blanks := p.blankLines(i)
	moved := first // a comment has ended the line of the preceding piece
	from := p.before(i)
	for k, c := range p.comments[i] {
		switch {
		case first && k == 0:
		case p.lineBreaks(from, c.start) > 0:
			p.newline(inner, blanks[k])
			moved = true
		default:
			p.write(" ")
		}
		p.write(c.text)
		from = c.end
	}
	n := len(p.comments[i])
	switch {
	case n == 0 && broken && !first:
		p.newline(level, blanks[n])
	case n == 0 && !broken && p.flatGap(i) == 1:
		p.write(" ")
	case n == 0:
	case p.comments[i][n-1].isLine():
		p.newline(level, blanks[n])
	case broken && (!moved || pc.closes != nil || p.isEnd(i) || p.lineBreaks(from, pc.start) > 0):
		p.newline(level, blanks[n])
	default: // after a comment that starts the line of the piece, or that is in the middle of a line
		p.write(" ")
	}
}

// breaksLine reports whether the layout breaks the line before piece i.
func (p *printer) breaksLine(i int) bool {
	pc := &p.pieces[i]
	switch pc.gap {
	case line:
		return true
	case soft:
		return pc.group.broken
	case fill:
		return pc.group.broken && (len(p.comments[i]) > 0 || p.column+p.ends[pc.last]-p.ends[i-1] > Width)
	}
	return false
}

// blankLines returns one element for each comment in the gap before piece i, and one for piece i
// itself. An element says whether a blank line precedes that comment or piece if a line is
// broken there. The result is valid until the next call.
func (p *printer) blankLines(i int) []bool {
	pc := &p.pieces[i]
	out := append(p.blanks[:0], make([]bool, len(p.comments[i])+1)...)
	p.blanks = out
	if pc.gap != soft && pc.gap != line || pc.indent > 0 || pc.opens != nil {
		return out // no blank line precedes a piece that continues the one before it
	}
	opened := i > 0 && p.pieces[i-1].opens != nil && p.pieces[i-1].opens == pc.group
	from := p.before(i)
	kept := false
	// own is the place of the blank line that every declaration needs: before its first comment on a line of its own, else
	// before the declaration.
	own := -1
	for k := range out {
		to := pc.start
		if k < len(p.comments[i]) {
			to = p.comments[i][k].start
		}
		breaks := p.lineBreaks(from, to)
		first := k == 0 && (i == 0 || opened)
		last := k == len(out)-1 && (pc.closes != nil || p.isEnd(i))
		out[k] = breaks > 1 && !first && !last
		kept = kept || out[k]
		if own < 0 && (breaks > 0 || k == len(out)-1) {
			own = k
		}
		if k < len(p.comments[i]) {
			from = p.comments[i][k].end
		}
	}
	if pc.decl && i > 0 && !kept {
		out[own] = true
	}
	return out
}

// before returns the offset at which the gap before piece i starts.
func (p *printer) before(i int) int {
	if i == 0 {
		return 0
	}
	return p.pieces[i-1].end
}

// lineBreaks returns 0 if source[from:to] contains no line end, 1 if it contains one, and 2 if
// it contains a blank line. The text must consist of white space and dropped commas.
func (p *printer) lineBreaks(from, to int) int {
	most, run := 0, 0
	for i := from; i < to && most < 2; i++ {
		switch p.source[i] {
		case '\n':
			run++
			most = max(most, run)
		case ',': // a line with a comma is not blank
			run = 0
		}
	}
	return most
}

// newline ends the line, adds a blank line if `blank` is set, and indents the next line.
func (p *printer) newline(level int, blank bool) {
	p.b.WriteByte('\n')
	if blank {
		p.b.WriteByte('\n')
	}
	p.column = 0
	p.write(strings.Repeat("  ", level))
}

// write writes text, and counts the code points of its last line.
func (p *printer) write(s string) {
	p.b.WriteString(s)
	if nl := strings.LastIndexByte(s, '\n'); nl >= 0 {
		p.column, s = 0, s[nl+1:]
	}
	p.column += utf8.RuneCountInString(s)
}

// trimLines removes white space at the ends of lines.
func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \t\r")
	}
	return strings.Join(lines, "\n")
}
