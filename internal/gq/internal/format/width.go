package format

import (
	"strings"
	"unicode/utf8"
)

// measure computes p.ends and p.breaks.
func (p *printer) measure() {
	p.ends = make([]int, len(p.pieces))
	p.breaks = make([]int, len(p.pieces))
	width, breaks := 0, 0
	for i, pc := range p.pieces {
		p.meter.Step(1)
		width += p.flatGap(i) + utf8.RuneCountInString(pc.text)
		if p.gapBreaks(i) {
			breaks++
		}
		breaks += strings.Count(pc.text, "\n")
		p.ends[i], p.breaks[i] = width, breaks
	}
}

// flatGap returns the width of the gap before piece i, including its comments, if no line is
// broken there.
func (p *printer) flatGap(i int) int {
	pc := &p.pieces[i]
	if cs := p.comments[i]; len(cs) > 0 {
		n := 1
		for _, c := range cs {
			n += 1 + utf8.RuneCountInString(c.text)
		}
		return n
	}
	switch pc.gap {
	case spaced:
		return 1
	case soft, fill:
		if pc.closes == nil || !p.void(pc.closes) {
			return pc.flat
		}
	}
	return 0
}

// gapBreaks reports whether a comment breaks the line before piece i.
func (p *printer) gapBreaks(i int) bool {
	from := p.before(i)
	for _, c := range p.comments[i] {
		if c.isLine() || strings.Contains(c.text, "\n") || p.lineBreaks(from, c.start) > 0 {
			return true
		}
		from = c.end
	}
	return false
}

// mustBreak marks the groups that cannot be on one line. It visits inner groups first.
func (p *printer) mustBreak(groups []*group) {
	for i := len(groups) - 1; i >= 0; i-- {
		p.meter.Step(1)
		g := groups[i]
		first := p.pieces[g.open+1]
		switch {
		case p.breaks[g.close] > p.breaks[g.open]:
			g.broken = true
		case !g.empty() && p.lineBreaks(p.pieces[g.open].end, first.start) > 0:
			g.broken = true
		}
		if g.broken && g.parent != nil {
			g.parent.broken = true
		}
	}
}

// open decides whether to break a group. The opening bracket of the group has just been written.
func (p *printer) open(g *group) {
	g.level = p.level(g.open) + 1
	if g.broken || p.void(g) || g.parent != nil && !g.parent.broken {
		return
	}
	g.broken = p.column+p.ends[g.close]-p.ends[g.open]+p.tail(g.close) > Width
}

// void reports whether a group has no contents, not even a comment.
func (p *printer) void(g *group) bool { return g.empty() && len(p.comments[g.close]) == 0 }

// tail returns the width of the text from the end of piece i to the next place where a line can
// be broken.
func (p *printer) tail(i int) int {
	j := i + 1
	for ; ; j++ {
		pc := &p.pieces[j]
		inVoid := pc.closes != nil && p.void(pc.closes)
		if pc.gap > spaced && !inVoid || p.gapBreaks(j) {
			break
		}
	}
	return p.ends[j-1] - p.ends[i]
}
