package foreign

import (
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// table is a SELECT that WITH names, divided into its parts.
type table struct {
	name    string
	columns [][]token
	names   []string // of the columns
	from    []token
	where   []token
	groups  [][]token
	having  []token
	whole   bool // without DISTINCT, an order, a limit or a union
}

// tableOf divides the tokens of a SELECT.
func (r *rewriter) tableOf(name string, body []token) *table {
	if !tokens(body).are("select") {
		return nil
	}
	t := &table{name: name, whole: true}
	columns, start, end := columnsOf(body)
	if columns == nil {
		return nil
	}
	t.whole = start == 1
	for _, c := range columns {
		name, alias := columnName(c)
		if alias {
			if c = c[:len(c)-1]; len(c) > 0 && c[len(c)-1].are("as") {
				c = c[:len(c)-1]
			}
		}
		t.columns, t.names = append(t.columns, c), append(t.names, name)
	}
	depth := 0
	part := &t.from
	var group []token
	rest := body[end+1:]
	for i := 0; i < len(rest); i++ {
		x := rest[i]
		switch {
		case x.kind == mark && strings.Contains("([", x.text):
			depth++
		case x.kind == mark && strings.Contains(")]", x.text):
			depth--
		case depth > 0 || x.kind != word && x.text != ",":
		case x.are("where"):
			part = &t.where
			continue
		case x.are("group") && tokens(rest[i+1:]).are("by"):
			part = &group
			i++
			continue
		case x.are("having"):
			part = &t.having
			continue
		case tokens(rest[i:]).endsRows():
			t.whole = false
			return t
		case x.text == "," && part == &group:
			t.groups, group = append(t.groups, group), nil
			continue
		}
		*part = append(*part, x)
	}
	if len(group) > 0 {
		t.groups = append(t.groups, group)
	}
	r.expandStar(t)
	return t
}

// endsRows reports whether a part of SQL comes next that orders or bounds the rows, or adds others. Order may be the name of a
// table.
func (t tokens) endsRows() bool {
	next := t.at(1)
	return t.are("order", "by") || t.one([]string{"limit", "offset"}) && (next.kind == number || next.kind == dollar) ||
		t.are("fetch") && (next.are("first") || next.are("next")) || t.one([]string{"union", "intersect", "except"})
}

// expandStar names the columns of SELECT * from one table.
func (r *rewriter) expandStar(t *table) {
	if len(t.columns) != 1 || len(t.columns[0]) != 1 || t.columns[0][0].text != "*" || len(t.from) == 0 || len(t.from) > 2 {
		return
	}
	t.columns, t.names = nil, nil
	var names []string
	add := func(properties []*catalog.Property) {
		for _, p := range properties {
			names = append(names, p.Name)
		}
	}
	if n := r.schema.Node(r.tableNode(t.from[0].text)); n != nil {
		add(n.Properties)
		if r.property(n.Name, "id") == nil {
			names = append(names, "id")
		}
	} else if e := r.edgeType(t.from[0].text); e != nil {
		add(e.Properties)
		names = append(names, "src", "dst")
		for _, x := range r.tokens { // other names of the ends
			if x.kind == word && endOf(x.text) == "" && r.endNamed(e, x.text) != "" && !slices.Contains(names, x.text) {
				names = append(names, x.text)
			}
		}
	}
	for _, name := range names {
		t.names, t.columns = append(t.names, name), append(t.columns, []token{{kind: word, text: name, space: true}})
	}
}

// aggregates reports whether a column of the table has an aggregate.
func (t *table) aggregates(i int) bool {
	c := tokens(t.columns[i])
	return len(c) > 1 && slices.ContainsFunc(t.columns[i], func(x token) bool { return x.kind == word && aggregateName(x.text) != "" })
}

// column returns the index of a column, or -1.
func (t *table) column(name string) int {
	return slices.IndexFunc(t.names, func(n string) bool { return n != "" && strings.EqualFold(n, name) })
}

// use is a place where a SELECT joins a table that WITH names.
type use struct {
	table      *table
	alias      string
	start, end int // the tokens of the join
	left       bool
	keys       []int     // the columns in the conditions of the join
	values     [][]token // what they are equal to
}

// joinTableUses writes the places of a text that join a table with groups, or with one row of aggregates, as subselects with
// values: its rows belong to the values of its keys.
func (r *rewriter) joinTableUses(t *table, rest []token) []token {
	rest = t.inSelects(t.behindJoins(rest))
	for round := 2; round < 8; round++ {
		u := r.tableUse(t, rest)
		if u == nil {
			return rest
		}
		rest = r.replaceUse(u, rest, round)
		if len(rest) > maxSteps/4 {
			panic(giveUp{})
		}
	}
	panic(giveUp{})
}

// tableUse finds the next join of a table, or returns nil.
func (r *rewriter) tableUse(t *table, rest []token) *use {
	for i := range rest {
		if rest[i].kind != word || !strings.EqualFold(rest[i].text, t.name) || i == 0 || tokens(rest[i+1:]).are(".") {
			continue
		}
		u := &use{table: t, alias: t.name, start: i - 1}
		switch before := rest[i-1]; {
		case before.are("join"):
			for u.start > 0 && tokens(rest[u.start-1:]).one([]string{"inner", "left", "outer", "cross"}) {
				u.start--
				u.left = u.left || rest[u.start].are("left")
			}
		case before.text == "," && inFrom(rest[:i]):
		default:
			continue
		}
		at := i + 1
		if tokens(rest[at:]).are("as") {
			at++
		}
		if x := tokens(rest[at:]).at(0); x.kind == word && !startsPart(x) && !tokens(rest[at:]).one([]string{"on", "using", "join", "left", "inner", "cross"}) {
			u.alias = x.text
			at++
		}
		u.end = at
		if tokens(rest[at:]).are("on", "true") {
			u.end = at + 2
		} else if tokens(rest[at:]).are("on") {
			u.end = u.conditions(rest, at+1)
		}
		return u
	}
	return nil
}

// fromAt reports whether FROM stands n places after the first token.
func (t tokens) fromAt(n int) bool { return t.at(n).are("from") }

// inFrom reports whether the last tokens are tables after FROM.
func inFrom(before []token) bool {
	for i := len(before) - 1; i >= 0; i-- {
		switch x := before[i]; {
		case x.are("from"):
			return true
		case x.are("select"), x.are("where"), x.are("on"), x.kind == mark && x.text != ",":
			return false
		}
	}
	return false
}

// conditions reads alias.key = value, joined by AND, and returns the index of the token after them.
func (u *use) conditions(rest []token, at int) int {
	for {
		end := at
		for depth := 0; end < len(rest); end++ {
			x := rest[end]
			if x.kind == mark && x.text == "(" {
				depth++
			} else if x.kind == mark && x.text == ")" {
				if depth--; depth < 0 {
					break
				}
			}
			if depth == 0 && (x.are("and") || startsPart(x) || tokens(rest[end:]).one([]string{"join", "left", "inner", "cross"}) && tokens(rest[end+1:]).at(0).text != "." || x.text == "," || x.text == ";") {
				break
			}
		}
		c := rest[at:end]
		i := slices.IndexFunc(c, func(x token) bool { return x.kind == mark && x.text == "=" })
		if i < 0 {
			panic(giveUp{})
		}
		mine, other := c[:i], c[i+1:]
		if !tokens(mine).are(u.alias, ".") {
			mine, other = other, mine
		}
		if len(mine) != 3 || !tokens(mine).are(u.alias, ".") || u.table.column(mine[2].text) < 0 || len(other) == 0 {
			panic(giveUp{})
		}
		u.keys, u.values = append(u.keys, u.table.column(mine[2].text)), append(u.values, other)
		if !tokens(rest[end:]).are("and") {
			return end
		}
		at = end + 1
	}
}

// replaceUse removes a join of a table, and writes subselects in the place of its columns.
func (r *rewriter) replaceUse(u *use, rest []token, round int) []token {
	t := u.table
	grouped := len(t.groups) > 0
	if !t.whole || len(u.keys) != len(t.groups) || !grouped && !t.aggregates(0) {
		return r.inlineUse(u, rest, round)
	}
	low, high := around(rest, u.start)
	names := r.otherAliases(t, round)
	var where []token
	for i, k := range u.keys {
		where = append(where, token{kind: word, text: "and"})
		where = append(where, renameAliases(t.columns[k], names)...)
		where = append(where, token{kind: mark, text: "="})
		where = append(where, u.values[i]...)
	}
	subselect := func(columns []token) []token {
		out := []token{{kind: mark, text: "(", space: true}, {kind: word, text: "select"}}
		out = append(append(out, renameAliases(columns, names)...), token{kind: word, text: "from"})
		out = append(out, renameAliases(t.from, names)...)
		conditions := where
		if len(t.where) > 0 {
			conditions = slices.Concat([]token{{}, {kind: mark, text: "("}}, renameAliases(t.where, names), []token{{kind: mark, text: ")"}}, where)
		}
		if len(conditions) > 0 {
			out = append(append(out, token{kind: word, text: "where"}), conditions[1:]...)
		}
		return append(out, token{kind: mark, text: ")"})
	}
	column := func(i int) []token {
		if k := slices.Index(u.keys, i); k >= 0 {
			return u.values[k]
		}
		return subselect(t.columns[i])
	}
	head := replaceColumns(u, rest[low:u.start], column)
	tail := replaceColumns(u, rest[u.end:high], column)
	if grouped && !u.left {
		condition := append([]token{{kind: word, text: "exists"}}, subselect([]token{{kind: number, text: "1"}})...)
		if len(t.having) > 0 {
			condition = havingOf(t.having, subselect)
		}
		tail = withCondition(tail, condition)
	} else if len(t.having) > 0 {
		panic(giveUp{})
	}
	return slices.Concat(rest[:low], head, tail, rest[high:])
}

// havingOf writes one comparison of an aggregate as that of a subselect.
func havingOf(having []token, subselect func([]token) []token) []token {
	if len(having) < 4 || aggregateName(having[0].text) == "" || slices.ContainsFunc(having, func(x token) bool { return x.are("and") || x.are("or") }) {
		panic(giveUp{})
	}
	end := slices.IndexFunc(having, func(x token) bool { return x.kind == mark && x.text == ")" })
	if end < 0 {
		panic(giveUp{})
	}
	return append(subselect(having[:end+1]), having[end+1:]...)
}

// inlineUse joins the tables of a SELECT without groups in the place of its name.
func (r *rewriter) inlineUse(u *use, rest []token, round int) []token {
	t := u.table
	if !t.whole || len(t.groups)+len(t.having) > 0 || len(u.keys) == 0 || slices.ContainsFunc(t.from, func(x token) bool { return x.text == "," || x.text == "(" }) {
		panic(giveUp{})
	}
	joins := slices.IndexFunc(t.from, func(x token) bool { return x.are("join") || x.are("left") || x.are("inner") })
	if joins >= 0 && u.left {
		panic(giveUp{})
	}
	names := r.otherAliases(t, round)
	first, others := t.from, []token(nil)
	if joins >= 0 {
		first, others = t.from[:joins], t.from[joins:]
	}
	if len(first) == 1 { // a table without an alias gets one
		first = append(slices.Clone(first), token{kind: word, text: u.alias, space: true})
	}
	owner := renameAliases(first, names)
	column := func(i int) []token {
		c := renameAliases(t.columns[i], names)
		if len(c) == 1 && c[0].kind == word {
			c = []token{owner[len(owner)-1], {kind: mark, text: "."}, c[0]}
		}
		return c
	}
	join := []token{{kind: word, text: "join", space: true}}
	if u.left {
		join = []token{{kind: word, text: "left", space: true}, {kind: word, text: "join", space: true}}
	}
	join = append(append(join, owner...), token{kind: word, text: "on", space: true})
	for i, k := range u.keys {
		if i > 0 {
			join = append(join, token{kind: word, text: "and"})
		}
		join = append(append(append(join, column(k)...), token{kind: mark, text: "="}), u.values[i]...)
	}
	low, high := around(rest, u.start)
	if len(t.where) > 0 && u.left {
		if len(first) == 2 && len(t.from) == 1 {
			panic(giveUp{}) // the names of its columns have no table
		}
		join = append(append(join, token{kind: word, text: "and"}), renameAliases(t.where, names)...)
	}
	join = append(join, renameAliases(others, names)...)
	head := replaceColumns(u, rest[low:u.start], column)
	tail := replaceColumns(u, rest[u.end:high], column)
	if len(t.where) > 0 && !u.left {
		tail = withCondition(tail, renameAliases(t.where, names))
	}
	return slices.Concat(rest[:low], head, join, tail, rest[high:])
}

// around returns the bounds of the SELECT in which a token stands.
func around(text []token, at int) (low, high int) {
	depth := 0
	for low = at; low > 0; low-- {
		if x := text[low-1]; x.kind == mark && x.text == ")" {
			depth++
		} else if x.kind == mark && x.text == "(" {
			if depth--; depth < 0 {
				break
			}
		}
	}
	depth = 0
	for high = at; high < len(text); high++ {
		if x := text[high]; x.kind == mark && x.text == "(" {
			depth++
		} else if x.kind == mark && x.text == ")" {
			if depth--; depth < 0 {
				break
			}
		}
	}
	return low, high
}

// otherAliases gives the aliases in a table names with a number, so that they differ from those around it.
func (r *rewriter) otherAliases(t *table, round int) map[string]string {
	out := map[string]string{}
	for _, alias := range r.aliasesIn(t.from) {
		out[alias] = alias + strconv.Itoa(round)
	}
	return out
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

// renameAliases returns tokens with other aliases.
func renameAliases(part []token, names map[string]string) []token {
	out := slices.Clone(part)
	for i, x := range out {
		if name := names[x.text]; name != "" && x.kind == word && (i == 0 || out[i-1].text != ".") {
			out[i].text = name
		}
	}
	return out
}

// replaceColumns writes tokens in the place of the columns of a table.
func replaceColumns(u *use, text []token, column func(int) []token) (out []token) {
	depth := 0
	for i := 0; i < len(text); i++ {
		x, rest := text[i], tokens(text[i+1:])
		qualified := x.kind == word && x.text == u.alias && rest.are(".")
		name := x.text
		if qualified {
			name = rest.at(1).text
		}
		k := u.table.column(name)
		switch {
		case x.kind == mark && x.text == "(":
			depth++
		case x.kind == mark && x.text == ")":
			depth--
		}
		switch {
		case qualified && k < 0:
			panic(giveUp{})
		case qualified:
			i += 2
		case x.kind == mark && x.text == "*" && i > 0 && (text[i-1].are("select") || text[i-1].text == "."):
			panic(giveUp{})
		case x.kind != word || k < 0 || slices.Contains(u.keys, k) || !u.table.aggregates(k) || i > 0 && (text[i-1].text == "." || text[i-1].are("as")) || rest.are("(") || rest.are("."):
			out = append(out, x)
			continue
		}
		value := column(k)
		if u.left && len(u.table.groups) > 0 && !slices.Contains(u.keys, k) {
			value = nullOfNothing(value, u.table.columns[k], out, tokens(text[i+1:]))
		}
		if out = append(out, value...); len(out) > maxSteps/4 {
			panic(giveUp{})
		}
		if after := tokens(text[i+1:]); len(value) > 3 && slices.Contains([]string{"(", "nullif"}, value[0].text) && depth == 0 && (after.are(",") || after.are("from")) { // a column keeps its name
			out = append(out, token{kind: word, text: "as", space: true}, token{kind: word, text: name, space: true})
		}
	}
	return out
}

// nullOfNothing writes the value of a column of groups so that it is null for a group without rows, as an outer join says. It gives up if
// the column is not one aggregate.
func nullOfNothing(value, column, before []token, after tokens) []token {
	n := len(before)
	switch {
	case len(column) < 4 || aggregateName(column[0].text) == "" || slices.IndexFunc(column, func(x token) bool { return x.text == ")" }) != len(column)-1:
		panic(giveUp{})
	case !column[0].are("count"):
		return value
	case n > 1 && tokens(before[n-1:]).are("(") && tokens(before[n-2:]).one([]string{"coalesce", "ifnull"}) && after.are(",") && after.at(1).text == "0" && after.at(2).text == ")":
		return value
	case !tokens(column).are("count", "(", "*", ")"): // which may be 0 for a group with rows
		panic(giveUp{})
	}
	open := []token{{kind: word, text: "nullif", space: true}, {kind: mark, text: "("}}
	return slices.Concat(open, value, []token{{kind: mark, text: ","}, {kind: number, text: "0"}, {kind: mark, text: ")"}})
}

// withCondition adds a condition to the WHERE of the rest of a SELECT.
func withCondition(rest, condition []token) []token {
	depth, where, end := 0, -1, len(rest)
	for i, x := range rest {
		if x.kind == mark && x.text == "(" {
			depth++
		} else if x.kind == mark && x.text == ")" {
			depth--
		}
		if depth > 0 || x.kind != word && x.text != ";" {
			continue
		}
		if x.are("where") {
			where = i
		} else if x.text == ";" || (tokens(rest[i:]).endsRows() || tokens(rest[i:]).are("group", "by") || x.are("having")) && (i == 0 || rest[i-1].text != ".") {
			end = i
			break
		}
	}
	open, closing := token{kind: mark, text: "(", space: true}, token{kind: mark, text: ")"}
	if where < 0 {
		return slices.Concat(rest[:end], []token{{kind: word, text: "where", space: true}}, condition, rest[end:])
	}
	return slices.Concat(rest[:where+1], condition, []token{{kind: word, text: "and", space: true}, open}, rest[where+1:end], []token{closing}, rest[end:])
}
