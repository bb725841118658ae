package foreign

import (
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/internal/foreign/exact"
	"github.com/omnigraph-go/omnigraph/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/gq/internal/foreign/refuse"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// body reads the parts of a query.
func (r *rewriter) body() {
	defer r.deeper()()
	for {
		switch {
		case r.peek(0).Kind == lex.End, r.is("}"), r.subselects > 0 && r.is(")"):
			return
		case r.accept(";"), r.accept(","):
		case r.is("next") && len(r.columns) > 0 && r.limit == "" && r.skip == "" && sorts(r.peek(1)): // NEXT ORDER BY
			r.next()
		case r.is("next", "match"):
			r.next()
			r.nextStage()
		case r.is("next") && len(r.columns) > 0 && (r.peek(1).Are("filter") || r.peek(1).Are("where") || r.peek(1).Are("return") || r.peek(1).Are("let")):
			r.next()
			r.valueStage()
		case len(r.columns) > 0 && r.subselects == 0 && r.isOne("union", "intersect", "except", "minus"):
			r.setOperation()
		case r.accept("match"):
			r.matched()
		case r.is("from", "{"):
			r.next()
			r.match = append(r.match, r.braced()...)
		case r.is("from") && r.peek(1).Kind == lex.Dollar && r.isAt(2, ":"):
			r.next()
			r.items()
		case r.accept("returning"):
			for !r.isOne("}", ";") && r.peek(0).Kind != lex.End {
				r.next()
			}
			r.note(answersNote)
		case r.is("call"), r.is("optional", "call"):
			r.callBlock()
		case r.is("optional"):
			r.optionalMatch()
		case r.isOne("where", "filter"):
			r.accept("filter")
			r.accept("where") // ISO GQL allows both words
			r.wherePart()
		case r.is("select"):
			r.selectRows()
		case r.is("return", "(") && r.peek(2).Kind == lex.Word && r.isAt(3, ":") && lex.Argument(r.peek(2).Text):
			r.returnArguments()
		case r.accept("return"):
			r.returned()
		case r.accept("with"):
			r.with()
		case r.accept("let"):
			r.let()
		case r.accept("qualify"):
			r.wherePart()
		case r.accept("having"):
			r.havingPart()
		case r.accept("group", "by"), r.accept("group"), r.accept("groupby"):
			r.grouped()
		case r.accept("order", "by"), r.accept("orderby"), r.accept("order_by"), r.accept("order"), r.accept("sort", "by"), r.accept("sort"):
			r.sorted()
		case r.is("nearest", ":", "{"):
			r.similar()
		case r.is("fetch", "first"), r.is("fetch", "next"):
			r.fetch()
		case r.accept("limit"), r.accept("first"), r.accept("top"):
			r.beforeColumns()
			r.accept(":")
			refuse.If(r.limit != "") // each of two limits bounds other rows
			r.limit = strings.Trim(r.operand(), "()")
		case r.accept("offset"), r.accept("skip"):
			r.beforeColumns()
			r.accept(":")
			r.skip = r.operand()
			if !r.accept("rows") {
				r.accept("row")
			}
		case r.peek(0).Kind == lex.Dollar && (r.isAt(1, ":") || r.isAt(1, ".") || r.edgeNext()) && len(r.columns) == 0: // clauses without match
			r.items()
		case (r.is("unwind") && r.peek(1).Kind == lex.Dollar || r.is("for") && r.peek(3).Kind == lex.Dollar) && len(r.match)+len(r.statements) == 0:
			if !r.try(r.statement) {
				r.unwoundMatch()
			}
		case r.is("depth", ":"), r.is("maxdepth", ":"):
			r.depthBound()
		default:
			r.statement()
		}
	}
}

// beforeColumns notes that a limit or an offset comes before the columns, if there are none yet.
func (r *rewriter) beforeColumns() {
	if len(r.columns) == 0 {
		r.early = true
		r.ungrouped = r.ungrouped || !r.staged
	}
}

// sorts reports whether a token begins a part that only orders or bounds the rows of the result.
func sorts(t lex.Token) bool {
	return t.Kind == lex.Word && slices.Contains([]string{"order", "limit", "offset", "skip"}, strings.ToLower(t.Text))
}

// matched reads what follows MATCH: clauses with or without braces, perhaps after arguments in
// parentheses as in match(where: { price: { gt: 5 } }) { $p: Product }.
func (r *rewriter) matched() {
	refuse.If(len(r.columns) > 0)
	r.checkStage()
	r.beginBlock()
	switch {
	case r.is("any", "shortest", "{"), r.is("all", "shortest", "{"):
		r.skipTwo()
		r.shortest = true
		r.match = append(r.match, r.braced()...)
		r.shortest = false
	case r.is("{"):
		r.stages()
	case r.is("(") && r.peek(1).Kind == lex.Word && r.peek(2).Text == ":" && lex.Argument(r.peek(1).Text):
		arguments := r.at
		r.skipGroup()
		r.match = append(r.match, r.braced()...)
		after := r.at
		if len(r.order) != 1 { // the arguments do not say which node they mean
			panic(refuse.GiveUp{})
		}
		r.at = arguments
		r.arguments(&r.read, scope{node: r.order[0]})
		r.at = after
	default:
		r.items()
	}
}

// skipGroup skips the tokens from an opening bracket to the closing one.
func (r *rewriter) skipGroup() {
	for depth := 0; ; {
		t := r.next()
		if t.Kind != lex.Mark {
			continue
		}
		switch t.Text {
		case "(", "{", "[":
			depth++
		case ")", "}", "]":
			if depth--; depth <= 0 {
				return
			}
		}
	}
}

// fetch reads FETCH FIRST 10 ROWS ONLY.
func (r *rewriter) fetch() {
	r.next()
	r.next()
	r.limit = "1"
	if !r.isOne("row", "rows") {
		r.limit = r.operand()
	}
	if !r.accept("rows") {
		r.expect("row")
	}
	r.expect("only")
}

// depthBound reads a bound on the depth of selections, which must not leave out any of them.
func (r *rewriter) depthBound() {
	r.next()
	r.next()
	n, err := strconv.Atoi(r.next().Text)
	refuse.If(err != nil || n < r.deepest)
}

// let reads the definitions after LET, with or without braces.
func (r *rewriter) let() {
	braces := r.accept("{")
	for more := true; more; more = r.accept(",") || braces && !r.isOne("}") {
		t := r.next()
		refuse.If(t.Kind != lex.Word && t.Kind != lex.Dollar || r.known(t.Text))
		if !r.accept("=") {
			r.expect(":")
		}
		r.values[t.Text] = r.operand()
	}
	if braces {
		r.expect("}")
	}
}

// items reads the clauses of a match without braces.
func (r *rewriter) items() {
	r.item()
	for !r.starts() {
		r.item()
	}
}

// wherePart reads the conditions after WHERE outside of the braces of a match.
func (r *rewriter) wherePart() {
	refuse.If(r.early && len(r.columns) == 0) // it tests the rows after the limit
	c := cond{op: "all"}
	if r.is("{") {
		c.subs = r.braced()
	} else {
		c = r.whereCondition()
	}
	parts := []cond{c}
	if c.op == "all" {
		parts = c.subs
	}
	for _, part := range parts {
		if text := r.groupCondition(part.render(false)); text != "" {
			r.having = append(r.having, leaf(text))
		} else {
			r.match = append(r.match, part)
		}
	}
}

// whereCondition reads a condition, in which a name of SQL means a property rather than a column.
func (r *rewriter) whereCondition() (c cond) {
	aliases := r.aliases
	if r.inSelect && len(aliases) > 0 && r.try(func() {
		r.aliases = nil
		c = r.condition()
	}) {
		r.aliases = aliases
		return c
	}
	return r.condition()
}

// groupCondition returns a condition on values that WITH aggregated, which holds for groups, with the names of the
// values. For another condition it returns "".
func (r *rewriter) groupCondition(text string) string {
	found := false
	for _, v := range r.computed {
		if v.fromWith && aggregated(v.text) && strings.Contains(text, v.text) {
			text, found = strings.ReplaceAll(text, v.text, v.alias), true
		}
	}
	if !found {
		return ""
	}
	for _, v := range r.computed { // the keys
		if v.fromWith && !aggregated(v.text) && v.alias != "" {
			text = strings.ReplaceAll(text, v.text, v.alias)
		}
	}
	return text
}

// havingPart reads the conditions after HAVING.
func (r *rewriter) havingPart() {
	r.inHaving = true
	defer func() { r.inHaving = false }()
	if r.accept("{") {
		for !r.accept("}") {
			r.accept("and")
			r.having = append(r.having, r.condition())
		}
		return
	}
	r.having = append(r.having, r.condition())
}

// grouped reads the keys after GROUP BY.
func (r *rewriter) grouped() {
	r.accept(":")
	braces := r.accept("{") || r.accept("(")
	for more := true; more; more = r.accept(",") || braces && !r.isOne("}", ")") {
		r.groups = append(r.groups, r.position(r.groupKey()))
	}
	if braces && !r.accept(")") {
		r.expect("}")
	}
}

// groupKey reads a key after GROUP BY. Within an expression of SQL, a name means a property, and no column.
func (r *rewriter) groupKey() string {
	if next := r.peek(1); !r.inSelect || next.Kind == lex.End || next.Kind == lex.Mark && next.Text != "(" || lex.StartsPart(next) {
		key := r.operandOrAlias()
		r.checkShadow(key)
		return key
	}
	saved := r.aliases
	r.aliases = nil
	key := r.alone(r.operand())
	r.aliases = saved
	return key
}

// keyedBy reports whether an expression is a property of a node of which GROUP BY has the key.
func (r *rewriter) keyedBy(e string) bool {
	owner, property, ok := strings.Cut(e, ".")
	if !ok || lex.WordLen(property) != len(property) || !strings.HasPrefix(e, "$") {
		return false
	}
	key := r.Key(r.typeOf(owner[1:]))
	return slices.ContainsFunc(r.groups, func(g string) bool { return g == owner+"."+key || g == owner+".id" })
}

// checkGroups checks that each column without an aggregate is a key after GROUP BY, or a property of a node
// that is one. It adds columns for the keys that are none yet, because the columns are the keys.
func (r *rewriter) checkGroups() {
	if len(r.groups) == 0 {
		return
	}
	node := func(key string) bool { return strings.HasPrefix(key, "$") && r.bound(key[1:]) }
	for _, c := range r.computed {
		if !c.fromWith && !aggregated(c.text) && !r.keyedBy(c.text) && !slices.ContainsFunc(r.groups, func(key string) bool {
			owner := strings.TrimSuffix(key, ".id")
			return c.text == key || c.alias == key || node(owner) && strings.HasPrefix(c.text, owner+".")
		}) {
			panic(refuse.GiveUp{})
		}
	}
	if len(r.listings) == 0 && !slices.ContainsFunc(r.computed, func(c column) bool { return aggregated(c.text) }) {
		r.distinct = true
	}
	for _, key := range r.groups {
		switch {
		case slices.ContainsFunc(r.computed, func(c column) bool {
			return !c.fromWith && (c.text == key || c.alias == key || c.text == key+".id")
		}):
		case node(key):
			r.add(key[1:]+"_id", key+".id")
		default:
			r.add("", key)
		}
	}
}

// operandOrAlias reads an expression, in which the name of a column comes before that of a property.
func (r *rewriter) operandOrAlias() string {
	t := r.peek(0)
	if (t.Kind == lex.Word || t.Kind == lex.Dollar && r.values[t.Text] != "") && slices.Contains(r.aliases, naming.Lower(t.Text)) && r.peek(1).Text != "(" && r.peek(1).Text != "." {
		if next := r.peek(1); next.Kind != lex.Mark || strings.Contains(",};):", next.Text) {
			return naming.Lower(r.next().Text)
		}
	}
	return r.alone(r.operand())
}

// sorted reads the keys of ORDER BY, of order { … } or of orderBy: { name: DESC }.
func (r *rewriter) sorted() {
	r.accept(":")
	refuse.If(len(r.columns) > 0 && r.early && len(r.sort) > 0) // the order before the limit chooses the rows, and this one orders them
	r.sortKeys(scope{})
}

// sortKeys reads the keys of a sort. A bare name means a property of the node of the scope, or of the
// first one without a scope.
func (r *rewriter) sortKeys(sc scope) {
	list := r.accept("[")
	braces := r.accept("{")
	for {
		key, down := "", !list && r.is("-") && r.peek(1).Kind != lex.Number && r.accept("-")
		if braces && r.peek(0).Kind == lex.Word && r.peek(1).Text == ":" && !slices.Contains(r.aliases, r.peek(0).Text) {
			key = r.sortProperty(sc)
		} else if sc.node != "" && r.peek(0).Kind == lex.Word && r.peek(1).Text != "." && r.peek(1).Text != "(" {
			key = r.sortEnum(sc)
		} else if t := r.peek(0); t.Kind == lex.Text {
			if key = columnAlias(r.next().Text); !slices.Contains(r.aliases, key) {
				panic(refuse.GiveUp{}) // a text orders nothing
			}
		} else {
			key = r.position(r.operandOrAlias())
			r.accept(":")
		}
		if down {
			key += " desc"
		}
		r.direction(key)
		if list && r.is("}", ",", "{") {
			r.expect("}", ",", "{")
			continue
		}
		if !braces && r.is(",") && r.peek(1).Kind == lex.Word && r.isAt(2, ":") { // the next argument
			break
		}
		if !r.accept(",") && (!braces || r.is("}")) {
			break
		}
	}
	if braces {
		r.expect("}")
	}
	if list {
		r.expect("]")
	}
}

// groupConditions moves the conditions of the match on aggregates to having, which uses columns.
func (r *rewriter) groupConditions() {
	rest := r.match[:0:0]
	for _, c := range r.match {
		if aggregate := c.testedAggregate(); aggregate != "" {
			r.having = append(r.having, leaf(r.columnOf(aggregate)+c.text[len(aggregate):]))
		} else {
			rest = append(rest, c)
		}
	}
	r.match = rest
	for i, c := range r.having {
		if aggregate := c.testedAggregate(); aggregate != "" {
			r.having[i] = leaf(r.columnOf(aggregate) + c.text[len(aggregate):])
		}
	}
}

// testedAggregate returns the call of an aggregate on the left side of a condition, or "".
func (c cond) testedAggregate() string {
	f := c.filter()
	if f == nil {
		return ""
	}
	if call, ok := f.Left.(*syntax.Call); !ok || !exact.IsAggregate(call) {
		return ""
	}
	return c.text[:exact.EndOffset(f.Left.Source())-len(beforeClause)]
}

// columnOf returns the alias of the column that has an aggregate, which it adds if there is none.
func (r *rewriter) columnOf(aggregate string) string {
	for i, c := range r.computed {
		if c.text != aggregate {
			continue
		}
		if c.alias != "" {
			return c.alias
		}
		j := slices.Index(r.columns, aggregate)
		refuse.If(j < 0)
		alias := r.newAlias(aggregate)
		r.computed[i].alias, r.columns[j] = alias, aggregate+" as "+alias
		return alias
	}
	alias := r.newAlias(aggregate)
	r.add(alias, aggregate)
	return alias
}

// newAlias returns an alias that no column has, after the name of a function.
func (r *rewriter) newAlias(e string) string {
	alias := e[:lex.WordLen(e)]
	for slices.Contains(r.aliases, alias) {
		alias += "2"
	}
	r.aliases = append(r.aliases, alias)
	return alias
}

// position returns the column at the position that a sort key of SQL is, or the key.
func (r *rewriter) position(key string) string {
	n, err := strconv.Atoi(key)
	if err != nil {
		return key
	}
	refuse.If(n < 1 || n > len(r.computed))
	if c := r.computed[n-1]; c.alias != "" {
		return c.alias
	}
	return r.computed[n-1].text
}

// direction reads the direction of a sort key and where its nulls stand, and appends the key.
func (r *rewriter) direction(key string) {
	suffix := ""
	quoted := r.peek(0)
	isWord := func(names ...string) bool {
		if quoted.Kind == lex.Text && slices.Contains(names, strings.ToLower(quoted.Text)) {
			r.next()
			return true
		}
		for _, n := range names {
			if r.accept(n) {
				return true
			}
		}
		return false
	}
	nulls := ""
	switch {
	case strings.HasSuffix(key, " desc"):
		key, suffix = strings.TrimSuffix(key, " desc"), " desc"
	case isWord("asc", "ascending"):
		suffix = " asc"
	case isWord("desc", "descending"):
		suffix = " desc"
	case r.accept("asc_nulls_first"), r.accept("asc_nulls_last"), r.accept("desc_nulls_first"), r.accept("desc_nulls_last"):
		name := strings.ToLower(r.tokens[r.at-1].Text)
		order, place, _ := strings.Cut(name, "_nulls_")
		suffix, nulls = " "+order, place
	}
	switch {
	case r.accept("nulls", "last"):
		nulls = "last"
	case r.accept("nulls", "first"):
		nulls = "first"
	}
	// Nulls come first in ascending order and last in descending order.
	if nulls == "last" && suffix != " desc" {
		r.sort = append(r.sort, "("+key+" is null)")
	} else if nulls == "first" && suffix == " desc" {
		r.sort = append(r.sort, "("+key+" is null) desc")
	}
	r.sort = append(r.sort, key+suffix)
}
