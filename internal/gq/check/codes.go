package check

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// The type codes.
const (
	UnknownNode       diag.Code = "T1"
	UnknownInline     diag.Code = "T2"
	BadValue          diag.Code = "T3"
	UnknownEdge       diag.Code = "T4"
	WrongEndpoint     diag.Code = "T5"
	Unbound           diag.Code = "T6"
	Incomparable      diag.Code = "T7"
	BadAggregate      diag.Code = "T8"
	Uncorrelated      diag.Code = "T9"
	UnknownTarget     diag.Code = "T10"
	UnknownAssigned   diag.Code = "T11"
	Missing           diag.Code = "T12"
	AssignedTwice     diag.Code = "T13"
	UndeclaredParam   diag.Code = "T14"
	BadOperand        diag.Code = "T15"
	Immutable         diag.Code = "T16"
	NearestLimit      diag.Code = "T17"
	BadSearch         diag.Code = "T19"
	BadRanking        diag.Code = "T20"
	BadFusion         diag.Code = "T21"
	UnlikeEndpoints   diag.Code = "T22"
	EdgeBindingMisuse diag.Code = "T23"
	BlobValue         diag.Code = "T24"
	DuplicateColumn   diag.Code = "T26"
	DuplicateName     diag.Code = "T27"
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
	{Code: UnknownNode, Title: "unknown node type", Explanation: "A binding names a node type of the schema.",
		Example: `query q() { match { $p: Persn } return { $p.name } }`},
	{Code: UnknownInline, Title: "unknown property in a binding", Explanation: "The braces of a binding name properties of its type.",
		Example: `query q() { match { $p: Person { nam: "Ada" } } return { $p } }`},
	{Code: BadValue, Title: "value of the wrong type", Explanation: "A value in a binding or an assignment fits its property: the same scalar type, or both numeric and in range, an enum's literal one of its values; a binding takes no list and no blob.",
		Example: `query q() { match { $p: Person { age: "old" } } return { $p } }`},
	{Code: UnknownEdge, Title: "unknown edge", Explanation: "A traversal names an edge of the schema, in any case but a lower-case first letter.",
		Example: `query q() { match { $p: Person $p know $q } return { $p } }`},
	{Code: WrongEndpoint, Title: "endpoint of the wrong type", Explanation: "The variables at the ends of a traversal are of the edge's endpoint types, and one variable is of one type.",
		Example: `query q() { match { $c: Company $c knows $q } return { $q } }`},
	{Code: Unbound, Title: "unbound variable or unknown property", Explanation: "An expression names a variable that the match binds, or a parameter, and a property of its type; a bare name stands only in order, for a column. $_ binds nothing.",
		Example: `query q() { match { $p: Person } return { $x.name } }`},
	{Code: Incomparable, Title: "comparison of unlike or unsupported types", Explanation: "Both sides of a comparison are of one scalar type, or both numeric; nodes, lists, vectors and blobs are not compared. contains takes a list or a String on the left, starts_with two Strings. A sort key is a scalar.",
		Example: `query q() { match { $p: Person $p.age > "old" } return { $p } }`},
	{Code: BadAggregate, Title: "aggregate on the wrong type", Explanation: aggregateArguments() + "Aggregates do not nest, and stand in return and order only.",
		Example: `query q() { match { $p: Person } return { sum($p.name) } }`},
	{Code: Uncorrelated, Title: "negation without an outer variable, or ungrouped expression", Explanation: "A not block uses a variable of the match around it; beside an aggregate, order takes columns and aggregates only.",
		Example: `query q() { match { $p: Person not { $c: Company } } return { $p } }`},
	{Code: UnknownTarget, Title: "mutation of an unknown type, or without an assignment", Explanation: "A mutation names a node or edge type, and an insert or update assigns something.",
		Example: `query q() { insert Persn { name: "Ada" } }`},
	{Code: UnknownAssigned, Title: "unknown or blob property in a mutation", Explanation: "Assignments and predicates name properties of the type, not blobs; edges also have from and to, and what has no key has an id.",
		Example: `query q() { insert Person { name: "Ada" nam: "Ada" } }`},
	{Code: Missing, Title: "required property or endpoint missing", Explanation: "An insert assigns every property that is not nullable, and of an edge from and to. A Vector with @embed may be left out when its source is assigned.",
		Example: `query q() { insert Person { age: 3 } }`},
	{Code: AssignedTwice, Title: "property assigned twice", Explanation: "A statement assigns a property once.",
		Example: `query q() { insert Person { name: "Ada" name: "Eda" } }`},
	{Code: UndeclaredParam, Title: "undeclared parameter", Explanation: "A $name as the value of a property is a parameter of the query.",
		Example: `query q() { match { $p: Person { name: $name } } return { $p } }`},
	{Code: BadOperand, Title: "bad hop bounds, or bad operands of nearest", Explanation: "Bounds are {min,max} with 1 <= min <= max. nearest takes a Vector property and a vector of its length, or a String to embed.",
		Example: `query q() { match { $p: Person $p knows{2,} $q } return { $q } }`},
	{Code: Immutable, Title: "update of an edge or of a key", Explanation: "Edges and keys do not change: delete and insert instead.",
		Example: `query q() { update Person set { name: "Ada" } where name = "Eda" }`},
	{Code: NearestLimit, Title: "nearest without limit", Explanation: "A query with nearest says how many rows it wants.",
		Example: `query q($v: Vector(3)) { match { $p: Person } return { $p.name } order { nearest($p.face, $v) } }`},
	{Code: BadSearch, Title: "bad operands of search or fuzzy", Explanation: "They take a String property and a String literal or parameter; fuzzy also a number of edits from 0 to 2.",
		Example: `query q() { match { $p: Person search($p.age, "x") } return { $p } }`},
	{Code: BadRanking, Title: "bad operands of bm25 or match_text", Explanation: "They take a String property and a String literal or parameter.",
		Example: `query q() { match { $p: Person match_text($p.name, 3) } return { $p } }`},
	{Code: BadFusion, Title: "bad operands of rrf, rrf without limit, or rrf in a condition", Explanation: "rrf takes two rankings, each nearest or bm25, and a positive integer k; its query says how many rows it wants. It ranks the rows that the conditions leave, so that it is returned or ordered by, and stands in no condition.",
		Example: `query q() { match { $p: Person rrf($p.age, $p.score) > 0.1 } return { $p.name } order { rrf($p.age, $p.score) } limit 3 }`},
	{Code: UnlikeEndpoints, Title: "undirected traversal over unlike endpoints", Explanation: "$a <edge> $b is for edges whose two endpoint types are the same.",
		Example: `query q() { match { $p: Person $p <worksAt> $c } return { $c } }`},
	{Code: EdgeBindingMisuse, Title: "misuse of an edge binding", Explanation: "A variable that binds an edge is bound once, without hop bounds, serves only as $w.property, and is no endpoint.",
		Example: `query q() { match { $p: Person $p $w:knows $q } return { $w } }`},
	{Code: BlobValue, Title: "blob as a value", Explanation: "Blobs are no values in a read query.",
		Example: `query q() { match { $p: Person } return { $p.photo } }`},
	{Code: DuplicateColumn, Title: "duplicate column", Explanation: "Every column has a name of its own; as gives it one.",
		Example: `query q() { match { $p: Person } return { $p.name $p.name } }`},
	{Code: DuplicateName, Title: "duplicate parameter or query", Explanation: "A query has a name of its own in the graph, and a parameter in its query.",
		Example: `query q($a: String, $a: I32) { match { $p: Person { name: $a } } return { $p } }`},
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
