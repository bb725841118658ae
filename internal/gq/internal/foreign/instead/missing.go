package instead

import (
	"regexp"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/lex"
	"github.com/omnigraph-go/omnigraph/internal/gq/internal/foreign/naming"
)

// absent is a construct of another language that has no counterpart.
type absent struct {
	forms []string                // of which one begins the construct
	found func(t lex.Tokens) bool // reports whether the construct begins at the first token, if no form says so; nil if forms do
	note  string                  // what to use instead
}

// at reports whether the construct begins a text.
func (a absent) at(t lex.Tokens) bool { return beginsOne(t, a.forms) || a.found != nil && a.found(t) }

// beginsOne reports whether one of several forms begins a text.
func beginsOne(t lex.Tokens, forms []string) bool {
	return slices.ContainsFunc(forms, func(f string) bool { return begins(t, f) })
}

// begins reports whether a form begins a text: words and marks in lower case with spaces between. A slash divides alternatives, _ is
// any word, $ a parameter, which may be a number, # a number, and ' a string.
func begins(t lex.Tokens, form string) bool {
	for i, part := range strings.Fields(form) {
		x := t.At(i)
		if !slices.ContainsFunc(strings.Split(part, "/"), func(want string) bool {
			kind, ok := kinds[want]
			return ok && x.Kind == kind || t[min(i, len(t)):].Are(want)
		}) {
			return false
		}
	}
	return true
}

// kinds are the marks of forms that stand for a kind of token.
var kinds = map[string]lex.Kind{"_": lex.Word, "$": lex.Dollar, "#": lex.Number, "'": lex.Text}

// readsSchema reports whether a reading of the schema begins.
func readsSchema(t lex.Tokens) bool {
	return beginsOne(t, []string{"__schema", "__type", "information_schema .", "pg_catalog ."}) || begins(t, "call _ .") && describes(t)
}

// Elsewhere reports whether a text asks for something that no query does, such as a change of the schema. Then [Notes] says
// what does.
func Elsewhere(text string) bool {
	all, ok := lex.TokensOf(text)
	if !ok {
		return false
	}
	if slices.ContainsFunc(elsewhere, func(a absent) bool { return a.at(all) }) {
		return true
	}
	for i := range all {
		if readsSchema(all[i:]) {
			return true
		}
	}
	return false
}

// describes reports whether CALL names a procedure that lists parts of the schema, such as db.labels.
func describes(t lex.Tokens) bool {
	for i := 1; t.At(i).Kind == lex.Word; i += 2 {
		if slices.Contains([]string{"schema", "labels", "relationshiptypes", "propertykeys", "indexes", "constraints"}, naming.Plain(t.At(i).Text)) {
			return true
		}
		if t.At(i+1).Text != "." {
			return false
		}
	}
	return false
}

// elsewhere lists constructs with which a text begins that asks for something that no query does.
var elsewhere = []absent{
	{forms: []string{"subscription"},
		note: "there are no subscriptions: read the change feed of the branch, GET /graphs/{id}/changes, which lists each new commit"},
	{forms: []string{"explain/profile"}, note: "the tool query_explain shows the plan of a query"},
	{forms: []string{"show/describe/desc"}, note: schemaNote},
	{forms: []string{"create/alter/drop table/index/constraint/view/type/graph/database/unique/fulltext/vector/range"},
		note: "types, keys, indexes and constraints are declared in the schema, a .pg file: node Person { email: String @key name: String @index }"},
	{forms: []string{"load csv", "copy"}, note: "load data with the tool graph_load or the command omnigraph load"},
	{forms: []string{"grant/revoke"}, note: "permissions are declared in the policy of the graph"},
}

// atStart lists other constructs with which a text begins.
var atStart = []absent{
	{forms: []string{"begin/commit/rollback/start"}, note: "each call of a mutation is one commit, all or nothing: write its statements into one query"},
	{forms: []string{"with recursive"}, note: "one match replaces the recursive query and its union: $a: Person { email: $email } $a knows{1,64} $b"},
	{forms: []string{"truncate"}, note: "a delete has a condition, as in delete Person where level = $level"},
	{forms: []string{"merge into"},
		note: "an upsert finds its node by the key, and changes only what it assigns: upsert Person { email: $email, name: $name }"},
}

const (
	pathNote   = "bind the walk: $a $w:knows{1,6} $b; $w.hops is its length and $w.nodes lists the ids of its nodes; read their properties with a second query, as in $p.id in $ids"
	pageNote   = "there is no offset and no cursor: order by a key, and ask for the rows after the last key, as in $p.name > $last"
	schemaNote = "a query reads no schema: the tool schema_get returns it, and type_describe describes one type"
	unwindNote = "a read makes no rows from a list: return the list, as in return { $p.tags }, or test its members, as in $p.tags contains \"a\""
)

// anywhere lists constructs that may stand in any place of a text.
var anywhere = []absent{
	{found: readsSchema, note: schemaNote},
	{forms: []string{"over ("},
		note: "there are no window functions: for a rank, count the rows that come before, as in count { $q: Product $q.price > $p.price } + 1; for the first rows of each group, write collect { … order { … } limit 3 }"},
	{forms: []string{"union/intersect/except/minus all/distinct/query/select/match/("},
		note: "there is no union: send two queries, which the tool graph_query takes in queries, or write the alternatives as any { exists { … } exists { … } } in one match"},
	{forms: []string{"set/_set/patch/changes/update/data/input : $"},
		note: "a mutation names each property that it writes, with a parameter for each value: update Person set { name: $name } where email = $email"},
	{forms: []string{"push/_append/_prepend :"},
		note: "an update writes a list as a whole, with all of its members: update Product set { tags: $tags } where sku = $sku"},
	{forms: []string{"having : {"},
		note: "a condition on an aggregate follows the columns: return { $p.name, avg($r.stars) as stars } having { stars > 4 }"},
	{forms: []string{"connect by"},
		note: "a walk follows an edge again and again: $a knows{1,64} $b"},
	{forms: []string{"in nodes/relationships/edges (", "elements ("},
		note: pathNote},
	{forms: []string{"offset/skip $/:", "pageinfo {", "after/before :"},
		found: func(t lex.Tokens) bool { return begins(t, "offset/skip #") && t.At(1).Text != "0" }, note: pageNote},
	{forms: []string{"totalcount"},
		note: "count all rows in a query of its own: return { count($p) as total }"},
	{forms: []string{"search ( _ :"},
		note: "search($p.title, $words) finds words in one property of one type: write a query for each type, and send them together in queries"},
	{forms: []string{"nulls first/last"},
		note: "nulls come first in ascending order and last in descending order; order { ($p.year is null), $p.year } puts them last"},
	{found: func(t lex.Tokens) bool {
		return begins(t, "next _") && slices.Contains(lex.Starters, strings.ToLower(t.At(1).Text))
	}, note: stagesNote},
	{forms: []string{"with _ as ("},
		note: "a query has one match: write the parts of WITH into it"},
	{found: func(t lex.Tokens) bool {
		return begins(t, "interval") && (periods(t.At(1).Text) || periods(t.At(2).Text)) || begins(t, "duration") && (monthly.MatchString(t.At(1).Text) || monthly.MatchString(t.At(2).Text) || begins(t, "duration ( {") && periods(t.At(3).Text))
	}, note: "months and years have different lengths: write days, as in now() - days(365)"},
	{forms: []string{"match ( _ ) _"},
		note: "a variable has one type: $p: Person; the tool type_describe lists the types"},
	{forms: []string{"string_agg/group_concat/listagg"},
		note: "texts of several rows are not joined: collect($p.name) lists them"},
	{forms: []string{"percentile_cont/percentile_disc/percentilecont/percentiledisc"},
		note: "the only percentile is the median: median($p.price)"},
	{forms: []string{"stdev/stddev/variance/var_pop/stdevp"}, note: "the aggregates are " + strings.Join(plan.AggregateNames(), ", ")},
	{forms: []string{"acyclic/simple (/path/paths"},
		note: "a walk has no mode: $a knows{1,6} $b lists each $b once"},
	{forms: []string{"array_append/array_remove/array_cat/array_prepend ("},
		note: "a list is assigned as a whole: read it, change it, and pass the new one as a parameter, as in set { tags: $tags }"},
	{forms: []string{"lateral ("},
		note: "a block has the rows of another node: first { $c placed $o return { $o.total as total } order { $o.placed desc } } as latest, with latest.total in later columns, or collect { … limit 3 }"},
	{found: func(t lex.Tokens) bool {
		walk := slices.IndexFunc(t[:min(8, len(t))], func(x lex.Token) bool { return x.Text == "*" || x.Text == "]" })
		if !t.Are("[") || walk < 0 || t[walk].Text != "*" {
			return false
		}
		rest := t[walk:min(walk+6, len(t))]
		end := slices.IndexFunc(rest, func(x lex.Token) bool { return x.Text == "{" || x.Text == "]" })
		return end >= 0 && rest[end].Text == "{"
	}, note: "a walk takes every edge of its type, without conditions on them: write out the traversals of each length, as in $a $x:knows $b  $b $y:knows $c, with conditions on $x and $y"},
	{forms: []string{"set _ = $", "set _ + = $"},
		note: "a parameter is no map: name the properties, as in set { title: $title, price: $price }"},
	{forms: []string{"= _ . _ + [/$/'"},
		note: "a list is assigned as a whole: read it, and pass the new list as a parameter"},
	{forms: []string{"reduce ("},
		note: "there is no reduce: sum { $a $r:knows $_ return $r.weight } adds the values of the edges of one node, and no function adds them along a walk"},
	{found: func(t lex.Tokens) bool {
		return begins(t, "any/all/none/single ( _ in") && (t.At(5).Text == "." || t.At(4).Kind == lex.Dollar)
	}, note: "a condition on a list tests whole members: $p.tags contains \"a\"; to test parts of them, make them nodes"},
	{forms: []string{"apoc/gds ."},
		note: "there are no procedures or functions of plugins: the functions are those of docs/language.md, and a walk such as $a knows{1,6} $b follows edges"},
	{forms: []string{"rand/random ("},
		note: "there are no random values: order by a property, and write a limit"},
	{forms: []string{"pivot/unpivot/grouping/rollup/cube (/sets"},
		note: "group in one query for each set of keys"},
	{found: func(t lex.Tokens) bool { return begins(t, "call _ .") && !describes(t) },
		note: "there are no procedures: search($p.text, $words) finds words, nearest($p.text_vector, $text) compares vectors, and a walk such as $a knows{1,6} $b follows edges"},
}

// monthly matches a duration of ISO 8601 with years or months.
var monthly = regexp.MustCompile(`^P(\d+Y|\d+M)`)

// periods reports whether a text names months or years.
func periods(text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(text, "month") || strings.Contains(text, "year")
}

const stagesNote = "a query has one match and one result: send two queries, or nest the second part in the first, as in collect { $c placed $o return { $o.total as total } limit 10 }"

// missing returns notes on the constructs of a text without a counterpart, at most two.
func missing(s *catalog.Schema, text lex.Tokens) (notes []string) {
	add := func(note string) {
		if len(notes) < 2 && !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	for _, a := range slices.Concat(elsewhere, atStart) {
		if a.at(text) {
			return []string{a.note}
		}
	}
	for i := range text {
		for _, a := range anywhere {
			if a.at(text[i:]) {
				add(a.note)
			}
		}
	}
	if unwound(text) {
		add(unwoundList(s, text))
	}
	for _, note := range []string{mergedEdge(s, text), secondMatch(text)} {
		if note != "" {
			add(note)
		}
	}
	if severalQueries(text) {
		add("send each part as a query of its own: the tool graph_query takes several in queries")
	}
	if note := unionType(s, text); note != "" {
		add(note)
	}
	if note := edgeNameMissing(s, text); note != "" {
		add(note)
	}
	for i := range text {
		for _, a := range onceEach {
			if len(notes) == 0 && a.at(text[i:]) {
				add(a.note)
			}
		}
	}
	return notes
}

// onceEach lists paths and choices of edges, which have a row for each way in other languages.
var onceEach = []absent{
	{forms: []string{"*/{ # ../,/]", "*/{ ../]"},
		note: "a walk such as $p knows{1,3} $q or $p <knows>{2,2} $q lists each node once, and not once for each path: write RETURN DISTINCT, or return distinct { … }"},
	{forms: []string{": _ |"},
		note: "a choice of edges such as $p knows|meets $q has one row for each pair of nodes: write RETURN DISTINCT, or return distinct { … }"},
}

// unwound reports whether a read has UNWIND or FOR.
func unwound(text lex.Tokens) bool {
	found := false
	for i, t := range text {
		rest := text[i:]
		if t.Kind == lex.Word && slices.Contains(lex.Writers, strings.ToLower(t.Text)) && rest.At(1).Text != ":" && (i == 0 || text[i-1].Text != ".") {
			return false
		}
		found = found || rest.Are("unwind") || rest.Are("unnest", "(") || rest.Are("for") && rest.At(2).Are("in")
	}
	return found
}

// severalQueries reports whether the body of a text has several fields or parts with aliases, or the text
// has several queries in the form of GraphQL.
func severalQueries(text lex.Tokens) bool {
	depth, fields, heads := 0, 0, 0
	graphQL := text.Are("{") || text.Are("query")
	for i, t := range text {
		rest := text[i:]
		if t.Kind == lex.Mark {
			switch t.Text {
			case "{", "(", "[":
				depth++
			case "}", ")", "]":
				depth--
			}
			continue
		}
		if t.Kind != lex.Word {
			continue
		}
		if depth == 0 && rest.One([]string{"query", "mutation"}) && (rest.At(1).Text == "{" || rest.At(2).Text == "{") {
			heads++
		}
		if depth == 1 && graphQL && i > 0 && (text[i-1].Text == "{" || text[i-1].Text == "}" || text[i-1].Kind == lex.Number) {
			switch {
			case rest.At(1).Text == ":" && !lex.Argument(t.Text):
				fields++
			case (rest.At(1).Text == "(" || rest.At(1).Text == "{") && !slices.Contains(lex.Starters, strings.ToLower(t.Text)):
				fields++
			}
		}
	}
	return fields > 1 || heads > 1
}

// unionType finds $x: Product|Category.
func unionType(s *catalog.Schema, text lex.Tokens) string {
	isType := func(t lex.Token) bool {
		return t.Kind == lex.Word && slices.ContainsFunc(s.Nodes, func(n *catalog.Node) bool { return naming.Plain(n.Name) == naming.Plain(t.Text) })
	}
	for i := range text {
		if rest := text[i:]; (rest.At(1).Text == "|" || rest.At(1).Text == "&") && isType(rest.At(0)) && (isType(rest.At(2)) || isType(rest.At(3))) {
			return "a variable has one type: write a query for each type, or let the types implement an interface and write $x: Named"
		}
	}
	return ""
}

// maxListedEdges is the maximum number of edges that an advice lists.
const maxListedEdges = 8

// edgeNameMissing returns the advice for the first arrow between two nodes that names no edge, such as (a)-->(b), or "".
func edgeNameMissing(s *catalog.Schema, text lex.Tokens) string {
	if len(s.Edges) == 0 {
		return ""
	}
	for i := 1; i < len(text); i++ {
		before, rest := text[i-1], text[i:]
		if before.Kind != lex.Dollar && before.Text != ")" {
			continue
		}
		n := arrowLen(rest)
		if to := rest.At(n); n == 0 || to.Kind != lex.Dollar && to.Text != "(" {
			continue
		}
		var names []string
		for _, e := range s.Edges {
			names = append(names, naming.Lower(e.Name))
		}
		if len(names) > maxListedEdges {
			names = append(names[:maxListedEdges], "…")
		}
		return "a traversal names its edge, as in $a " + names[0] + " $b; the edges are " + strings.Join(names, ", ")
	}
	return ""
}

// arrowLen returns the number of tokens of an arrow without an edge at the start of a text, or 0.
func arrowLen(text lex.Tokens) int {
	switch {
	case text.Are("-", "[", "]", "-"), text.Are("-", "[", "]", "->"), text.Are("<-", "[", "]", "-"): // -[]-, -[]->, <-[]-
		return 4
	case (text.Are("-", "[") || text.Are("<-", "[")) && text.At(2).Kind == lex.Word && text.At(3).Text == "]": // -[e]-, <-[e]-
		return 5
	case text.Are("->"):
		return 1
	case text.Are("-", "->"), text.Are("-", "-"), text.Are("<-", "-"): // -->, --, <--
		return 2
	}
	return 0
}
