package foreign

import (
	"regexp"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
)

// absent is a construct of another language that has no counterpart.
type absent struct {
	found func(t tokens) bool // reports whether the construct begins at the first token
	note  string              // what to use instead
}

// declares reports whether a statement that changes the schema begins.
func declares(t tokens) bool {
	return t.one([]string{"create", "alter", "drop"}, "table", "index", "constraint", "view", "type", "graph", "database", "unique", "fulltext", "vector", "range")
}

// readsSchema reports whether a reading of the schema begins.
func readsSchema(t tokens) bool {
	return t.are("__schema") || t.are("__type") || t.are("information_schema", ".") || t.are("pg_catalog", ".") ||
		t.are("call") && t.at(2).text == "." && describes(t)
}

// Elsewhere reports whether a text asks for something that no query does, such as a change of the schema. Then [Instead] says
// what does.
func Elsewhere(text string) bool {
	all, ok := tokensOf(text)
	if !ok {
		return false
	}
	if slices.ContainsFunc(elsewhere, func(a absent) bool { return a.found(all) }) {
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
func describes(t tokens) bool {
	for i := 1; t.at(i).kind == word; i += 2 {
		if slices.Contains([]string{"schema", "labels", "relationshiptypes", "propertykeys", "indexes", "constraints"}, plain(t.at(i).text)) {
			return true
		}
		if t.at(i+1).text != "." {
			return false
		}
	}
	return false
}

// elsewhere lists constructs with which a text begins that asks for something that no query does.
var elsewhere = []absent{
	{func(t tokens) bool { return t.are("subscription") },
		"there are no subscriptions: read the change feed of the branch, GET /graphs/{id}/changes, which lists each new commit"},
	{func(t tokens) bool { return t.one([]string{"explain", "profile"}) },
		"the tool query_explain shows the plan of a query"},
	{func(t tokens) bool { return t.one([]string{"show", "describe", "desc"}) },
		schemaNote},
	{declares,
		"types, keys, indexes and constraints are declared in the schema, a .pg file: node Person { email: String @key name: String @index }"},
	{func(t tokens) bool { return t.are("load", "csv") || t.one([]string{"copy"}) },
		"load data with the tool graph_load or the command omnigraph load"},
	{func(t tokens) bool { return t.one([]string{"grant", "revoke"}) },
		"permissions are declared in the policy of the graph"},
}

// atStart lists other constructs with which a text begins.
var atStart = []absent{
	{func(t tokens) bool { return t.one([]string{"begin", "commit", "rollback", "start"}) },
		"each call of a mutation is one commit, all or nothing: write its statements into one query"},
	{func(t tokens) bool { return t.are("with", "recursive") },
		"one match replaces the recursive query and its union: $a: Person { email: $email } $a knows{1,64} $b"},
	{func(t tokens) bool { return t.are("truncate") },
		"a delete has a condition, as in delete Person where level = $level"},
	{func(t tokens) bool { return t.are("merge", "into") },
		"an upsert finds its node by the key, and changes only what it assigns: upsert Person { email: $email, name: $name }"},
}

const (
	pathNote   = "bind the walk: $a $w:knows{1,6} $b; $w.hops is its length and $w.nodes lists the ids of its nodes; read their properties with a second query, as in $p.id in $ids"
	pageNote   = "there is no offset and no cursor: order by a key, and ask for the rows after the last key, as in $p.name > $last"
	schemaNote = "a query reads no schema: the tool schema_get returns it, and type_describe describes one type"
	unwindNote = "a read makes no rows from a list: return the list, as in return { $p.tags }, or test its members, as in $p.tags contains \"a\""
)

// anywhere lists constructs that may stand in any place of a text.
var anywhere = []absent{
	{readsSchema, schemaNote},
	{func(t tokens) bool { return t.are("over", "(") },
		"there are no window functions: for a rank, count the rows that come before, as in count { $q: Product $q.price > $p.price } + 1; for the first rows of each group, write collect { … order { … } limit 3 }"},
	{func(t tokens) bool {
		return t.one([]string{"union", "intersect", "except", "minus"}, "all", "distinct", "query", "select", "match", "(")
	},
		"there is no union: send two queries, which the tool graph_query takes in queries, or write the alternatives as any { exists { … } exists { … } } in one match"},
	{func(t tokens) bool {
		return t.one([]string{"set", "_set", "patch", "changes", "update", "data", "input"}) && t.at(1).text == ":" && t.at(2).kind == dollar
	},
		"a mutation names each property that it writes, with a parameter for each value: update Person set { name: $name } where email = $email"},
	{func(t tokens) bool { return t.one([]string{"push", "_append", "_prepend"}) && t.at(1).text == ":" },
		"an update writes a list as a whole, with all of its members: update Product set { tags: $tags } where sku = $sku"},
	{func(t tokens) bool { return t.are("having", ":", "{") },
		"a condition on an aggregate follows the columns: return { $p.name, avg($r.stars) as stars } having { stars > 4 }"},
	{func(t tokens) bool { return t.are("connect", "by") },
		"a walk follows an edge again and again: $a knows{1,64} $b"},
	{func(t tokens) bool {
		return t.are("in", "nodes", "(") || t.are("in", "relationships", "(") || t.are("in", "edges", "(") || t.are("elements", "(")
	}, pathNote},
	{func(t tokens) bool {
		return t.one([]string{"offset", "skip"}) && (t.at(1).kind == number && t.at(1).text != "0" || t.at(1).kind == dollar || t.at(1).text == ":") || t.are("pageinfo", "{") || t.are("after", ":") || t.are("before", ":")
	}, pageNote},
	{func(t tokens) bool { return t.are("totalcount") },
		"count all rows in a query of its own: return { count($p) as total }"},
	{func(t tokens) bool { return t.are("search", "(") && t.at(2).kind == word && t.at(3).text == ":" },
		"search($p.title, $words) finds words in one property of one type: write a query for each type, and send them together in queries"},
	{func(t tokens) bool { return t.are("nulls") && t.one([]string{"nulls"}, "first", "last") },
		"nulls come first in ascending order and last in descending order; order { ($p.year is null), $p.year } puts them last"},
	{func(t tokens) bool {
		return t.are("next") && t.at(1).kind == word && slices.Contains(starters, strings.ToLower(t.at(1).text))
	},
		stagesNote},
	{func(t tokens) bool {
		return t.are("with") && t.at(1).kind == word && t.at(2).are("as") && t.at(3).text == "("
	},
		"a query has one match: write the parts of WITH into it"},
	{func(t tokens) bool {
		return t.are("interval") && (periods(t.at(1).text) || periods(t.at(2).text)) || t.are("duration") && (monthly.MatchString(t.at(1).text) || monthly.MatchString(t.at(2).text) || t.at(1).text == "(" && t.at(2).text == "{" && periods(t.at(3).text))
	}, "months and years have different lengths: write days, as in now() - days(365)"},
	{func(t tokens) bool {
		return t.are("match", "(") && t.at(2).kind == word && t.at(3).text == ")" && t.at(4).kind == word
	},
		"a variable has one type: $p: Person; the tool type_describe lists the types"},
	{func(t tokens) bool { return t.one([]string{"string_agg", "group_concat", "listagg"}) },
		"texts of several rows are not joined: collect($p.name) lists them"},
	{func(t tokens) bool {
		return t.one([]string{"percentile_cont", "percentile_disc", "percentilecont", "percentiledisc"})
	},
		"the only percentile is the median: median($p.price)"},
	{func(t tokens) bool { return t.one([]string{"stdev", "stddev", "variance", "var_pop", "stdevp"}) },
		"the aggregates are count, sum, avg, min, max, median and collect"},
	{func(t tokens) bool { return t.one([]string{"acyclic", "simple"}, "(", "path", "paths") },
		"a walk has no mode: $a knows{1,6} $b lists each $b once"},
	{func(t tokens) bool {
		return t.one([]string{"array_append", "array_remove", "array_cat", "array_prepend"}, "(")
	},
		"a list is assigned as a whole: read it, change it, and pass the new one as a parameter, as in set { tags: $tags }"},
	{func(t tokens) bool { return t.are("lateral", "(") },
		"a block has the rows of another node: first { $c placed $o return { $o.total as total } order { $o.placed desc } } as latest, with latest.total in later columns, or collect { … limit 3 }"},
	{func(t tokens) bool {
		for i := 1; t.are("[") && i < 8 && t.at(i).text != "]"; i++ {
			if t.at(i).text == "*" {
				for j := i; j < i+6 && t.at(j).text != "]"; j++ {
					if t.at(j).text == "{" {
						return true
					}
				}
			}
		}
		return false
	}, "a walk takes every edge of its type, without conditions on them: write out the traversals of each length, as in $a $x:knows $b  $b $y:knows $c, with conditions on $x and $y"},
	{func(t tokens) bool {
		return t.are("set") && t.at(1).kind == word && (t.at(2).text == "=" && t.at(3).kind == dollar || t.at(2).text == "+" && t.at(3).text == "=" && t.at(4).kind == dollar)
	}, "a parameter is no map: name the properties, as in set { title: $title, price: $price }"},
	{func(t tokens) bool {
		return t.at(0).text == "=" && t.at(1).kind == word && t.at(2).text == "." && t.at(4).text == "+" && (t.at(5).text == "[" || t.at(5).kind == dollar || t.at(5).kind == text)
	}, "a list is assigned as a whole: read it, and pass the new list as a parameter"},
	{func(t tokens) bool { return t.are("reduce", "(") },
		"there is no reduce: sum { $a $r:knows $_ return $r.weight } adds the values of the edges of one node, and no function adds them along a walk"},
	{func(t tokens) bool {
		return t.one([]string{"any", "all", "none", "single"}, "(") && t.at(2).kind == word && t.at(3).are("in") && (t.at(5).text == "." || t.at(4).kind == dollar)
	},
		"a condition on a list tests whole members: $p.tags contains \"a\"; to test parts of them, make them nodes"},
	{func(t tokens) bool { return t.are("apoc", ".") || t.are("gds", ".") },
		"there are no procedures or functions of plugins: the functions are those of docs/language.md, and a walk such as $a knows{1,6} $b follows edges"},
	{func(t tokens) bool { return t.one([]string{"rand", "random"}, "(") },
		"there are no random values: order by a property, and write a limit"},
	{func(t tokens) bool {
		return t.one([]string{"pivot", "unpivot", "grouping", "rollup", "cube"}, "(", "sets")
	},
		"group in one query for each set of keys"},
	{func(t tokens) bool { return t.are("call") && t.at(2).text == "." && !describes(t) },
		"there are no procedures: search($p.text, $words) finds words, nearest($p.text_vector, $text) compares vectors, and a walk such as $a knows{1,6} $b follows edges"},
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
func missing(s *catalog.Schema, text tokens) (notes []string) {
	add := func(note string) {
		if len(notes) < 2 && !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	for _, a := range slices.Concat(elsewhere, atStart) {
		if a.found(text) {
			return []string{a.note}
		}
	}
	for i := range text {
		for _, a := range anywhere {
			if a.found(text[i:]) {
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
	if note := anyEdge(s, text); note != "" {
		add(note)
	}
	for i := range text {
		for _, a := range onceEach {
			if len(notes) == 0 && a.found(text[i:]) {
				add(a.note)
			}
		}
	}
	return notes
}

// onceEach lists paths and choices of edges, which have a row for each way in other languages.
var onceEach = []absent{
	{func(t tokens) bool {
		return (t.are("*") || t.are("{")) && (t.at(1).kind == number && (t.at(2).text == ".." || t.at(2).text == "," || t.at(2).text == "]") || t.at(1).text == ".." || t.at(1).text == "]")
	},
		"a walk such as $p knows{1,3} $q or $p <knows>{2,2} $q lists each node once, and not once for each path: write RETURN DISTINCT, or return distinct { … }"},
	{func(t tokens) bool { return t.are(":") && t.at(1).kind == word && t.at(2).text == "|" },
		"a choice of edges such as $p knows|meets $q has one row for each pair of nodes: write RETURN DISTINCT, or return distinct { … }"},
}

// unwound reports whether a read has UNWIND or FOR.
func unwound(text tokens) bool {
	found := false
	for i, t := range text {
		rest := text[i:]
		if t.kind == word && slices.Contains(writers, strings.ToLower(t.text)) && rest.at(1).text != ":" && (i == 0 || text[i-1].text != ".") {
			return false
		}
		found = found || rest.are("unwind") || rest.are("unnest", "(") || rest.are("for") && rest.at(2).are("in")
	}
	return found
}

// severalQueries reports whether the body of a text has several fields or parts with aliases, or the text
// has several queries in the form of GraphQL.
func severalQueries(text tokens) bool {
	depth, fields, heads := 0, 0, 0
	graphQL := text.are("{") || text.are("query")
	for i, t := range text {
		rest := text[i:]
		if t.kind == mark {
			switch t.text {
			case "{", "(", "[":
				depth++
			case "}", ")", "]":
				depth--
			}
			continue
		}
		if t.kind != word {
			continue
		}
		if depth == 0 && rest.one([]string{"query", "mutation"}) && (rest.at(1).text == "{" || rest.at(2).text == "{") {
			heads++
		}
		if depth == 1 && graphQL && i > 0 && (text[i-1].text == "{" || text[i-1].text == "}" || text[i-1].kind == number) {
			switch {
			case rest.at(1).text == ":" && !argument(t.text):
				fields++
			case (rest.at(1).text == "(" || rest.at(1).text == "{") && !slices.Contains(starters, strings.ToLower(t.text)):
				fields++
			}
		}
	}
	return fields > 1 || heads > 1
}

// unionType finds $x: Product|Category.
func unionType(s *catalog.Schema, text tokens) string {
	isType := func(t token) bool {
		return t.kind == word && slices.ContainsFunc(s.Nodes, func(n *catalog.Node) bool { return plain(n.Name) == plain(t.text) })
	}
	for i := range text {
		if rest := text[i:]; (rest.at(1).text == "|" || rest.at(1).text == "&") && isType(rest.at(0)) && (isType(rest.at(2)) || isType(rest.at(3))) {
			return "a variable has one type: write a query for each type, or let the types implement an interface and write $x: Named"
		}
	}
	return ""
}

// anyEdge finds an arrow that names no edge.
func anyEdge(s *catalog.Schema, text tokens) string {
	for i := 1; i < len(text); i++ {
		before, rest := text[i-1], text[i:]
		if before.kind != dollar && before.text != ")" {
			continue
		}
		arrow := 0
		switch {
		case rest.are("-", "[", "]", "-"), rest.are("-", "[", "]", "->"), rest.are("<-", "[", "]", "-"):
			arrow = 4
		case (rest.are("-", "[") || rest.are("<-", "[")) && rest.at(2).kind == word && rest.at(3).text == "]":
			arrow = 5
		case rest.are("->"):
			arrow = 1
		case rest.are("-", "->"), rest.are("-", "-"), rest.are("<-", "-"):
			arrow = 2
		}
		if to := rest.at(arrow); arrow == 0 || len(s.Edges) == 0 || to.kind != dollar && to.text != "(" {
			continue
		}
		var names []string
		for _, e := range s.Edges {
			names = append(names, lower(e.Name))
		}
		if len(names) > 8 {
			names = append(names[:8], "…")
		}
		return "a traversal names its edge, as in $a " + names[0] + " $b; the edges are " + strings.Join(names, ", ")
	}
	return ""
}
