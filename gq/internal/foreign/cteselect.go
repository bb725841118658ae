package foreign

import (
	"slices"
	"strings"
)

// behindJoins writes FROM x JOIN Person p ON … as FROM Person p JOIN x ON …, if x is the table.
func (t *table) behindJoins(rest []token) []token {
	for i := range rest {
		if !rest[i].are("from") || !strings.EqualFold(tokens(rest[i+1:]).at(0).text, t.name) {
			continue
		}
		join := i + 2
		for join < len(rest) && join < i+4 && !tokens(rest[join:]).one([]string{"join", "inner"}) {
			join++
		}
		on := join + 1
		for on < len(rest) && on < join+6 && !rest[on].are("on") {
			on++
		}
		if on >= len(rest) || !rest[on].are("on") || join >= len(rest) || !tokens(rest[join:]).one([]string{"join", "inner"}) {
			continue
		}
		table := join + 1
		if rest[join].are("inner") {
			table++
		}
		return slices.Concat(rest[:i+1], rest[table:on], []token{{kind: word, text: "join", space: true}}, rest[i+1:join], rest[on:])
	}
	return rest
}

// inSelects writes (SELECT column FROM x), with the table x, as a SELECT from the tables of x.
func (t *table) inSelects(rest []token) []token {
	for i := range rest {
		s := tokens(rest[i:])
		if !s.are("(", "select") || !s.fromAt(3) || !strings.EqualFold(s.at(4).text, t.name) || s.at(5).text != ")" {
			continue
		}
		k := t.column(s.at(2).text)
		if k < 0 || !t.whole {
			continue
		}
		out := slices.Concat([]token{{kind: mark, text: "(", space: true}, {kind: word, text: "select"}}, t.columns[k], []token{{kind: word, text: "from"}}, t.from)
		conditions := slices.Clone(t.where)
		low := i
		if len(t.groups) > 0 {
			if t.aggregates(k) || len(t.groups) > 1 {
				continue
			}
			if len(t.having) > 0 {
				if low, out = t.memberOf(rest, i, k); low < 0 {
					continue
				}
				return slices.Concat(rest[:low], out, rest[i+6:])
			}
		}
		if len(conditions) > 0 {
			out = append(append(out, token{kind: word, text: "where"}), conditions...)
		}
		return slices.Concat(rest[:low], append(out, token{kind: mark, text: ")"}), rest[i+6:])
	}
	return rest
}

// memberOf writes p.id IN (SELECT id FROM x), with a table x that keeps some groups, as the condition on the group of one key.
// It returns the index of the first token that the condition replaces, or -1.
func (t *table) memberOf(rest []token, at, k int) (low int, out []token) {
	low = at - 1
	if low < 1 || !rest[low].are("in") || rest[low-1].are("not") || rest[low-1].kind != word {
		return -1, nil
	}
	low--
	if low > 1 && rest[low-1].text == "." {
		low -= 2
	}
	where := slices.Concat(t.columns[k], []token{{kind: mark, text: "="}}, rest[low:at-1])
	if len(t.where) > 0 {
		where = slices.Concat([]token{{kind: mark, text: "("}}, t.where, []token{{kind: mark, text: ")"}, {kind: word, text: "and"}}, where)
	}
	return low, havingOf(t.having, func(columns []token) []token {
		return slices.Concat([]token{{kind: mark, text: "(", space: true}, {kind: word, text: "select"}}, columns, []token{{kind: word, text: "from"}}, t.from,
			[]token{{kind: word, text: "where"}}, where, []token{{kind: mark, text: ")"}})
	})
}

// groupsInSelects writes p.id IN (SELECT id … GROUP BY id HAVING …) as the condition on the group of one key.
func (r *rewriter) groupsInSelects() {
	for i := 1; i+2 < len(r.tokens); i++ {
		if !r.tokens[i-1].are("in") || !tokens(r.tokens[i:]).are("(", "select") {
			continue
		}
		start := r.at
		r.at = i
		r.skipGroup()
		after := r.at
		r.at = start
		t := r.tableOf("", r.tokens[i+1:after-1])
		if t == nil || !t.whole || len(t.groups) != 1 || len(t.having) == 0 || len(t.columns) != 1 || t.aggregates(0) {
			continue
		}
		if low, out := t.memberOf(r.tokens, i, 0); low >= 0 {
			r.tokens = slices.Concat(r.tokens[:low], out, r.tokens[after:])
		}
	}
}

// hoistTables lets a SELECT in parentheses after JOIN be a table that WITH names.
func (r *rewriter) hoistTables() {
	for i := r.at; i+2 < len(r.tokens); i++ {
		if r.tokens[i].are("join") && tokens(r.tokens[i+1:]).are("lateral", "(", "select") {
			r.tokens = slices.Delete(slices.Clone(r.tokens), i+1, i+2)
		}
		if !r.tokens[i].are("join") || !tokens(r.tokens[i+1:]).are("(", "select") {
			continue
		}
		start := r.at
		r.at = i + 1
		r.skipGroup()
		body := r.tokens[i+2 : r.at-1]
		r.accept("as")
		name := r.word()
		after := r.at
		r.at = start
		t := r.tableOf(name, body)
		if t == nil {
			return
		}
		joined := slices.Concat(r.tokens[:i+1], []token{{kind: word, text: name, space: true}}, r.tokens[after:])
		r.tokens = r.joinTableUses(t, joined)
	}
}
