package lint

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// The lint codes. L1xx rules check one query; L2xx rules check the whole catalog.
const (
	UnusedParam      diag.Code = "L101"
	UnusedBinding    diag.Code = "L102"
	CrossProduct     diag.Code = "L103" // bindings that nothing connects
	HardCoded        diag.Code = "L104" // mutation without a parameter
	NoLimit          diag.Code = "L105" // read without a limit
	NoDescription    diag.Code = "L106" // query without a description
	NoParamDoc       diag.Code = "L107" // parameter without a description
	UnknownEnumValue diag.Code = "L108" // in a filter
	LongToolName     diag.Code = "L109"
	VectorParam      diag.Code = "L110" // vector parameter of an exposed query
	LongDescription  diag.Code = "L111"
	NotOptional      diag.Code = "L112" // optional parameter in a condition without ?
	MCPEquals        diag.Code = "L113" // equals sign in @mcp
	LimitNoOrder     diag.Code = "L114" // limit without an order
	ConstantFilter   diag.Code = "L115" // condition with a constant result
	IdleBounds       diag.Code = "L116" // bounds that change nothing
	UpsertClears     diag.Code = "L117" // insert that clears properties
	NullAssigned     diag.Code = "L118" // optional parameter for a required property
	NotEqualNull     diag.Code = "L119" // != on a nullable property
	ChangedWalk      diag.Code = "L120" // traversal that also returned its start node in earlier versions
	NoProvider       diag.Code = "L121" // query without the embedding provider that it needs
	SearchNotRanked  diag.Code = "L122" // search without an order by relevance
	DropsUnmatched   diag.Code = "L123" // condition that removes the rows without a match of an `optional` block
	ChangedMinus     diag.Code = "L127" // minus that began a column or a clause in earlier versions
	ChangedNot       diag.Code = "L130" // droppable `not` block, which kept no row in earlier versions
	OptionalInBlock  diag.Code = "L131" // condition with ? inside a `not` or `exists` block
	IdleOptional     diag.Code = "L132" // ? on a parameter with a default
	BlockNoLimit     diag.Code = "L138" // subquery in a read without a limit
	MultipliedCount  diag.Code = "L139" // count over two independent fan-outs
	RepeatedInsert   diag.Code = "L140" // variable of a match that repeats an insert without need
	ClientNames      diag.Code = "L141" // name that a generator of clients cannot use
	BadDirective     diag.Code = "L198" // malformed gq:ignore
	IdleDirective    diag.Code = "L199" // gq:ignore without effect
	NeverUpdated     diag.Code = "L201" // nullable property that no update sets
	DuplicateQuery   diag.Code = "L202" // two queries with one name
	OverBudget       diag.Code = "L203" // tokens of tools/list
	UntouchedType    diag.Code = "L204" // no query uses the type
	SameDescription  diag.Code = "L205" // two tools with one description
)

// Rule is one row of the table. It has one of the two functions, or none if the code that
// handles directives applies the rule.
type Rule struct {
	diag.Entry
	Level  Level  // the default; gq.yaml can change it
	Option string // the key in gq.yaml that configures the rule, or ""

	rows          bool             // a finding means that a read returns other rows or numbers than its author probably wants
	query         func(*queryPass) // checks one query
	catalog       func(*pass)      // checks the whole catalog
	despiteFaults bool             // the function `catalog` runs even if the sources have errors
}

// Rules lists all rules, sorted by code. An example is a .gq text on check.ExampleSchema, or a
// txtar archive of several files.
var Rules = []Rule{
	{Level: Warning, query: unusedParam, Entry: diag.Entry{Code: UnusedParam, Title: "unused parameter",
		Explanation: "The query does not use the parameter, so its value has no effect.",
		Example:     `query q($name: String, $age: I32) { match { $p: Person { name: $name } } return { $p.age } }`}},
	{Level: Warning, query: unusedBinding, Entry: diag.Entry{Code: UnusedBinding, Title: "unused binding",
		Explanation: "A variable that occurs only once tests that a node exists; write $_ to make this clear. An unused edge binding still returns one row for each parallel edge.",
		Example:     `query q() { match { $p: Person $p worksAt $c } return { $p.name } }`}},
	{Level: Warning, rows: true, query: crossProduct, Entry: diag.Entry{Code: CrossProduct, Title: "cross product",
		Explanation: "No traversal, comparison or not block connects the bindings, so every node of one is combined with every node of the other. The rule does not report a binding that selects one node by its key.",
		Example:     `query q() { match { $p: Person $c: Company } return { $p.name, $c.name as company } }`}},
	{Level: Warning, query: hardCoded, Entry: diag.Entry{Code: HardCoded, Title: "hard-coded mutation",
		Explanation: "A mutation without a parameter writes the same data on every call. Load this data instead, or add a parameter.",
		Example:     `query q() { insert Company { name: "Acme" } }`}},
	{Level: Warning, query: noLimit, Entry: diag.Entry{Code: NoLimit, Title: "read without limit",
		Explanation: "Without a limit, the number of rows grows with the graph. The rule does not report reads that return at most one row: aggregates without a grouping key, nodes that are selected by key, and nodes that are reached from such nodes over an edge with @card(…..1).",
		Example:     `query q() { match { $p: Person } return { $p.name } }`}},
	{Level: Warning, query: noDescription, Entry: diag.Entry{Code: NoDescription, Title: "exposed query without @description",
		Explanation: "A model chooses a tool by its description. Add @mcp(expose: false) to a query that models should not call.",
		Example:     `query q() { match { $p: Person } return { $p.name } limit 10 }`}},
	{Level: Warning, query: noParamDoc, Entry: diag.Entry{Code: NoParamDoc, Title: "parameter without @description",
		Explanation: "A model chooses the value of a parameter by its description. A parameter without a description inherits the description of the property that it is used with.",
		Example:     `query q($name: String) @description("Finds a person.") { match { $p: Person { name: $name } } return { $p.age } }`}},
	{Level: Warning, rows: true, query: unknownEnumValue, Entry: diag.Entry{Code: UnknownEnumValue, Title: "unknown enum value in a filter",
		Explanation: "A filter compares an enum property with a text that is not one of its values, so the comparison has the same result for every row.",
		Example:     `query q() { match { $p: Person $p.mood = "god" } return { $p.name } }`}},
	{Level: Warning, query: longToolName, Option: "max_tool_name", Entry: diag.Entry{Code: LongToolName, Title: "long tool name",
		Explanation: "Some clients add the name of the server in front of the name of a tool, and cut or refuse the combined name if it has more than 64 characters. The limit is 40 characters by default.",
		Example:     `query find_every_person_who_has_ever_been_in_a_mood() { match { $p: Person } return { $p.name } }`}},
	{Level: Warning, query: vectorParam, Entry: diag.Entry{Code: VectorParam, Title: "Vector parameter on an exposed query",
		Explanation: "A model cannot supply the numbers of an embedding. Declare a String parameter, which the server embeds, or add @mcp(expose: false) to a query for programs.",
		Example:     `query q($v: Vector(3)) { match { $p: Person } return { $p.name } order { nearest($p.face, $v) } limit 5 }`}},
	{Level: Warning, query: longDescription, Option: "max_description", Entry: diag.Entry{Code: LongDescription, Title: "long description",
		Explanation: "Every client sends all descriptions to its model with every request. The default limit is 1,024 characters for a tool (@description and @instruction together) and for a parameter.",
		Example:     `query q() @description("` + longExample + `") { match { $p: Person } return { $p.name } }`}},
	{Level: Warning, rows: true, query: notOptional, Entry: diag.Entry{Code: NotOptional, Title: "optional parameter without the optional-filter form",
		Explanation: "A comparison with null is never true, so a call without the parameter returns no rows. If the condition ends with ?, such a call ignores the condition.",
		Example:     `query q($min: I32?) { match { $p: Person $p.age >= $min } return { $p.name } }`}},
	{Level: Note, query: mcpEquals, Entry: diag.Entry{Code: MCPEquals, Title: "equals sign in @mcp",
		Explanation: "Write the arguments of @mcp with a colon. The compiler accepts = for old sources; gq lint --fix replaces it.",
		Example:     `query q() @mcp(expose = false) { match { $p: Person } return { $p.name } }`}},
	{Level: Note, query: limitNoOrder, Entry: diag.Entry{Code: LimitNoOrder, Title: "limit without order",
		Explanation: "Without an order, the limit keeps the rows with the smallest ids. The result is deterministic, but seldom what the caller needs.",
		Example:     `query q() { match { $p: Person } return { $p.age } limit 10 }`}},
	{Level: Warning, rows: true, query: constantFilter, Entry: diag.Entry{Code: ConstantFilter, Title: "condition with a constant result",
		Explanation: "A comparison of two literals, or of a property with itself, has the same result for every row, and so has a test for null of a required property or parameter. The rule does not report $p.x = $p.x for a nullable property, which tests for null.",
		Example:     `query q() { match { $p: Person $p.name = $p.name } return { $p.name } }`}},
	{Level: Note, query: idleBounds, Entry: diag.Entry{Code: IdleBounds, Title: "bounds that change nothing",
		Explanation: "An edge between nodes of different types never follows another edge of its type: bounds that include 1 match the same nodes as a traversal without bounds. gq lint --fix removes them.",
		Example:     `query q() { match { $p: Person $p worksAt{1,2} $c } return { $c.name } }`}},
	{Level: Note, query: upsertClears, Entry: diag.Entry{Code: UpsertClears, Title: "insert that clears properties",
		Explanation: "If a node with the same key exists, an insert replaces the whole node: nullable properties that it does not assign become null.",
		Example:     `query q($name: String, $age: I32) { insert Person { name: $name, age: $age } }`}},
	{Level: Warning, query: nullAssigned, Entry: diag.Entry{Code: NullAssigned, Title: "optional parameter for a required property",
		Explanation: "A call without the parameter assigns null to a required property and fails.",
		Example:     `query q($name: String?) { insert Company { name: $name } }`}},
	{Level: Note, rows: true, query: notEqualNull, Entry: diag.Entry{Code: NotEqualNull, Title: "inequality on a nullable property",
		Explanation: "A comparison with null is never true, and this includes !=, so the query leaves out nodes without a value. Write = in a not block to keep them.",
		Example:     `query q() { match { $p: Person $p.age != 30 } return { $p.name } }`}},
	{Level: Note, query: changedWalk, Entry: diag.Entry{Code: ChangedWalk, Title: "walk that no longer returns its start",
		Explanation: "A traversal with bounds returns the node that it starts at only if the minimum is 0. Earlier versions also returned that node if a cycle led back to it. The rule reports each walk whose edge can form a cycle, unless a filter keeps the two ends apart. Check whether the query needs its start; if not, silence the rule with gq:ignore, or for all queries in gq.yaml.",
		Example:     `query q() { match { $p: Person { name: "Ada" } $p knows{1,3} $f } return { $f.name } }`}},
	{Level: Warning, query: noProvider, Entry: diag.Entry{Code: NoProvider, Title: "query without its embedding provider",
		Explanation: "The query needs vectors of texts, and cluster.yaml names no embedding provider for its graph. A server does not offer a read that passes a text to nearest. A mutation that writes the text of an @embed property leaves the vector null, or fails if the vector is required. gq lint --schema does not report this, because it does not read cluster.yaml.",
		Example:     `query q($text: String) { match { $p: Person } return { $p.name } order { nearest($p.face, $text) } limit 5 }`}},
	{Level: Warning, query: searchNotRanked, Entry: diag.Entry{Code: SearchNotRanked, Title: "search without an order by relevance",
		Explanation: "A search keeps every row that has any of the words. Without bm25, nearest or rrf in the order, the best match may be the last row, or beyond the limit. The rule does not report aggregates and reads that return at most one row, or fuzzy, because bm25 leaves out rows that have none of the exact words.",
		Example:     `query q($words: String) { match { $p: Person search($p.name, $words) } return { $p.name } order { $p.name } limit 10 }`}},
	{Level: Warning, rows: true, query: dropsUnmatched, Entry: diag.Entry{Code: DropsUnmatched, Title: "condition that undoes optional",
		Explanation: "A comparison with null is never true. A condition outside of an optional block that uses a variable of the block therefore removes the rows in which the block has no match. Put the condition into the block to keep them. The rule does not report is null, is not null, any blocks, and conditions that end with ?.",
		Example:     `query q() { match { $p: Person optional { $p knows $q } $q.age > 30 } return { $p.name, $q.name } limit 10 }`}},
	{Level: Warning, query: changedMinus, Entry: diag.Entry{Code: ChangedMinus, Title: "negative number that is subtracted",
		Explanation: "A number with a sign after an operand is subtracted from it. Earlier versions began a new column or clause with the number. Write a comma before the number to begin a column with it, or a space after the minus to subtract; gq fmt writes the space.",
		Example:     `query q() { match { $p: Person } return { $p.name, $p.age -1 as younger } limit 10 }`}},
	{Level: Note, query: changedNot, Entry: diag.Entry{Code: ChangedNot, Title: "not block that a call can drop",
		Explanation: "A not block is ignored when every condition in it ends with ? and the call leaves out all their parameters. In earlier versions such a call returned no rows. Check whether the query needs the earlier answer; if not, silence the rule with gq:ignore, or for all queries in gq.yaml.",
		Example:     `query q($min: I32?) { match { $p: Person not { $p.age < $min? } } return { $p.name } }`}},
	{Level: Note, query: optionalInBlock, Entry: diag.Entry{Code: OptionalInBlock, Title: "optional condition inside a block",
		Explanation: "Inside a not or exists block, a ? drops one condition and keeps the rest of the block. To drop the whole block when the parameter is left out, remove the ? and write any { $tag is null exists { … } }.",
		Example:     `query q($name: String?) { match { $p: Person not { $p knows $q $q.name = $name? } } return { $p.name } }`}},
	{Level: Note, query: idleOptional, Entry: diag.Entry{Code: IdleOptional, Title: "question mark without effect",
		Explanation: "A parameter with a @default is never null, so the ? after its type changes nothing. gq lint --fix removes it.",
		Example:     `query q($name: String? @default("Ada")) { match { $p: Person { name: $name } } return { $p.age } }`}},
	{Level: Warning, query: blockWithoutLimit, Entry: diag.Entry{Code: BlockNoLimit, Title: "subquery in a read without limit",
		Explanation: "A subquery among the columns runs once for each row that is returned, and one among the sort keys for each row. Without a limit, its work grows with the graph. The rule does not report reads that return at most one row.",
		Example:     `query q() { match { $p: Person } return { $p.name, count { $p knows $_ } as friends } }`}},
	{Level: Warning, rows: true, query: multipliedCount, Entry: diag.Entry{Code: MultipliedCount, Title: "count over two independent sets",
		Explanation: "A match has a row for each combination of the nodes that it reaches. If two traversals start at the same node and nothing else connects their other ends, count, sum, avg and collect take each match of one once for each match of the other. Write each as a block, such as count { $p knows $q }, or count(distinct …).",
		Example:     `query q() { match { $p: Person $p knows $q $p worksAt $c } return { $p.name, count($q) as friends } limit 10 }`}},
	{Level: Warning, query: repeatedInsert, Entry: diag.Entry{Code: RepeatedInsert, Title: "matched variable that repeats an insert",
		Explanation: "An insert in a match block runs once for each match, so a variable with several matches inserts several entities. If no statement uses the variable, they are equal. Use the variable, or test with exists { … } that it has a match.",
		Example:     `query q() { match { $p: Person $p knows $q } { insert Company { name: $p.name } } }`}},
	{Level: Note, query: clientNames, Entry: diag.Entry{Code: ClientNames, Title: "name that a generator of clients cannot use",
		Explanation: "Clients in other languages are generated from the OpenAPI document of the graph. Some generators use a few names in their own code, some write aB and a_b as one name, and some have no name for _; the clients that they make then do not work. The note names the languages. Give the column an alias with as, or rename the parameter. The rule does not report hidden queries, which are not in the document.",
		Example:     `query q($cls: String) { match { $p: Person { name: $cls } } return { $p.age } limit 10 }`}},
	{Level: Warning, Entry: diag.Entry{Code: BadDirective, Title: "malformed directive",
		Explanation: "A directive must have lint codes, separated by commas, and a reason: // gq:ignore L105 the table is small.",
		Example:     "// gq:ignore L105\nquery q() { match { $p: Person } return { $p.name } }"}},
	{Level: Warning, Entry: diag.Entry{Code: IdleDirective, Title: "directive without effect",
		Explanation: "The rule reports nothing in the declaration. gq lint --fix removes the directive.",
		Example:     "// gq:ignore L105 the people are few\nquery q() { match { $p: Person } return { $p.name } limit 3 }"}},
	{Level: Note, catalog: neverUpdated, Entry: diag.Entry{Code: NeverUpdated, Title: "nullable property that no update sets",
		Explanation: "Queries update the type, but none of them sets this property, so a value that an insert left out can never be added. The rule does not report blobs or Vectors with @embed, because queries do not set them.",
		Example:     "-- schema.pg --\nnode Task { slug: String @key state: String? owner: String? }\n-- tasks.gq --\nquery close_task($slug: String) { update Task set { state: \"done\" } where slug = $slug }"}},
	{Level: Error, catalog: duplicateQuery, despiteFaults: true, Entry: diag.Entry{Code: DuplicateQuery, Title: "duplicate query name across files",
		Explanation: "The name of a query must be unique in the graph, across all files. The compiler reports the same error as T27.",
		Example:     "-- a.gq --\nquery people() { match { $p: Person } return { $p.name } }\n-- b.gq --\nquery people() { match { $p: Person } return { $p.age } }"}},
	{Level: Warning, catalog: overBudget, Option: "token_budget", Entry: diag.Entry{Code: OverBudget, Title: "catalog over the token budget",
		Explanation: "Every client sends tools/list to its model with every request. The rule counts the whole answer, with the built-in tools, all schemas and annotations, at four bytes per token; the budget is 20,000 tokens by default.",
		Example:     `query q() @description("` + longExample + `") { match { $p: Person } return { $p.name } }`}},
	{Level: Note, catalog: untouchedType, Entry: diag.Entry{Code: UntouchedType, Title: "type that no query uses",
		Explanation: "No stored query reads or writes the type, so only ad-hoc queries can use it.",
		Example:     "-- schema.pg --\nnode Task { slug: String @key }\nnode Label { name: String @key }\n-- tasks.gq --\nquery tasks() { match { $t: Task } return { $t.slug } }"}},
	{Level: Warning, catalog: sameDescription, Entry: diag.Entry{Code: SameDescription, Title: "same description twice",
		Explanation: "A model cannot distinguish two tools with the same description.",
		Example:     "-- people.gq --\nquery by_name() @description(\"Lists people.\") { match { $p: Person } return { $p.name } }\nquery by_age() @description(\"Lists people.\") { match { $p: Person } return { $p.age } }"}},
}

// longExample is a description that exceeds the default limit.
var longExample = func() string {
	var b []byte
	for len(b) <= DefaultMaxDescription {
		b = append(b, "Lists people and says at length what could be said in few words. "...)
	}
	return string(b[:len(b)-1])
}()

// ruleOf returns the rule with a code, or nil if there is none.
func ruleOf(code diag.Code) *Rule {
	i := slices.IndexFunc(Rules, func(r Rule) bool { return r.Code == code })
	if i < 0 {
		return nil
	}
	return &Rules[i]
}

// ruleCodes returns the codes of all rules.
func ruleCodes() []string {
	codes := make([]string, len(Rules))
	for i, r := range Rules {
		codes[i] = string(r.Code)
	}
	return codes
}
