package foreign

import (
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/exact"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/refuse"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// body reads the parts of a query.
func (r *rewriter) body() {
	defer r.Deeper()()
	for {
		switch {
		case r.Peek(0).Kind == lex.End, r.Is("}"), r.subselects > 0 && r.Is(")"):
			return
		case r.Accept(";"), r.Accept(","):
		case r.Is("next") && len(r.columns) > 0 && r.limit == "" && r.skip == "" && sorts(r.Peek(1)): // NEXT ORDER BY
			r.Next()
		case r.Is("next", "match"):
			r.Next()
			r.nextStage()
		case r.Is("next") && len(r.columns) > 0 && (r.Peek(1).Are("filter") || r.Peek(1).Are("where") || r.Peek(1).Are("return") || r.Peek(1).Are("let")):
			r.Next()
			r.valueStage()
		case len(r.columns) > 0 && r.subselects == 0 && r.IsOne("union", "intersect", "except", "minus"):
			r.setOperation()
		case r.Accept("match"):
			r.matched()
		case r.Is("from", "{"):
			r.Next()
			r.match = append(r.match, r.braced()...)
		case r.Is("from") && r.Peek(1).Kind == lex.Dollar && r.IsAt(2, ":"):
			r.Next()
			r.items()
		case r.Accept("returning"):
			for !r.IsOne("}", ";") && r.Peek(0).Kind != lex.End {
				r.Next()
			}
			r.note(answersNote)
		case r.Is("call"), r.Is("optional", "call"):
			r.callBlock()
		case r.Is("optional"):
			r.optionalMatch()
		case r.IsOne("where", "filter"):
			r.Accept("filter")
			r.Accept("where") // ISO GQL allows both words
			r.wherePart()
		case r.Is("select"):
			r.selectRows()
		case r.Is("return", "(") && r.Peek(2).Kind == lex.Word && r.IsAt(3, ":") && lex.Argument(r.Peek(2).Text):
			r.returnArguments()
		case r.Accept("return"):
			r.returned()
		case r.Accept("with"):
			r.with()
		case r.Accept("let"):
			r.let()
		case r.Accept("qualify"):
			r.wherePart()
		case r.Accept("having"):
			r.havingPart()
		case r.Accept("group", "by"), r.Accept("group"), r.Accept("groupby"):
			r.grouped()
		case r.Accept("order", "by"), r.Accept("orderby"), r.Accept("order_by"), r.Accept("order"), r.Accept("sort", "by"), r.Accept("sort"):
			r.sorted()
		case r.Is("fetch", "first"), r.Is("fetch", "next"):
			r.fetch()
		case r.Accept("limit"), r.Accept("first"), r.Accept("top"):
			r.beforeColumns()
			r.Accept(":")
			refuse.If(r.limit != "") // each of two limits bounds other rows
			r.limit = strings.Trim(r.operand(), "()")
		case r.Accept("offset"), r.Accept("skip"):
			r.beforeColumns()
			r.Accept(":")
			r.skip = r.operand()
			if !r.Accept("rows") {
				r.Accept("row")
			}
		case r.Peek(0).Kind == lex.Dollar && (r.IsAt(1, ":") || r.IsAt(1, ".") || r.edgeNext()) && len(r.columns) == 0: // clauses without match
			r.items()
		case (r.Is("unwind") && r.Peek(1).Kind == lex.Dollar || r.Is("for") && r.Peek(3).Kind == lex.Dollar) && len(r.match)+len(r.statements) == 0:
			if !r.try(r.statement) {
				r.unwoundMatch()
			}
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
	case r.Is("any", "shortest", "{"), r.Is("all", "shortest", "{"):
		r.SkipTwo()
		r.shortest = true
		r.match = append(r.match, r.braced()...)
		r.shortest = false
	case r.Is("{"):
		r.stages()
	case r.Is("(") && r.Peek(1).Kind == lex.Word && r.Peek(2).Text == ":" && lex.Argument(r.Peek(1).Text):
		arguments := r.At
		r.SkipGroup()
		r.match = append(r.match, r.braced()...)
		after := r.At
		refuse.If(len(r.order) != 1) // the arguments do not say which node they mean
		r.At = arguments
		r.arguments(&r.read, scope{node: r.order[0]})
		r.At = after
	default:
		r.items()
	}
}

// fetch reads FETCH FIRST 10 ROWS ONLY.
func (r *rewriter) fetch() {
	r.SkipTwo()
	r.limit = "1"
	if !r.IsOne("row", "rows") {
		r.limit = r.operand()
	}
	if !r.Accept("rows") {
		r.Expect("row")
	}
	r.Expect("only")
}

// let reads the definitions after LET, with or without braces.
func (r *rewriter) let() {
	r.List(func() {
		t := r.Next()
		refuse.If(t.Kind != lex.Word && t.Kind != lex.Dollar || r.known(t.Text))
		if !r.Accept("=") {
			r.Expect(":")
		}
		r.values[t.Text] = r.operand()
	})
}

// items reads the clauses of a match without braces.
func (r *rewriter) items() {
	r.item()
	for !r.Starts() {
		r.item()
	}
}

// wherePart reads the conditions after WHERE outside of the braces of a match.
func (r *rewriter) wherePart() {
	refuse.If(r.early && len(r.columns) == 0) // it tests the rows after the limit
	c := cond{op: "all"}
	if r.Is("{") {
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
	if r.Accept("{") {
		for !r.Accept("}") {
			r.Accept("and")
			r.having = append(r.having, r.condition())
		}
		return
	}
	r.having = append(r.having, r.condition())
}

// grouped reads the keys after GROUP BY.
func (r *rewriter) grouped() {
	r.Accept(":")
	braces := r.Accept("{") || r.Accept("(")
	for more := true; more; more = r.Accept(",") || braces && !r.IsOne("}", ")") {
		r.groups = append(r.groups, r.position(r.groupKey()))
	}
	if braces && !r.Accept(")") {
		r.Expect("}")
	}
}

// groupKey reads a key after GROUP BY. Within an expression of SQL, a name means a property, and no column.
func (r *rewriter) groupKey() string {
	if next := r.Peek(1); !r.inSelect || next.Kind == lex.End || next.Kind == lex.Mark && next.Text != "(" || lex.StartsPart(next) {
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
	t := r.Peek(0)
	if (t.Kind == lex.Word || t.Kind == lex.Dollar && r.values[t.Text] != "") && slices.Contains(r.aliases, naming.Lower(t.Text)) && r.Peek(1).Text != "(" && r.Peek(1).Text != "." {
		if next := r.Peek(1); next.Kind != lex.Mark || strings.Contains(",};):", next.Text) {
			return naming.Lower(r.Next().Text)
		}
	}
	return r.alone(r.operand())
}

// sorted reads the keys of ORDER BY, of order { … } or of orderBy: { name: DESC }.
func (r *rewriter) sorted() {
	r.Accept(":")
	refuse.If(len(r.columns) > 0 && r.early && len(r.sort) > 0) // the order before the limit chooses the rows, and this one orders them
	r.sortKeys(scope{})
}

// sortKeys reads the keys of a sort. A bare name means a property of the node of the scope, or of the
// first one without a scope.
func (r *rewriter) sortKeys(sc scope) {
	list := r.Accept("[")
	braces := r.Accept("{")
	for {
		key, down := "", !list && r.Is("-") && r.Peek(1).Kind != lex.Number && r.Accept("-")
		if braces && r.Peek(0).Kind == lex.Word && r.Peek(1).Text == ":" && !slices.Contains(r.aliases, r.Peek(0).Text) {
			key = r.sortProperty(sc)
		} else if sc.node != "" && r.Peek(0).Kind == lex.Word && r.Peek(1).Text != "." && r.Peek(1).Text != "(" {
			key = r.sortEnum(sc)
		} else if t := r.Peek(0); t.Kind == lex.Text {
			if key = columnAlias(r.Next().Text); !slices.Contains(r.aliases, key) {
				panic(refuse.GiveUp{}) // a text orders nothing
			}
		} else {
			key = r.position(r.operandOrAlias())
			r.Accept(":")
		}
		if down {
			key += " desc"
		}
		r.direction(key)
		if list && r.Is("}", ",", "{") {
			r.Expect("}", ",", "{")
			continue
		}
		if !braces && r.Is(",") && r.Peek(1).Kind == lex.Word && r.IsAt(2, ":") { // the next argument
			break
		}
		if !r.Accept(",") && (!braces || r.Is("}")) {
			break
		}
	}
	if braces {
		r.Expect("}")
	}
	if list {
		r.Expect("]")
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

// columnOf returns the alias of the column that has an aggregate or a property, which it adds if there is none.
func (r *rewriter) columnOf(e string) string {
	for i, c := range r.computed {
		if c.text != e {
			continue
		}
		if c.alias == "" {
			j := slices.Index(r.columns, c)
			refuse.If(j < 0)
			c.alias = r.newAlias(nameOf(e))
			r.computed[i], r.columns[j] = c, c
		}
		return c.alias
	}
	alias := r.newAlias(nameOf(e))
	r.add(alias, e)
	return alias
}

// nameOf returns the name of the function or of the property with which an expression begins, or "".
func nameOf(e string) string {
	if property := keyProperty.FindString(e); property != "" && strings.HasPrefix(e, property) {
		return property[strings.IndexByte(property, '.')+1:]
	}
	return e[:lex.WordLen(e)]
}

// newAlias returns an alias that no column has.
func (r *rewriter) newAlias(alias string) string {
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
	quoted := r.Peek(0)
	isWord := func(names ...string) bool {
		if quoted.Kind == lex.Text && slices.Contains(names, strings.ToLower(quoted.Text)) {
			r.Next()
			return true
		}
		for _, n := range names {
			if r.Accept(n) {
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
	case r.Accept("asc_nulls_first"), r.Accept("asc_nulls_last"), r.Accept("desc_nulls_first"), r.Accept("desc_nulls_last"):
		name := strings.ToLower(r.Tokens[r.At-1].Text)
		order, place, _ := strings.Cut(name, "_nulls_")
		suffix, nulls = " "+order, place
	}
	switch {
	case r.Accept("nulls", "last"):
		nulls = "last"
	case r.Accept("nulls", "first"):
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
