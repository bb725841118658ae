package guide

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/check"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// topics lists the topics in the order in which to learn them.
var topics = []Topic{
	{Name: "overview", Summary: "The form of a query, and what to read next.",
		text: `A text contains queries. Each has a name, typed parameters and a body. A read has match and return, and
optionally having, order and limit, in this order. All clauses in match must hold, and their order does not matter:
the language has no keywords and, or, where; any { … } holds alternatives. Type names start with an upper-case letter; variables start with $. Write the
name of an edge with a lower-case first letter between two variables. Pass values as parameters; do not paste
them into the text. Strings need double quotes. Comments are // and /* */.`,
		cases: []example{{"A read", overviewRead}, {"A mutation", insertNode}}},
	{Name: "match", Summary: "Binding variables to nodes.",
		text: `$v: Type binds $v to each node of a node type or, if Type is an interface, of each type that implements it. { property: value } keeps the nodes whose
property has that value: a literal, a parameter or now(). A list property must contain the value.
Bindings that nothing connects form a cross product. $_ is a variable that no other clause can use; each $_ is
separate from the others, and outside a not block it returns a row for each node that it matches. The id of a node
with a key of several properties is a JSON array of their values as strings, in the order of the property names: ["7","north"].
A variable over an interface has the properties of the interface, $v.id, and $v.type, the name of the node's type. An id is unique only
within a type. To use another property or search a text, bind a variable of one type: $p: Person  $p = $v keeps the nodes that
are a Person. At the end of a traversal, nodes of other types than the edge needs do not match.`,
		cases: []example{{"One node by its key", byKey}, {"All nodes of a type", allNodes}, {"A condition that applies only if the parameter is given", optionalInline}}},
	{Name: "traversal", Summary: "Following edges: direction, distance, properties of the edge.",
		text: `$a edge $b follows the edge from its source to its target, or backwards if the type of $a can only be the target.
A pair of nodes appears once, even if several parallel edges join it. {min,max} after the edge walks min to max hops,
from 0 to 64, and reports each destination once, at its shortest distance. A walk reports its start only when min
is 0, even if a cycle leads back to it; $a edge{1,10} $a, with one variable at both ends, tests for a way back.
<edge> follows an edge in either direction; both ends must have the same type. one|other follows either edge; a walk
goes on from a node along the edges that can start there. $w:edge binds the edge itself and returns a row for each edge,
with $w.property, $w.id, $w.from and $w.to. With bounds, $w:edge{1,6} binds the walk: $w.hops is its length, and $w.nodes
and $w.types list the ids and the types of the nodes on one shortest walk, both ends included. An end of an edge may be
an interface. $b then ranges over it, unless a binding or another traversal gives it one type, and $w.to is an object with
the type and the id of the node: {"type": "Person", "id": "ann"}. Return it, compare it with = or != or test it for null.`,
		cases: []example{{"Along an edge", along}, {"One to three hops", hops}, {"The start and its direct neighbours", hopsFromStart},
			{"Nodes with a way back to themselves", wayBack}, {"The length of the shortest walk, and the nodes on it", boundWalk}, {"One of two edges", eitherEdge}, {"Either direction", undirected}, {"The edge itself", edgeBinding}},
		own: []example{{"An edge with nodes of several types at one end", sharedTraversal}}},
	{Name: "filters", Summary: "Conditions on properties.",
		text: `= != < <= > >= compare a property with a literal, a parameter or another property of a comparable type.
contains tests for an element of a list, or for a part of a String; starts_with tests for the start of a String. Both
are exact and case-sensitive. in tests for one of several values, in brackets or in a list parameter. matches tests for
a regular expression in RE2 syntax, in any part of the text unless ^ or $ anchors it. is null and is not null test for a
missing value; every other comparison with null is never true. $a = $b and $a != $b compare two nodes that can have one type, or a
node with a parameter that has the node type as its type and the id of a node as its argument. If the type of the parameter is an
interface, the argument is an object with the type and the id of a node: {"type": "Person", "id": "ann"}. If a
condition ends with ? after an optional parameter, a call without the parameter ignores the condition.`,
		cases: []example{{"A comparison", compare}, {"Part of a String", contains}, {"An element of a list", element}, {"A value of an enum", enumValue}, {"One of several values", oneOf}, {"A regular expression", matches},
			{"Nodes without a value", isNull}, {"An optional condition", optionalFilter}}},
	{Name: "expressions", Summary: "Computing with values: operators, functions, durations.",
		text: "An expression may replace a value: in return, order, conditions, assignments and where. + - * / % and\n" +
			"parentheses have their usual precedence. Integers are computed in 64 bits, / is always an F64, and + joins Strings. An\n" +
			"operand that is null makes the result null, and so does an overflow or a division by zero; in an assignment these two\n" +
			"are errors. After a Date or DateTime, + days(3) or - hours(4), with days, hours, minutes or seconds, moves it; a Date\n" +
			"takes only days. A comparison, in, is null or matches in parentheses is a Bool, and so is an exists, not, any or all\n" +
			"block: exists { … } as known. if(condition, a, b) takes such a condition. A column that is computed needs an alias: $p.age + 1 as next.\n" +
			"Beside an aggregate, an expression holds only aggregates, grouping columns and constants: sum($p.x) / count($p) as mean.\n" +
			"type($p) is the name of the type of a node. Put a comma before a column that starts with a number with a sign.\n\n" + functionList(),
		cases: []example{{"A computed column", computedColumn}, {"A condition on a computed value", computedFilter}, {"Conditions as values", truthColumns}}},
	{Name: "any", Summary: "Alternatives: conditions of which one must hold.",
		text: `any { … } keeps a row if at least one of its conditions holds; all { … } groups several conditions inside any.
A condition is a filter, a search, or a not, exists, any or all block. any and all bind no variables: to follow an edge,
write exists { … } inside. A condition that a ? drops does not count; if all are dropped, the block is ignored. To make a
whole block optional, test the parameter: any { $tag is null exists { … } }.`,
		cases: []example{{"One of two conditions", either}}},
	{Name: "not", Summary: "Keeping rows without a match, or with at least one.",
		text: `not { … } keeps the rows for which the block has no match, exists { … } those for which it has one; exists never
repeats a row. The block must use at least one variable from outside; variables that it binds are not visible outside.
Blocks may be nested. A ? inside a block drops one condition; a block whose conditions are all dropped is ignored.`,
		cases: []example{{"Nodes without an edge", without}, {"Nodes with an edge", withEdge}}},
	{Name: "optional", Summary: "Patterns that need not match.",
		text: `optional { … } directly in match keeps a row even if the block has no match; the variables that only the block binds are
then null, and so are their properties. Otherwise each match makes a row. Blocks apply in the order of the text; a block must use a
variable from outside it, and may use those of earlier blocks. A block over a null variable has no match. Put conditions on the optional
variables into the block: a comparison after it, such as $q.age > 30, drops the rows without a match. After the block, $q is null keeps only
these rows. Bindings and traversals outside cannot use the variables of the block. count($q) counts the matches: 0 if there is none.`,
		cases: []example{{"Nodes with or without a neighbour", perhapsAlong}, {"Count neighbours, also where there are none", countPerhaps}}},
	{Name: "aggregates", Summary: "Counting and grouping.",
		text: "Use aggregates in return and order. Every other column is then a grouping key: there is no group by.\n" +
			"return distinct { … } without an aggregate returns each combination of its columns once. count(distinct $p.x) counts equal values\n" +
			"once; collect($p.x) lists the values without nulls, in the order in which ids break ties, and collect(distinct $p.x) lists equal\n" +
			"values once, at most 10000 in a group. collect($p) lists nodes as objects, collect($m.to) the nodes at an end of an edge.\n" +
			"A column may use an earlier one by its name: count($p) as n, n * 2 as twice.\n" +
			"having { … } between return and order keeps rows: its conditions are comparisons of columns by their names, any and all.\n" +
			"Aggregates ignore nulls. If nothing matches, a query with only aggregates returns one row: count is 0, the others are\n" +
			"null. Without as, the column of an aggregate has the name of its argument: count($p) is the column p. A count beyond 2^53-1 is a string in JSON.\n\n" + aggregateList(),
		cases: []example{{"Count all", countAll}, {"Count by node", countByNode}, {"Over a number", overNumber}, {"Each value once", distinctValues}, {"Lists by node", collectByNode}, {"Nodes with several edges", havingSeveral}}},
	{Name: "subqueries", Summary: "Counts, sums and lists per row.",
		text: `A block with a value may replace an expression. count { $m replyOf $p } counts the matches of its clauses, and
count { … return distinct $m.x } the different values; sum, min, max and avg { … return $m.x } are null if there is no value. first { … return
{ $m.x as x } order { x desc } } is the record of the first row, or null; collect { … return { … } order { … } limit 20 } is a list of at most
1000 records, and needs the limit. In later columns, order and having, one.x is a field of the column one that first made. The block sees the
variables around it; its own are not visible outside. Without a variable from outside it is computed once. It may contain optional; aggregates,
bm25, nearest and rrf may not. Blocks nest three deep. Several counts in one match multiply each other: write each as a block.`,
		cases: []example{{"Count per node", countPerNode}, {"A list per node", listPerNode}, {"The first per node", firstPerNode}}},
	{Name: "return", Summary: "Columns and their names.",
		text: `$v.property becomes the column v.property; as renames a column, and two columns with the same name are an error. $v
alone is the whole node as an object with its id, without blobs. Every node has $v.id. For a node with a key, the id is
the key; for a key of several properties, it is a JSON array of strings in the order of the property names.`,
		cases: []example{{"A property, an alias and the whole node", columns}}},
	{Name: "order", Summary: "Sorting and limiting.",
		text: `order { expression desc, … } sorts by properties, aggregates or the names of columns. The default is asc.
Nulls come first in ascending order, last in descending order. Ids break ties, so the order and the limit are
deterministic. Write limit last, and always write one: a number, or a parameter with a @range.`,
		cases: []example{{"The first ten", firstTen}, {"By a count", countByNode}}},
	{Name: "search", Summary: "Full-text search, similarity search, and both combined.",
		text: `In match, search keeps the rows with any of the words, match_text the rows with the phrase, and fuzzy the rows
with similar words, up to two wrong letters. In return and order, bm25 scores by words; nearest is the cosine distance
to a vector, or to a text that the server embeds first; rrf fuses two rankings. In order, the best rows come first
unless you write asc or desc; nearest and rrf need a limit. To order by bm25, or by its alias, keeps only the rows with
one of the words; bm25 only in return keeps every row, with 0 for rows without these words. Words are compared in lower
case and by their English stems: running finds run. Stop words such as the, of, not are removed from texts and queries;
a search for only stop words finds nothing. If the schema has @ann on a Vector, nearest may miss some of the closest
rows; filters still apply first, and the distances are exact.`,
		cases: []example{{"Any of the words", search}, {"Best first", ranked}, {"Small misspellings", fuzzy}, {"Nearest", nearest}, {"Two rankings combined", fused}}},
	{Name: "mutations", Summary: "Inserting, updating and deleting.",
		text: `The statements of a query run in order and commit together or not at all. Inserting a node whose key exists replaces
the whole node: a property left out becomes null. insert new fails if the key exists. upsert keeps the properties that it does
not assign; it needs a @key, or for an edge an id or a @unique with src and dst. update changes the assigned properties of all nodes or edges that satisfy where, but never a key or an end of an
edge. where joins comparisons with and, and may use in. In update and upsert, the name of a property in a value is its old value: n: n + 1.
$n = insert … names the new entity: use $n as from or to of a later edge. An end may also be written with the key: Person("ada").
At an end that is an interface, write Person("ada"), a variable, or a parameter of the type of the node or of the interface; an id alone does not name the type.
return { $n.id as id } at the end returns one row of the named entities and of parameters. match { … } { … } runs statements for each match, with
order and limit before them if needed, and for $x in $list { … } for each element: at most 10000. Such a block reads the state in which it
began, and does not contain another block. Deleting a node deletes its edges.
from and to of an edge are the ids of nodes. The id of a node with a key is the key; for a key of several properties, it
is a JSON array of their values as strings, in the order of the property names: "[\"7\",\"north\"]". @card(1..) of an
edge is checked only for sources whose edges a write adds or removes, so a new node may have no edges. Commas between
assignments are optional.`,
		cases: []example{{"Insert or replace a node", insertNode}, {"Insert an edge", insertEdge}, {"Update", update}, {"Update or insert", upsertNode}, {"For each match", forEachMatch}, {"For each element", forEachElement}, {"Delete", deleteNode}},
		own:   []example{{"Insert an edge with nodes of several types at one end", insertShared}}},
	{Name: "types", Summary: "Types of properties and parameters, and how to write their values.",
		text:  typesText(),
		cases: []example{{"A parameter of a date", dateParam}, {"An optional parameter", optionalFilter}}},
	{Name: "parameters", Summary: "Defaults and limits of parameters.",
		text: `Annotations follow the type of a parameter. @default(20) makes the parameter optional: a call that leaves it out, or
sends null, gets the literal. @range(1..100) bounds a number; either end may be left out. @check("^[a-z]+$") is a
regular expression in RE2 syntax that must match a part of a String. @example("lead") shows a value, and @description
says what the parameter is. On a list, @range, @check and @example apply to each element. A call with another value fails
and says why. limit $n takes the number of rows from a parameter: an I32 with a @range of both ends within 0 to 10000,
which is required or has a @default. Annotations of a query are @description, @instruction, @question("…"), a question
that the query answers, @must_be_empty("…"), which says that a read must return no row and why, and @mcp. Between the parameters
and the annotations of a read, as of $t, with $t: DateTime, reads the graph as it was at that instant. match valid at $day
sees only entities that are valid then, by the @valid(since, until) of their types, and match valid during $a, $b those of a period.`,
		cases: []example{{"A limit that the caller may choose", limitParam}, {"A default in a condition", defaultParam}}},
	{Name: "errors", Summary: "The meaning of the error codes.", text: errorText()},
}

// typesText lists the notation of each type, and says how they combine.
func typesText() string {
	notation := []string{`String "text"`, "Bool true", "I32 I64 U32 U64 42", "F32 F64 4.2", "Decimal(12, 2) 4.20"}
	var written []string
	for _, k := range value.Kinds() {
		if f := k.Literal(); f != "" {
			notation = append(notation, k.String()+" "+f+"("+k.Example()+")")
			written = append(written, k.String())
		}
	}
	written = append(written, "Decimal")
	return strings.Join(notation, ", ") + `; now() is a DateTime; actor().id is the name of
the caller and actor().groups the list of its groups, where a parameter may stand,
[T] ["a", "b"], Vector(n), Blob. The parameter for an enum property is a String. Number types can be mixed;
a String is not accepted as a ` + strings.Join(written, " or ") + `. In JSON these are strings too, 64-bit
integers are numbers or strings, and vectors are arrays. A ? after the type of a property or parameter makes it optional.`
}

// errorText lists the error codes with their explanations.
func errorText() string {
	var b strings.Builder
	b.WriteString("An error names its position, what was found and what was expected; the text after help, if any, is the fix. P codes are\nsyntax errors. L codes are warnings of the linter and do not stop a query.\n\n")
	for _, e := range check.Codes {
		writeCode(&b, e)
	}
	return strings.TrimRight(b.String(), "\n")
}

// writeCode writes one code with its explanation.
func writeCode(b *strings.Builder, e diag.Entry) {
	b.WriteString("- " + string(e.Code) + " " + e.Title + ". " + e.Explanation + "\n")
}

// firstNode returns the node type for the examples: the first one with a key of one property,
// else the first one, else nil.
func firstNode(s *catalog.Schema) *catalog.Node {
	if n := keyed(s); n != nil {
		return n
	}
	if len(s.Nodes) > 0 {
		return s.Nodes[0]
	}
	return nil
}

// aggregateList returns a line for each aggregate.
func aggregateList() string {
	var lines []string
	for _, a := range plan.Aggregates {
		lines = append(lines, a.Name+"(…) takes "+a.Arg.Text+" and "+a.Doc+".")
	}
	return strings.Join(lines, "\n")
}

// functionList returns a line for each function.
func functionList() string {
	var lines []string
	for _, f := range plan.Functions {
		if f.Form == plan.Call {
			lines = append(lines, f.Usage+" takes "+f.Takes+" and "+f.Doc+".")
		}
	}
	return strings.Join(lines, "\n")
}
