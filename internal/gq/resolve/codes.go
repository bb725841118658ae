package resolve

import "github.com/omnigraph-go/omnigraph/internal/gq/diag"

// The schema codes.
const (
	DuplicateType     diag.Code = "S1"
	DuplicateProperty diag.Code = "S2"
	UnknownInterface  diag.Code = "S3"
	InterfaceClash    diag.Code = "S4" // property with another type than in the interface
	UnknownEndpoint   diag.Code = "S5" // end of an edge that is not a node type
	UnknownProperty   diag.Code = "S6" // in a constraint
	NullableKey       diag.Code = "S7"
	SeveralKeys       diag.Code = "S8"  // more than one key of a node type
	EmptyVector       diag.Code = "S9"  // Vector of length 0
	BadEnum           diag.Code = "S10" // no values, or a repeated one
	BadPattern        diag.Code = "S11"
	BadRange          diag.Code = "S12"
	UnfitConstraint   diag.Code = "S13" // property of an unsuitable type
	EdgeConstraint    diag.Code = "S14" // constraint that edges cannot have
	BadCardinality    diag.Code = "S15" // wrong @card
	BadEmbed          diag.Code = "S16" // wrong @embed
	ReservedName      diag.Code = "S17" // property name that the language uses itself
	BadAnnotation     diag.Code = "S18" // annotation with wrong arguments

	UnknownAnnotation   diag.Code = "S19"
	MisplacedAnnotation diag.Code = "S20"
	RepeatedAnnotation  diag.Code = "S21"
	BadApproximate      diag.Code = "S22" // wrong @ann
	BadDefault          diag.Code = "S23" // wrong @default or @backfill
	BadValid            diag.Code = "S24" // wrong @valid
)

// Codes documents the schema codes.
var Codes = []diag.Entry{
	{Code: DuplicateType, Title: "duplicate type", Explanation: "The names of node types must be unique, and so must the names of edge types and the names of interfaces. The names of two edge types must differ in more than upper and lower case.",
		Example: "node A { x: String }\nnode A { y: String }"},
	{Code: DuplicateProperty, Title: "duplicate property", Explanation: "A type may declare a property only once.",
		Example: "node A { x: String x: I32 }"},
	{Code: UnknownInterface, Title: "unknown interface", Explanation: "implements must list interfaces that the schema declares, each only once.",
		Example: "node A implements Named { x: String }"},
	{Code: InterfaceClash, Title: "conflicting types of an inherited property", Explanation: "A type may declare a property of its interface again only with the same type.",
		Example: "interface Named { name: String }\nnode A implements Named { name: I32 }"},
	{Code: UnknownEndpoint, Title: "unknown endpoint", Explanation: "Each end of an edge must be a node type or an interface. At an interface, the end is a node of any type that implements it.",
		Example: "node A { x: String }\nedge Knows: A -> B"},
	{Code: UnknownProperty, Title: "unknown property", Explanation: "The names in a constraint must be properties of its type. @unique and @index in an edge may also use src and dst.",
		Example: "node A { x: String @index(y) }"},
	{Code: NullableKey, Title: "nullable key", Explanation: "A property of a key must not be nullable.",
		Example: "node A { x: String? @key }"},
	{Code: SeveralKeys, Title: "several keys", Explanation: "A node type may have only one key. Write a composite key as @key(a, b) in the body.",
		Example: "node A { x: String @key y: String @key }"},
	{Code: EmptyVector, Title: "vector of length 0", Explanation: "A Vector must have at least one component.",
		Example: "node A { x: Vector(0) }"},
	{Code: BadEnum, Title: "enum without values, or with a repeated value", Explanation: "An enum must list its values, each only once.",
		Example: "node A { x: enum(on, off, on) }"},
	{Code: BadPattern, Title: "bad regular expression", Explanation: "The argument of @check must be a regular expression in RE2 syntax.",
		Example: `node A { x: String @check(x, "[a-") }`},
	{Code: BadRange, Title: "bad range", Explanation: "@range must have a minimum, a maximum or both. They must be values of the type of the property, and the minimum must not be above the maximum.",
		Example: "node A { x: I32 @range(x, 10..1) }"},
	{Code: UnfitConstraint, Title: "constraint on a property of an unsuitable type", Explanation: "@key and @unique need scalar properties, and a Blob cannot have an @index either. @range needs a number or a Decimal, and @check needs a String.",
		Example: "node A { x: Blob @unique }"},
	{Code: EdgeConstraint, Title: "constraint that an edge cannot have", Explanation: "The body of an edge may contain only the constraints @unique and @index.",
		Example: "node A { x: String }\nedge Knows: A -> A { since: I32 @range(since, 0..) }"},
	{Code: BadCardinality, Title: "bad cardinality", Explanation: "An edge may have only one @card, and its minimum must not be above its maximum.",
		Example: "node A { x: String }\nedge Knows: A -> A @card(3..1)"},
	{Code: BadEmbed, Title: "bad embedding", Explanation: `@embed needs a Vector property, and its argument must be a String property of the same type: @embed("text"), @embed("text", model="…").`,
		Example: `node A { x: Vector(3) @embed("y") }`},
	{Code: ReservedName, Title: "reserved property name", Explanation: "Every node and edge already has an id. A node type may declare a property id only as its whole key. An edge also has from, to, src and dst, so an edge type must not declare these names. An interface must not declare type, because a variable over the interface has this property: the name of the node's type.",
		Example: "node A { x: String }\nedge Knows: A -> A { from: String }"},
	{Code: BadAnnotation, Title: "annotation with wrong arguments", Explanation: "@description and @rename_from need one string. @key, @unique and @index on a property have no arguments.",
		Example: "node A @description(wrong) { x: String }"},
	{Code: UnknownAnnotation, Title: "unknown annotation", Explanation: "The language does not have this annotation. Names that start with x_ are free for your own annotations, such as @x_owner(\"search\"). gq lint --fix adds x_ to an unknown name, unless it resembles an annotation of the language. A graph whose stored schema has an unknown annotation still opens.",
		Example: "node A @descripton(\"An example.\") { x: String }"},
	{Code: MisplacedAnnotation, Title: "annotation in the wrong place", Explanation: "@key, @unique, @index, @embed and @ann belong to properties, @instruction and @valid to node and edge types, @card to edge types, @default and @backfill to properties too, and @range and @check to the body of a node type.",
		Example: "node A @key { x: String }"},
	{Code: RepeatedAnnotation, Title: "repeated annotation", Explanation: "A type or a property may have each annotation of the language only once, and a type each rule such as @unique(name), @index(name), @range(age, 0..150) or @check(email, \"@\"), whether it stands at the property or in the body.",
		Example: "node A @description(\"One.\") @description(\"Two.\") { x: String }"},
	{Code: BadApproximate, Title: "approximate index that a property cannot have", Explanation: "@ann gives a Vector property of a node an index with which nearest is fast on many entities and may miss some of the closest ones. It has no arguments. A property of another kind, a list, and a property of an edge cannot have it.",
		Example: "node A { x: String @ann }"},
	{Code: BadDefault, Title: "default or backfill that a property cannot have", Explanation: "@default needs a literal of the type of the property, which the rules of the type allow. @backfill needs a string with an expression over the properties of the same type, as an update assigns it. Neither is allowed on a key, and a Blob or a Vector has no @default.",
		Example: "node A { x: I32 @default(\"one\") }"},
	{Code: BadValid, Title: "validity that a type cannot have", Explanation: "@valid(since, until) names two properties of the type: both are a Date or both a DateTime, the first one is required, and the second one is nullable, because an entity without its value is still valid.",
		Example: "node A @valid(since, until) { since: Date until: Date }"},
}
