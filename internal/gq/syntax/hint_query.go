package syntax

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// FormIntro begins the help of a text that does not start with query. An example of a query follows, and perhaps more
// help after a semicolon.
const FormIntro = "write it as a query: "

// Help texts that several rows share.
const (
	queryForm    = FormIntro + "query people() { match { $p: Person } return { $p.name } }"
	mutationForm = FormIntro + "query add($name: String) { insert Person { name: $name } }"
	commentForm  = "write a comment after // or between /* and */"
	orderForm    = "write order { $p.name desc }, after return { … }"
	offsetForm   = "the language has no offset: order by a key, and ask for the rows after the last key, as in $p.name > $last"
	whereForm    = "write conditions in match, after the bindings: match { $p: Person $p.age > 30 }"
	whichForm    = "add a condition, as in where name = $name"
	signForm     = "write a number without a space after its sign"
	caseForm     = "write if(condition, a, b), and another if as b for the next case"
	joinForm     = "write + to join texts: $p.first + \" \" + $p.last"
	dollarParam  = "a parameter starts with $, as in $name"
)

// aggregates is the part of a hint that matches the name of an aggregate.
var aggregates = strings.Join(plan.AggregateNames(), "|")

// queryHints apply between queries and to their heads, parameters, bodies and columns.
var queryHints = []hint{
	// Between queries.
	{in: inQueries, text: "^{", help: queryForm},
	{in: inQueries, text: "^mutation <name> (", help: "write a mutation as a query: query %2(…) { insert … }"},
	{in: inQueries, text: "^mutation|insert|update|delete|create|merge|upsert|remove", help: mutationForm},
	{in: inQueries, text: "^with recursive", help: queryForm + "; in match, $p knows{1,64} $q follows an edge again and again"},
	{in: inQueries, text: "^match|select|return|with|find|get|from|optional|unwind|for|call|let|filter|use", help: queryForm},
	{in: inQueries, text: "^node|edge|interface|type|enum <word>", help: "types are declared in the schema, a .pg file"},
	{in: inSchema, text: "^query|mutation|match|select|insert|update|delete", help: "write queries in .gq files"},
	{in: inQueries, text: "^query <word>", help: "keywords are lower case: %l1"},
	{in: inSchema, text: "^node|edge|interface <word>", help: "keywords are lower case: %l1"},
	{in: inQueries + " " + inSchema, text: "^- -", help: commentForm},
	{in: inQueries + " " + inSchema, text: "^}", help: "remove it: all brackets before it are already closed"},

	// Heads.
	{in: inQueryHead, text: "query ^{", help: "a query needs a name and parentheses: query people() {"},
	{in: inQueryHead, text: "query ^<typename>", help: "names start with a lower-case letter: query %l2()"},
	{in: inQueryHead, text: "query ^<string>", help: "write a name without quotes: query people()"},
	{in: inQueryHead, text: "query <name> ^{", help: "put parentheses after the name, even if there are no parameters: query %2() {"},
	{in: inQueryHead, text: "query <name> ^-", help: "names contain only letters, digits and _"},
	{in: inQueryHead, text: ") ^:|->|returns", help: "a query does not declare its result: return { … } defines the columns"},
	{in: inQueryHead, text: ") ^match|insert|update|delete|return", help: "put braces around the body: query people() { match { … } return { … } }"},
	{in: inQueryHead, text: "description|instruction ^<string>", help: "put parentheses around the text: @%1(%2)"},

	// Parameters.
	{in: inParams, text: "<var> ^)|,", want: "`:`", help: "a parameter needs a type: %1: String"},
	{in: inParams, text: "<var> ^<word>", help: "write a colon before the type: %1: %s2"},
	{in: inParams, text: "<var> ^? : <word>", help: "write the ? after the type: %1: %s4?"},
	{in: inParams, text: "<var> ^=", help: "a parameter needs a type, and its default is an annotation: %1: I32 @default(20)"},
	{in: inParams, text: "(|, ^<word> :", help: "a parameter starts with $: $%2"},
	{in: inParams, text: "(|, ^:|@ <name> :|,|)", help: "a parameter starts with $: $%3"},
	{in: inParams + " " + inType, text: ": ^list|array|set", help: "write a list as [String]"},
	{in: inParams + " " + inType, text: "<typename> ^[ ]", help: "write a list as [%1]"},
	{in: inParams + " " + inType, text: "List|Array|Set ^<", help: "write a list as [String]"},
	{in: inParams, text: ": ^<name>", help: "%S2"},
	{in: inParams, text: "<typename>|]|?|) ^= <constant>", help: "write a default as an annotation: @default(%3)"},
	{in: inParams, text: "<typename>|]|?|) ^=", help: "write a default as an annotation, such as @default(20)"},
	{in: inParams, text: "<typename>|]|?|)|<string> ^range|check|default|example|description (", help: "an annotation starts with @: @%2(…)"},
	{in: inParams, text: "@ ^min|minimum|max|maximum|between", help: "write the bounds as @range(1..100); one of them may be left out"},
	{in: inParams, text: "@ ^pattern|regex|regexp|matches", help: "write the regular expression as @check(\"^[a-z]+$\")"},
	{in: inParams, text: "@ ^optional|nullable", help: "the type of an optional property or parameter ends with ?, as in String?"},
	{in: inParams + " " + inQueryHead, text: "@ ^<name>", help: "%a2"},
	{in: inAnnotation, text: "range ( <number> ^,|- <number>", help: "write @range(%3..%5)"},
	{in: inAnnotation, text: "range ( ^<name>", help: "write only the bounds: @range(1..100)"},
	{in: inAnnotation, text: "check ( ^<name>", want: "a string", help: "write only the regular expression: @check(\"^[a-z]+$\")"},
	{in: inParamValue, text: "^<name>|<typename>", help: "write a literal, such as 20, true, \"open\" or date(\"2024-05-01\")"},
	{in: inParams, text: "<typename>|]|?|) ^<var>", help: "separate the parameters with commas"},

	// Bodies: the beginning.
	{in: inBody, text: ") { ^where|order|limit", help: "a read starts with match { … } and return { … }"},
	{in: inBody, text: ") { ^return", help: "a read starts with match { … }: match { $p: Person } return { $p.name }"},
	{in: inBody, text: ") { ^select|find|get|from", help: "write match { $p: Person } return { $p.name }"},
	{in: inBody, text: "{|} ^create|add", help: "write insert Person { name: $name }; if the type has a key, insert replaces the node with the same key, and insert new fails"},
	{in: inBody, text: "{|} ^merge", help: "write upsert Person { name: $name }: it changes the node with the same key, or inserts it"},
	{in: inBody, text: "{|} ^unwind|foreach", help: "write for $x in $list { insert Person { name: $x } }"},
	{in: inBody, text: "{|} ^set", help: "write update Person set { age: $age } where name = $name"},
	{in: inBody, text: "{|} ^remove|drop|detach", help: "write delete Person where name = $name"},
	{in: inBody, text: ") { ^<var>", help: "put match { … } around the clauses, and return { … } after them"},
	{in: inBody, text: ") { ^<name>", help: "write match { $p: Person } return { $p.name }, or insert, update and delete"},

	// Bodies: match and return.
	{in: inBody, text: "match ^( <name> : <typename> )", help: "write match { $%3: %5 }"},
	{in: inBody, text: "match ^<any>", want: "`{`", help: "put braces around the clauses: match { $p: Person }"},
	{in: inBody, text: "return ^distinct {", want: "`{`", help: "keywords are lower case: %l2"},
	{in: inBody, text: "return distinct ^<any>", help: "put braces around the columns: return distinct { $p.name }"},
	{in: inBody, text: "return ^distinct", help: "put braces around the columns: return distinct { $p.name }"},
	{in: inBody, text: "return ^<var> . <name>", help: "put braces around the columns: return { %2.%4 }"},
	{in: inBody, text: "return ^<any>", want: "`{`", help: "put braces around the columns: return { $p.name }"},
	{in: inBody, text: "^order|limit|sort|orderby", want: "`return`", help: "write order and limit after return { … }"},
	{in: inBody, text: "^where", want: "`return`", help: whereForm},
	{in: inBody, text: "return <group> ^where", help: whereForm},
	{in: inBody, text: "^insert|update|delete|create|set|merge", want: "`return`", help: "put braces around the statements: match { … } { insert … }; to return rows, end a query with return { … }"},
	{in: inBody, text: "match <group> ^}", want: "`return`", help: "return { … } follows match { … }"},
	{in: inBody, text: "^,", help: "remove the comma: the parts of a query need no separator"},
	{in: inBody, text: "order ^by <var> . <name> asc|desc", help: "write order { %3.%5 %l6 }"},
	{in: inBody, text: "order ^by <var> . <name>", help: "write order { %3.%5 }"},
	{in: inBody, text: "^order by", help: orderForm},
	{in: inBody, text: "order ^<any>", want: "`{`", help: "put braces around the keys: order { $p.name desc }"},
	{in: inBody, text: "^sort|orderby|sortby", help: orderForm},
	{in: inBody, text: "having ^<any>", want: "`{`", help: "put braces around the conditions, which use the names of columns: having { n > 3 }"},
	{in: inBody, text: "^having", want: "`return`", help: "write having after return { … }"},
	{in: inBody, text: "} ^having", help: "write having { n > 3 } between return { … } and order { … }, with the names of columns"},
	{in: inBody, text: "limit <int> ^having", help: "write having { n > 3 } between return { … } and order { … }, with the names of columns"},
	{in: inBody, text: "^group|groupby", help: "the language has no group by: the columns next to an aggregate are the grouping keys, as in return { $p.name count($q) }"},
	{in: inBody, text: "^union", help: "a query has one match: write two queries"},
	{in: inBody, text: "limit ^:|(|{|= <int>", help: "write limit %3"},
	{in: inBody, text: "limit <int> ^order", help: "write order before limit"},
	{in: inBody, text: "^offset|skip", help: offsetForm},
	{in: inBody, text: "^top|first|take <int>", help: "write limit %2, at the end"},

	// Bodies: mutations.
	{in: inBody, text: "insert ^into <word>", help: "write insert %u3 { name: $name }"},
	{in: inBody, text: "insert ^node|edge|vertex <typename>", help: "write the type name directly after insert: insert %3 { … }"},
	{in: inBody, text: "insert|upsert|update|delete ^<var>", help: "a statement names a type, not a variable: %1 Person …"},
	{in: inBody, text: "upsert|update|delete ^new <typename>", help: "only insert takes new: insert new %3 { … } fails if the entity exists"},
	{in: inBody, text: "insert new ^<name>", help: "type names start with an upper-case letter: insert new %u3"},
	{in: inBody, text: "delete ^from <word>", help: "write delete %u3 where name = $name"},
	{in: inBody, text: "insert|upsert|update|delete ^<name>", help: "type names start with an upper-case letter: %1 %u2"},
	{in: inBody, text: "insert <typename> ^(", help: "put braces around the values, each with its name: insert %2 { name: $name }"},
	{in: inBody, text: "insert <typename> ^set|values", help: "write insert %2 { name: $name }"},
	{in: inBody, text: "} ^on conflict|duplicate|create|match", help: "write upsert Person { … }: it changes the node with the same key, or inserts it"},
	{in: inBody, text: "} ^returning", help: "write return { … } at the end, with names of inserts: $p = insert Person { … } return { $p.id as id }"},
	{in: inBody, text: "insert <typename> <group> ^where", help: "insert cannot have a condition: to change existing nodes, use update"},
	{in: inBody, text: "update <typename> ^where", help: "write set before where: update %2 set { … } where …"},
	{in: inBody, text: "update <typename> ^<any>", want: "`set`", help: "write update %2 set { name: $name } where …"},
	{in: inBody, text: "set ^<name> =|: <constant>|<var>", help: "put braces around the values: set { %2: %4 }"},
	{in: inBody, text: "set ^<name> =|:", help: "put braces around the values: set { %2: … }"},
	{in: inBody, text: "set ^<var> . <name>", help: "put braces around the values, without the variable: set { %4: … }"},
	{in: inBody, text: "set <group> ^<any>|<end>", want: "`where`", help: whichForm},
	{in: inBody, text: "delete <typename> ^<any>|<end>", want: "`where`", help: whichForm},
	{in: inBody, text: "where ^{|(", help: "write the condition without brackets: where name = $name"},
	{in: inBody, text: "where ^<var> . <name>", help: "write the property in the condition without a variable: where %4 = …"},
	{in: inBody, text: "where <name> ^: <any>", help: "write where %2 = %4"},
	{in: inBody, text: "where <name> <relation> <var> ^?", help: "remove the ?: a condition after where always applies"},
	{in: inBody, text: "where|and <name> ^like|is|contains|starts_with|not", help: "where compares only with =, !=, <, <=, >, >= or in: for another condition, write match { $p: Person … } { update Person set { … } where id = $p.id }"},
	{in: inBody, text: "^or", help: "where joins its comparisons by and: write a statement for each case, or where name in [\"a\", \"b\"]"},
	{in: inBody, text: "^<keyword>", help: "keywords are lower case: %l1"},
	{in: inBody, text: "^<name>", help: "%b1"},

	// Assignments.
	{in: inAssigns, text: "<name> ^= <constant>|<var>", help: "write a colon between a property and its value: %1: %3"},
	{in: inAssigns, text: "<name> ^+|-|* =", help: "write the old value in the new one: %1: %1 %2 …"},
	{in: inAssigns, text: "<name> ^=", help: "write a colon between a property and its value: %1: …"},
	{in: inAssigns, text: "{|, ^<string> :", help: "write property names without quotes"},
	{in: inAssigns, text: "^<var> . <name>", help: "write the property without a variable: %3: …"},
	{in: inAssigns, text: "^<typename> :", help: "property names start with a lower-case letter: %l1"},
	{in: inAssigns, text: "^<var> -> <var>", help: "name the two ends of an edge: from: %1 to: %3"},

	// Columns.
	{in: inReturn, text: "as ^<string>", help: "an alias is a name without quotes, as in as total"},
	{in: inReturn, text: "as ^<typename>", help: "an alias starts with a lower-case letter: as %l2"},
	{in: inReturn, text: "^" + aggregates + " (", help: "functions are lower case: %l1(…)"},
	{in: inReturn, text: "!order|limit|match|where ^{|<var>", help: "add a } before %1 to close the %o"},
	{in: inReturn, text: "<var> . <name> ^: <name>", help: "write %1.%3 as %5"},
	{in: inReturn, text: "<var> . <name> ^=|<relation>", help: "put a comparison that is a column into parentheses: (%1.%3 %4 …) as …; to filter rows, write it in match"},
	{in: inReturn, text: "<name> ^:|= <var> . <name>", help: "write an alias after its expression: %3.%5 as %1"},
	{in: inReturn, text: "<name> ^:|=", help: "write an alias after its expression, as in count($p) as %1"},
	{in: inReturn, text: "<var> ^{", help: "name each column: %1.name"},
	{in: inReturn, text: "<name> ^{", help: "name each column, as in $p.name"},
	{in: inReturn, text: "^<relation>", help: "put a comparison that is a column into parentheses: ($p.age > 30) as old; to filter rows, write it in match"},

	// Sort keys.
	{in: inOrder, text: "<var> . <name> ^: <word>", help: "write %1.%3 desc, or asc"},
	{in: inOrder, text: "^descending|ascending", help: "write desc or asc"},
	{in: inOrder, text: "{|, ^- <var> . <name>", help: "write %3.%5 desc"},
	{in: inOrder, text: "<name>|asc|desc ^<var>", help: "separate the keys with commas"},

	// Calls, and expressions in any setting.
	{in: inReturn + " " + inOrder + " " + inCall + " " + inMatch, text: "^count|sum|min|max|avg|first|collect {", help: "write a block of clauses in lower case: %l1 { $p knows $q }"},
	{in: inList, text: "[ ^( <var>|<name> )", help: "write a block of clauses: collect { $p knows $q return { $q.name as name } limit 100 }, or count { $p knows $q }"},
	{in: inCall, text: "!select ^<any>", help: "write a block of clauses: count { $p knows $q }, or sum { $p knows $q return $q.age }"},
	{in: inReturn + " " + inOrder, text: "^- [|-|->", help: "write a block of clauses: count { $p knows $q }, or exists { $p knows $q }"},
	{in: inCall, text: "size|count|length ( !( <var>|<name> ) ^-", help: "write a block of clauses: count { $p knows $q }, or exists { $p knows $q }"},
	{in: inCall, text: "count ( ^)", help: "to count the rows, count a variable of the match: count($p)"},
	{in: inCall, text: "^distinct", help: "keywords are lower case: distinct"},
	{in: inReturn, text: "^- <number>", want: "`}`", help: "write a comma before a column that starts with a number with a sign: , -%2"},
	{in: inReturn + " " + inOrder + " " + inMatch + " " + inCall + " " + inAssigns + " " + inBinding, text: "^case", help: caseForm},
	{in: inMatch + " " + inCall, text: "!case ^when|<var>", help: caseForm},
	{in: inCall, text: "cast ( <any> ^as", help: "write string(value), int(value), float(value) or date(value)"},
	{in: inCall, text: "cast ( <var> . <name> ^as", help: "write string(%3.%5), int(%3.%5), float(%3.%5) or date(%3.%5)"},
	{in: inCall, text: "extract ( <name> ^from", help: "write year(time), month(time), day(time), hour(time) or weekday(time)"},
	{in: inReturn + " " + inOrder, text: "^as|asc|desc", want: "`}`", help: "keywords are lower case: %l1"},
}

// literalHints apply to calls that write a literal, and have no text.
var literalHints = func() []hint {
	var all []hint
	for _, k := range value.Kinds() {
		if f := k.Literal(); f != "" && k != value.Date { // date is also a function of any expression
			all = append(all, hint{in: inCall, text: f + " ( ^<int>|<var>|<name>", help: "write " + f + "(" + k.Example() + "), or declare a parameter as " + k.String()})
		}
	}
	return all
}()
