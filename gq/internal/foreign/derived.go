package foreign

import (
	"slices"
	"strings"
)

// derived reads (SELECT … FROM … WHERE …) x after FROM. The columns become values that the rest of the text uses by
// their names. The columns that it reads from them begin at an index.
func (r *rewriter) derived(columns int) {
	defer r.deeper()()
	r.expect("(")
	r.subselects++
	r.selectRows()
	r.body()
	r.subselects--
	r.expect(")")
	alias := ""
	r.accept("as")
	if t := r.peek(0); t.kind == word && !r.starts() {
		alias = r.word()
	}
	r.valueStage()
	r.tables = nil
	r.unqualify(alias, columns)
	refuse(r.isOne(",", "join", "left", "inner", "cross"))
}

// unqualify drops the alias before the columns of the table, from an index on: x.total becomes total.
func (r *rewriter) unqualify(alias string, from int) {
	out := slices.Clone(r.tokens[:from])
	at, dot := r.at, false // whether the dot after the alias comes next
	for i := from; i < len(r.tokens); i++ {
		t := r.tokens[i]
		name := t.kind == word && t.text == alias && tokens(r.tokens[i:]).at(1).text == "." && (i == 0 || r.tokens[i-1].text != ".")
		if name || dot {
			dot = name
			if i < r.at {
				at--
			}
			continue
		}
		out = append(out, t)
	}
	r.tokens, r.at = out, at
}

// inlineTables puts each table that WITH x AS (SELECT …) defines in the place of its name after FROM.
func (r *rewriter) inlineTables() {
	for r.is("with") && r.peek(1).kind == word && r.peek(2).are("as") && r.isAt(3, "(") {
		start := r.at
		name := r.peek(1).text
		r.at += 3
		body := r.at
		r.skipGroup()
		table := slices.Clone(r.tokens[body:r.at])
		rest := slices.Clone(r.tokens[r.at:])
		refuse(!r.isOne(",", "select"))
		var out []token
		for i := 0; i < len(rest); i++ {
			out = append(out, rest[i])
			after := tokens(rest[i+1:])
			if !rest[i].are("from") || after.at(0).kind != word || after.at(0).text != name {
				continue
			}
			out = append(out, table...)
			i++
			if next := after.at(1); next.kind != word || startsPart(next) || next.are("join") || next.are("left") || next.are("inner") {
				out = append(out, token{kind: word, text: name, space: true})
			}
		}
		if rest[0].text == "," { // the next table
			out[0] = token{kind: word, text: "with"}
		}
		refuse(len(out) > maxSteps/4)
		r.tokens = append(slices.Clone(r.tokens[:start]), out...)
		r.at = start
	}
}

// aliasesIn returns the aliases of the tables after FROM.
func (r *rewriter) aliasesIn(from []token) (out []string) {
	for i := 1; i < len(from); i++ {
		x, before := from[i], from[i-1]
		if x.kind == word && before.kind == word && (before.are("as") || r.tableNode(before.text) != "" || r.edgeType(before.text) != nil) && !tokens(from[i:]).one([]string{"as", "join", "left", "inner", "cross", "on", "using", "right", "full"}) {
			out = append(out, x.text)
		}
	}
	return out
}

// tablesOf returns the tables after FROM of a SELECT.
func tablesOf(body []token) []token {
	columns, _, start := columnsOf(body)
	if columns == nil {
		return nil
	}
	depth, end := 0, start+1
	for ; end < len(body); end++ {
		switch t := body[end]; {
		case t.kind == mark && strings.Contains("([", t.text):
			depth++
		case t.kind == mark && strings.Contains(")]", t.text):
			depth--
		case depth == 0 && (t.are("where") || t.are("group") || t.are("having") || tokens(body[end:]).endsRows()):
			return body[start+1 : end]
		}
	}
	return body[start+1:]
}
