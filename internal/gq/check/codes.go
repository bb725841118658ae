package check

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// The type codes.
const (
	UnknownNode       diag.Code = "T1"
	UnknownInline     diag.Code = "T2" // property in the braces of a binding
	BadValue          diag.Code = "T3" // value that does not fit its property
	UnknownEdge       diag.Code = "T4"
	WrongEndpoint     diag.Code = "T5"  // variable of another type at an end of a traversal
	Unbound           diag.Code = "T6"  // unbound variable or unknown property
	Incomparable      diag.Code = "T7"  // operands of a comparison
	BadAggregate      diag.Code = "T8"  // aggregate of a type that it does not accept
	Uncorrelated      diag.Code = "T9"  // block that uses no variable from outside
	UnknownTarget     diag.Code = "T10" // type in a mutation
	UnknownAssigned   diag.Code = "T11" // property in a mutation
	Missing           diag.Code = "T12" // required property or endpoint of an insert
	AssignedTwice     diag.Code = "T13"
	UndeclaredParam   diag.Code = "T14"
	BadOperand        diag.Code = "T15" // hop bounds, or operands of nearest
	Immutable         diag.Code = "T16" // update of the ends of an edge or of a key
	NearestLimit      diag.Code = "T17" // nearest in a query without a limit
	BadSearch         diag.Code = "T19" // operands of search or fuzzy
	BadRanking        diag.Code = "T20" // operands of bm25 or match_text
	BadFusion         diag.Code = "T21" // operands of rrf
	UnlikeEndpoints   diag.Code = "T22" // undirected traversal between different types
	EdgeBindingMisuse diag.Code = "T23" // variable of an edge or of a walk
	BlobValue         diag.Code = "T24" // blob in a read
	DuplicateColumn   diag.Code = "T26" // two columns with one name
	DuplicateName     diag.Code = "T27" // of a parameter, a query or an edge of a traversal
	NotCondition      diag.Code = "T30" // binding or traversal in an `any` or `all` block
	BadPattern        diag.Code = "T31" // right side of `matches`
	MisplacedOptional diag.Code = "T33" // `optional` block inside another block
	BadSubquery       diag.Code = "T38" // form, depth or contents of a subquery
	BadParam          diag.Code = "T40" // annotation of a parameter
	BadLimit          diag.Code = "T41" // parameter of a limit
	BadQuestion       diag.Code = "T42" // empty or repeated @question
	BadCheck          diag.Code = "T43" // misuse of @must_be_empty
	BadActor          diag.Code = "T44" // actor() without a member, or with an unknown one
	BadTime           diag.Code = "T45" // instant of `as of`, or a time of `valid`
	BadUpsert         diag.Code = "T50" // upsert that cannot find its entity
	BadBlock          diag.Code = "T51" // `match` or `for` block of a mutation
	BadReturn         diag.Code = "T52" // column that a mutation cannot return
)

// ExampleSchema is the schema that the examples of Codes are checked against.
const ExampleSchema = `
node Person {
  name: String @key
  age: I32?
  score: F32?
  mood: enum(good, bad)?
  tags: [String]?
  face: Vector(3)?
  photo: Blob?
}
node Company { name: String @key }
edge Knows: Person -> Person { since: Date? }
edge WorksAt: Person -> Company
`

// Codes documents the type codes. The examples are queries on ExampleSchema.
var Codes = []diag.Entry{
	{Code: UnknownNode, Title: "unknown node type", Explanation: "The type in a binding must be a node type of the schema, or an interface that node types implement. The type of a parameter may be a node type or an interface that node types implement, but not an edge.",
		Example: `query q() { match { $p: Persn } return { $p.name } }`},
	{Code: UnknownInline, Title: "unknown property in a binding", Explanation: "The names in the braces of a binding must be properties of its type.",
		Example: `query q() { match { $p: Person { nam: "Ada" } } return { $p } }`},
	{Code: BadValue, Title: "value of the wrong type", Explanation: "A value in a binding or an assignment must fit its property: it has the same scalar type, or both are numeric and the value is in range. A literal for an enum must be one of its values. A binding does not accept a list or a blob. Write the value as the type of the property wants it: a number without quotes, a text in quotes, date(\"2024-05-01\"), datetime(\"2024-05-01T12:00:00Z\"), or one of the values that the message lists. Change the type of a parameter in the head of the query.",
		Example: `query q() { match { $p: Person { age: "old" } } return { $p } }`},
	{Code: UnknownEdge, Title: "unknown edge", Explanation: "The edge in a traversal must be an edge of the schema. Upper and lower case do not matter, except that the first letter is lower-case.",
		Example: `query q() { match { $p: Person $p know $q } return { $p } }`},
	{Code: WrongEndpoint, Title: "endpoint of the wrong type", Explanation: "The variables at the ends of a traversal must have the endpoint types of the edge, and a variable has only one type. In a traversal of several edges, some match between these types must be able to follow each edge. A parameter that is the id of a node must have the type that from, to or id requires. If edges with an interface at an end give a variable two interfaces, bind the variable. In a mutation, the value at such an end is a node with its type: Person(\"ada\"), a variable, or a parameter of a node type or an interface.",
		Example: `query q() { match { $c: Company $c knows $q } return { $q } }`},
	{Code: Unbound, Title: "unbound variable or unknown property", Explanation: "A variable in an expression must be bound by the match or be a parameter, and the property must belong to its type. A binding or traversal outside of optional blocks cannot use a variable that an optional block binds. A name without $ is the name of a column: in return one before it, in having and order any. having uses columns instead of variables. $_ cannot be used in an expression.",
		Example: `query q() { match { $p: Person } return { $x.name } }`},
	{Code: Incomparable, Title: "comparison of different or unsupported types", Explanation: "Both sides of a comparison must have the same scalar type or be numeric. Two nodes of one type can be compared with = and !=, and so can a node and a parameter of its type. Lists, vectors and blobs cannot be compared. The left side of contains must be a list or a String; both sides of starts_with and matches must be Strings; in needs one value on the left and a list on the right. A sort key must be a scalar.",
		Example: `query q() { match { $p: Person $p.age > "old" } return { $p } }`},
	{Code: BadAggregate, Title: "aggregate on the wrong type", Explanation: aggregateArguments() + "Only count and collect take distinct. An aggregate may occur only in return and order, and not inside another aggregate.",
		Example: `query q() { match { $p: Person } return { sum($p.name) } }`},
	{Code: Uncorrelated, Title: "block without an outer variable, or ungrouped expression", Explanation: "A not, exists or optional block must use a variable of the surrounding match. In a query with aggregates or with return distinct, order may use only columns and aggregates, and a first or collect block cannot be a column.",
		Example: `query q() { match { $p: Person not { $c: Company } } return { $p } }`},
	{Code: UnknownTarget, Title: "mutation of an unknown type, or without an assignment", Explanation: "The type in a mutation must be a node or edge type of the schema, and an insert or update must assign a property.",
		Example: `query q() { insert Persn { name: "Ada" } }`},
	{Code: UnknownAssigned, Title: "unknown or blob property in a mutation", Explanation: "The names in assignments and in where must be properties of the type, but not blobs. Edges also have from and to. Edges, and nodes without a key, also have an id.",
		Example: `query q() { insert Person { name: "Ada" nam: "Ada" } }`},
	{Code: Missing, Title: "required property or endpoint missing", Explanation: "An insert must assign every property that is not nullable, and the insert of an edge must assign from and to. It may leave out a Vector with @embed if it assigns the source.",
		Example: `query q() { insert Person { age: 3 } }`},
	{Code: AssignedTwice, Title: "property assigned twice", Explanation: "A statement may assign a property only once.",
		Example: `query q() { insert Person { name: "Ada" name: "Eda" } }`},
	{Code: UndeclaredParam, Title: "undeclared parameter", Explanation: "A $name used as the value of a property must be a parameter of the query. Declare it after the name of the query, with the type of the property, as in query q($name: String); or write a value in its place. To compare with a property of another variable, write a filter after the binding: $p.name = $q.name.",
		Example: `query q() { match { $p: Person { name: $name } } return { $p } }`},
	{Code: BadOperand, Title: "bad hop bounds, or bad operands of nearest", Explanation: "Bounds must be {min,max} with 0 <= min <= max <= 64; from a variable back to itself min must be at least 1. The arguments of nearest must be a Vector property and either a vector of the same length or a String to embed.",
		Example: `query q() { match { $p: Person $p knows{2,} $q } return { $q } }`},
	{Code: Immutable, Title: "update of a key or of the ends of an edge", Explanation: "The key of a node and the ends of an edge cannot be updated. Delete and insert instead.",
		Example: `query q() { update Person set { name: "Ada" } where name = "Eda" }`},
	{Code: NearestLimit, Title: "nearest without limit", Explanation: "A query with nearest must have a limit.",
		Example: `query q($v: Vector(3)) { match { $p: Person } return { $p.name } order { nearest($p.face, $v) } }`},
	{Code: BadSearch, Title: "bad operands of search or fuzzy", Explanation: "The arguments must be a String property and a String literal or parameter. fuzzy also accepts a number of edits from 0 to 2.",
		Example: `query q() { match { $p: Person search($p.age, "x") } return { $p } }`},
	{Code: BadRanking, Title: "bad operands of bm25 or match_text", Explanation: "The arguments must be a String property and a String literal or parameter.",
		Example: `query q() { match { $p: Person match_text($p.name, 3) } return { $p } }`},
	{Code: BadFusion, Title: "bad operands of rrf, rrf without limit, or rrf in a condition", Explanation: "The arguments of rrf must be two rankings, each nearest or bm25, and optionally a positive integer k. Its query must have a limit. rrf ranks the rows that satisfy the conditions, so only return and order may use it.",
		Example: `query q() { match { $p: Person rrf($p.age, $p.score) > 0.1 } return { $p.name } order { rrf($p.age, $p.score) } limit 3 }`},
	{Code: UnlikeEndpoints, Title: "undirected traversal between different endpoint types", Explanation: "The form `$a <edge> $b` is only for an edge whose endpoints have the same type.",
		Example: `query q() { match { $p: Person $p <worksAt> $c } return { $c } }`},
	{Code: EdgeBindingMisuse, Title: "misuse of the variable of an edge or of a walk", Explanation: "A variable may bind an edge or, with hop bounds, a walk only once. It can be used only to read a property: $w.since of an edge, $w.hops, $w.nodes or $w.types of a walk. It cannot be used as a value or as the end of a traversal. A traversal of several edges needs bounds to bind a variable.",
		Example: `query q() { match { $p: Person $p $w:knows $q } return { $w } }`},
	{Code: BlobValue, Title: "blob as a value", Explanation: "A read query cannot use blobs as values.",
		Example: `query q() { match { $p: Person } return { $p.photo } }`},
	{Code: DuplicateColumn, Title: "duplicate column", Explanation: "Every column must have a different name. Use as to name a column.",
		Example: `query q() { match { $p: Person } return { $p.name $p.name } }`},
	{Code: DuplicateName, Title: "duplicate parameter, query or edge", Explanation: "The name of a query must be unique in the graph, the name of a parameter in its query, and the name of an edge in its traversal.",
		Example: `query q($a: String, $a: I32) { match { $p: Person { name: $a } } return { $p } }`},
	{Code: NotCondition, Title: "binding or traversal in any or all", Explanation: "The clauses of an any or all block are conditions: filters, searches, and not, exists, any and all blocks. They bind no variables. Write exists { … } around a traversal. In having, only comparisons of columns, any and all are conditions.",
		Example: `query q() { match { $p: Person any { $p.age > 60 $p knows $q } } return { $p } }`},
	{Code: BadPattern, Title: "bad regular expression", Explanation: "The right side of matches must be a String literal or a parameter with a regular expression in RE2 syntax, of at most 1,000 bytes and 1,000 elements after repetitions are written out.",
		Example: `query q() { match { $p: Person $p.name matches "(a" } return { $p } }`},
	{Code: MisplacedOptional, Title: "optional inside another block", Explanation: "An optional block may be directly in match or in a subquery, not inside not, exists, any, all or another optional block. The blocks of a match apply in source order, and a block may use the variables of the blocks before it.",
		Example: `query q() { match { $p: Person not { $p knows $q optional { $q knows $r } } } return { $p } }`},
	{Code: BadSubquery, Title: "bad subquery", Explanation: "count, sum, min, max and avg before braces return one value without braces, and only count may leave it out. first and collect return a record in braces, and collect needs a limit from 1 to 1,000. Subqueries nest three deep. They contain neither aggregates nor bm25, nearest and rrf, and having contains no subqueries.",
		Example: `query q() { match { $p: Person } return { $p.name, collect { $p knows $q return { $q.name as name } } as friends } }`},
	{Code: BadParam, Title: "bad annotation of a parameter", Explanation: "A parameter may have one @range if it is a number, one @check if it is a String, one @default, and any number of @example. For a list, @range, @check and @example apply to each element. @range must have a minimum, a maximum or both; @check has a regular expression in RE2 syntax. The literals of @default and @example must have the type of the parameter and satisfy @range and @check.",
		Example: `query q($age: I32 @range(0..150) @default(200)) { match { $p: Person { age: $age } } return { $p } }`},
	{Code: BadLimit, Title: "bad parameter of a limit", Explanation: "The parameter in limit $n must be an I32 with a @range that has both ends, within 0 to 10,000. It must be required or have a @default.",
		Example: `query q($n: I32) { match { $p: Person } return { $p.name } limit $n }`},
	{Code: BadQuestion, Title: "empty or repeated question", Explanation: "The text of @question is a question that the query answers. It must not be empty, and a query may have each question only once.",
		Example: `query q() @question("Who is there?") @question("Who is there?") { match { $p: Person } return { $p.name } }`},
	{Code: BadCheck, Title: "misuse of @must_be_empty", Explanation: "The annotation @must_be_empty makes a check of a query, and its text says what the check demands. The text must be one line of at most 200 characters. A query may have the annotation once. The query must be a read that can be called without arguments, and that can return no row as well as some rows. Aggregates without a grouping column always return one row, unless having removes it, and limit 0 always returns none.",
		Example: `query q($age: I32) @must_be_empty("Nobody has this age.") { match { $p: Person { age: $age } } return { $p.name } }`},
	{Code: BadActor, Title: "unknown member of actor()", Explanation: "actor() is the caller of the query. Its members are id, groups, and the claims that the configuration of the server maps and types, such as actor().region: server.claims in cluster.yaml, and claims in gq.yaml for gq. Write one of them.",
		Example: `query q() { match { $p: Person $p.name = actor().name } return { $p } }`},
	{Code: BadTime, Title: "bad time of a query", Explanation: "as of $t lets a read see the graph as it was at an instant. The instant is a DateTime literal, or a parameter of the type DateTime that is required or has a @default. A mutation has no as of, because it writes to the head of a branch; nor has a check. match valid at $day lets a read see only what is valid then, and match valid during $a, $b what is valid at some time from $a to before $b. These are Dates or DateTimes, likewise literals or parameters, or now(); some type of the schema must have a @valid.",
		Example: `query q($day: Date) as of $day { match { $p: Person } return { $p.name } }`},
	{Code: BadUpsert, Title: "upsert of a type without a key", Explanation: "An upsert finds a node by its key, so the type must have a @key. It finds an edge by its id, if it assigns one. Otherwise it finds the edge by the first @unique of the type that has src and dst and whose other members it assigns. What finds the entity must not be computed from the values of the entity.",
		Example: `query q() { upsert WorksAt { from: "ada" to: "acme" } }`},
	{Code: BadBlock, Title: "misuse of a match or for block in a mutation", Explanation: "A match block and a for block cannot contain another one. A match block runs for at most 10,000 rows, and its conditions have no ?. It cannot use bm25, nearest or rrf. A for block takes a list: a parameter or a literal. Only a for block takes a parameter that is a list of records, and its statements use the fields of a record, such as $x.org.",
		Example: `query q() { match { $p: Person } limit 20000 { update Person set { age: 1 } where name = $p.name } }`},
	{Code: BadReturn, Title: "column that a mutation cannot return", Explanation: "The return of a mutation computes with the entities that its inserts name outside of blocks, and with parameters. It has no aggregates, blocks or searches.",
		Example: `query q() { $p = insert Person { name: "Ada" } return { count($p) as n } }`},
}

// aggregateArguments says what the aggregates take: "sum, avg: a number. "
func aggregateArguments() string {
	var text strings.Builder
	for i, a := range plan.Aggregates {
		text.WriteString(a.Name)
		if i+1 < len(plan.Aggregates) && plan.Aggregates[i+1].Arg == a.Arg {
			text.WriteString(", ")
		} else {
			text.WriteString(": " + a.Arg.Text + ". ")
		}
	}
	return text.String()
}
