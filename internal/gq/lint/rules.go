package lint

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// The lint codes. L1xx rules check one query; L2xx rules check the whole catalog.
const (
	UnusedParam      diag.Code = "L101"
	UnusedBinding    diag.Code = "L102"
	CrossProduct     diag.Code = "L103"
	HardCoded        diag.Code = "L104"
	NoLimit          diag.Code = "L105"
	NoDescription    diag.Code = "L106"
	NoParamDoc       diag.Code = "L107"
	UnknownEnumValue diag.Code = "L108"
	LongToolName     diag.Code = "L109"
	VectorParam      diag.Code = "L110"
	LongDescription  diag.Code = "L111"
	NotOptional      diag.Code = "L112"
	MCPEquals        diag.Code = "L113"
	LimitNoOrder     diag.Code = "L114"
	ConstantFilter   diag.Code = "L115"
	DefaultBounds    diag.Code = "L116"
	UpsertClears     diag.Code = "L117"
	NullAssigned     diag.Code = "L118"
	NotEqualNull     diag.Code = "L119"
	NoProvider       diag.Code = "L121"
	BadDirective     diag.Code = "L198"
	IdleDirective    diag.Code = "L199"
	NeverUpdated     diag.Code = "L201"
	DuplicateQuery   diag.Code = "L202"
	OverBudget       diag.Code = "L203"
	UntouchedType    diag.Code = "L204"
	SameDescription  diag.Code = "L205"
)

// Rule is one row of the table. It has one of the two functions, or none if the code that
// handles directives applies the rule.
type Rule struct {
	diag.Entry
	Level  Level  // the default; gq.yaml can change it
	Option string // the key in gq.yaml that configures the rule, or ""

	query   func(*queryPass)
	catalog func(*pass)
	beside  bool // the catalog function runs even if the sources have errors
}

// Rules lists all rules, sorted by code. An example is a .gq text on check.ExampleSchema, or a
// txtar archive of several files.
var Rules = []Rule{
	{Level: Warning, query: unusedParam, Entry: diag.Entry{Code: UnusedParam, Title: "unused parameter",
		Explanation: "A parameter that the body does not name asks its callers for something that has no effect.",
		Example:     `query q($name: String, $age: I32) { match { $p: Person { name: $name } } return { $p.age } }`}},
	{Level: Warning, query: unusedBinding, Entry: diag.Entry{Code: UnusedBinding, Title: "unused binding",
		Explanation: "A variable that occurs once only asks that something exist; $_ says so. An edge binding that nothing names still makes a row of every parallel edge.",
		Example:     `query q() { match { $p: Person $p worksAt $c } return { $p.name } }`}},
	{Level: Warning, query: crossProduct, Entry: diag.Entry{Code: CrossProduct, Title: "cross product",
		Explanation: "Bindings that no traversal, comparison or not block joins are combined each with each. A binding that a key pins to one node multiplies nothing and is not reported.",
		Example:     `query q() { match { $p: Person $c: Company } return { $p.name, $c.name as company } }`}},
	{Level: Warning, query: hardCoded, Entry: diag.Entry{Code: HardCoded, Title: "hard-coded mutation",
		Explanation: "A mutation without a parameter writes the same on every call; it belongs in the data that is loaded, or lacks a parameter.",
		Example:     `query q() { insert Company { name: "Acme" } }`}},
	{Level: Warning, query: noLimit, Entry: diag.Entry{Code: NoLimit, Title: "read without limit",
		Explanation: "The rows of a read grow with the graph unless it has a limit. Reads that yield one row at most are not reported: aggregates without a grouping key, nodes given by their key, and what a @card(…..1) edge leads to from there.",
		Example:     `query q() { match { $p: Person } return { $p.name } }`}},
	{Level: Warning, query: noDescription, Entry: diag.Entry{Code: NoDescription, Title: "exposed query without @description",
		Explanation: "A model chooses a tool by its description. A query that no model is to call says @mcp(expose: false).",
		Example:     `query q() { match { $p: Person } return { $p.name } limit 10 }`}},
	{Level: Warning, query: noParamDoc, Entry: diag.Entry{Code: NoParamDoc, Title: "parameter without @description",
		Explanation: "A model fills a parameter in by its description. One that is used with a property which has a @description inherits that.",
		Example:     `query q($name: String) @description("Finds a person.") { match { $p: Person { name: $name } } return { $p.age } }`}},
	{Level: Warning, query: unknownEnumValue, Entry: diag.Entry{Code: UnknownEnumValue, Title: "unknown enum value in a filter",
		Explanation: "A filter compares an enum property with a text that is none of its values: the comparison has the same outcome for every row.",
		Example:     `query q() { match { $p: Person $p.mood = "god" } return { $p.name } }`}},
	{Level: Warning, query: longToolName, Option: "max_tool_name", Entry: diag.Entry{Code: LongToolName, Title: "long tool name",
		Explanation: "Clients put the name of the server before the name of a tool and cut, or refuse, what is longer than 64 characters. The limit is 40 characters by default.",
		Example:     `query find_every_person_who_has_ever_been_in_a_mood() { match { $p: Person } return { $p.name } }`}},
	{Level: Warning, query: vectorParam, Entry: diag.Entry{Code: VectorParam, Title: "Vector parameter on an exposed query",
		Explanation: "No model can supply the numbers of an embedding. A String parameter is embedded by the server; a query for programs says @mcp(expose: false).",
		Example:     `query q($v: Vector(3)) { match { $p: Person } return { $p.name } order { nearest($p.face, $v) } limit 5 }`}},
	{Level: Warning, query: longDescription, Option: "max_description", Entry: diag.Entry{Code: LongDescription, Title: "long description",
		Explanation: "Every client sends every description to its model with every request. The limit for a tool, @description and @instruction together, and for a parameter is 1,024 characters by default.",
		Example:     `query q() @description("` + tediously + `") { match { $p: Person } return { $p.name } }`}},
	{Level: Warning, query: notOptional, Entry: diag.Entry{Code: NotOptional, Title: "optional parameter without the optional-filter form",
		Explanation: "A comparison with null is never true, so that a caller who leaves the parameter out gets no rows. With a trailing ? the condition is dropped instead.",
		Example:     `query q($min: I32?) { match { $p: Person $p.age >= $min } return { $p.name } }`}},
	{Level: Note, query: mcpEquals, Entry: diag.Entry{Code: MCPEquals, Title: "equals sign in @mcp",
		Explanation: "Arguments of @mcp are written with a colon; = is accepted for old sources. gq lint --fix rewrites it.",
		Example:     `query q() @mcp(expose = false) { match { $p: Person } return { $p.name } }`}},
	{Level: Note, query: limitNoOrder, Entry: diag.Entry{Code: LimitNoOrder, Title: "limit without order",
		Explanation: "Without an order the limit keeps the rows whose ids sort first, which is deterministic and seldom what the caller wants.",
		Example:     `query q() { match { $p: Person } return { $p.age } limit 10 }`}},
	{Level: Warning, query: constantFilter, Entry: diag.Entry{Code: ConstantFilter, Title: "comparison with a constant outcome",
		Explanation: "A comparison of two literals, or of a property with itself, is the same for every row. That a nullable property equals itself is the test for null, and not reported.",
		Example:     `query q() { match { $p: Person $p.name = $p.name } return { $p.name } }`}},
	{Level: Note, query: defaultBounds, Entry: diag.Entry{Code: DefaultBounds, Title: "bounds {1,1}",
		Explanation: "One hop is what a traversal without bounds takes. gq lint --fix removes them.",
		Example:     `query q() { match { $p: Person $p knows{1,1} $f } return { $f.name } }`}},
	{Level: Note, query: upsertClears, Entry: diag.Entry{Code: UpsertClears, Title: "insert that clears properties",
		Explanation: "An insert of a keyed node replaces the whole node if the key exists: nullable properties that it does not assign become null.",
		Example:     `query q($name: String, $age: I32) { insert Person { name: $name, age: $age } }`}},
	{Level: Warning, query: nullAssigned, Entry: diag.Entry{Code: NullAssigned, Title: "optional parameter for a required property",
		Explanation: "Leaving the parameter out assigns null, which a required property refuses: the call fails.",
		Example:     `query q($name: String?) { insert Company { name: $name } }`}},
	{Level: Note, query: notEqualNull, Entry: diag.Entry{Code: NotEqualNull, Title: "inequality on a nullable property",
		Explanation: "A comparison with null is never true, != included: nodes without a value are left out too. A not block around = keeps them.",
		Example:     `query q() { match { $p: Person $p.age != 30 } return { $p.name } }`}},
	{Level: Warning, query: noProvider, Entry: diag.Entry{Code: NoProvider, Title: "query without its embedding provider",
		Explanation: "The query needs vectors of texts, and cluster.yaml names no embedding provider for its graph. A server leaves out a read that gives a text to nearest. A mutation that writes the text of an @embed property leaves the vector null, or fails if the vector is required. gq lint --schema does not report this, because it does not read cluster.yaml.",
		Example:     `query q($text: String) { match { $p: Person } return { $p.name } order { nearest($p.face, $text) } limit 5 }`}},
	{Level: Warning, Entry: diag.Entry{Code: BadDirective, Title: "malformed directive",
		Explanation: "A directive names lint codes, joined by commas, and gives a reason: // gq:ignore L105 the table is small.",
		Example:     "// gq:ignore L105\nquery q() { match { $p: Person } return { $p.name } }"}},
	{Level: Warning, Entry: diag.Entry{Code: IdleDirective, Title: "directive that silences nothing",
		Explanation: "The rule has nothing to report in the declaration. gq lint --fix removes the directive.",
		Example:     "// gq:ignore L105 the people are few\nquery q() { match { $p: Person } return { $p.name } limit 3 }"}},
	{Level: Warning, catalog: neverUpdated, Entry: diag.Entry{Code: NeverUpdated, Title: "nullable property that no update sets",
		Explanation: "A type has queries that update it, and none that sets this property: what was left out at insert can never be filled in. Vectors with @embed follow their source, and blobs are loaded; they are not reported.",
		Example:     "-- schema.pg --\nnode Task { slug: String @key state: String? owner: String? }\n-- tasks.gq --\nquery close_task($slug: String) { update Task set { state: \"done\" } where slug = $slug }"}},
	{Level: Error, catalog: duplicateQuery, beside: true, Entry: diag.Entry{Code: DuplicateQuery, Title: "duplicate query name across files",
		Explanation: "A query has a name of its own in the graph, whatever file it stands in. Compiling reports the same fault as T27.",
		Example:     "-- a.gq --\nquery people() { match { $p: Person } return { $p.name } }\n-- b.gq --\nquery people() { match { $p: Person } return { $p.age } }"}},
	{Level: Warning, catalog: overBudget, Option: "token_budget", Entry: diag.Entry{Code: OverBudget, Title: "catalog over the token budget",
		Explanation: "Every client sends tools/list to its model with every request. Its size is that of the exposed queries' descriptors as JSON, at four bytes a token; the budget is 10,000 tokens by default.",
		Example:     `query q() @description("` + tediously + `") { match { $p: Person } return { $p.name } }`}},
	{Level: Note, catalog: untouchedType, Entry: diag.Entry{Code: UntouchedType, Title: "type that no query touches",
		Explanation: "No stored query reads or writes the type: only ad-hoc queries reach it.",
		Example:     "-- schema.pg --\nnode Task { slug: String @key }\nnode Label { name: String @key }\n-- tasks.gq --\nquery tasks() { match { $t: Task } return { $t.slug } }"}},
	{Level: Warning, catalog: sameDescription, Entry: diag.Entry{Code: SameDescription, Title: "same description twice",
		Explanation: "A model cannot tell two tools apart that are described alike.",
		Example:     "-- people.gq --\nquery by_name() @description(\"Lists people.\") { match { $p: Person } return { $p.name } }\nquery by_age() @description(\"Lists people.\") { match { $p: Person } return { $p.age } }"}},
}

// tediously is a description that exceeds the default limit.
var tediously = func() string {
	var b []byte
	for len(b) <= DefaultMaxDescription {
		b = append(b, "Lists people and says at length what could be said in few words. "...)
	}
	return string(b[:len(b)-1])
}()

func ruleOf(code diag.Code) *Rule {
	i := slices.IndexFunc(Rules, func(r Rule) bool { return r.Code == code })
	if i < 0 {
		return nil
	}
	return &Rules[i]
}

func ruleCodes() []string {
	codes := make([]string, len(Rules))
	for i, r := range Rules {
		codes[i] = string(r.Code)
	}
	return codes
}
