package resolve

import "github.com/omnigraph-go/omnigraph/internal/gq/diag"

// The schema codes.
const (
	DuplicateType     diag.Code = "S1"
	DuplicateProperty diag.Code = "S2"
	UnknownInterface  diag.Code = "S3"
	InterfaceClash    diag.Code = "S4"
	UnknownEndpoint   diag.Code = "S5"
	UnknownProperty   diag.Code = "S6"
	NullableKey       diag.Code = "S7"
	SeveralKeys       diag.Code = "S8"
	EmptyVector       diag.Code = "S9"
	BadEnum           diag.Code = "S10"
	BadPattern        diag.Code = "S11"
	BadRange          diag.Code = "S12"
	UnfitConstraint   diag.Code = "S13"
	EdgeConstraint    diag.Code = "S14"
	BadCardinality    diag.Code = "S15"
	BadEmbed          diag.Code = "S16"
	ReservedName      diag.Code = "S17"
	BadAnnotation     diag.Code = "S18"

	UnknownAnnotation   diag.Code = "S19"
	MisplacedAnnotation diag.Code = "S20"
	RepeatedAnnotation  diag.Code = "S21"
)

// Codes documents the schema codes.
var Codes = []diag.Entry{
	{Code: DuplicateType, Title: "duplicate type", Explanation: "Nodes, edges and interfaces have a name space each; within it a name is declared once, and edge names differ in more than case.",
		Example: "node A { x: String }\nnode A { y: String }"},
	{Code: DuplicateProperty, Title: "duplicate property", Explanation: "A type declares a property once.",
		Example: "node A { x: String x: I32 }"},
	{Code: UnknownInterface, Title: "unknown interface", Explanation: "implements names interfaces that the schema declares, each once.",
		Example: "node A implements Named { x: String }"},
	{Code: InterfaceClash, Title: "clash of interface properties", Explanation: "A property that comes from an interface may be declared again only with the same type.",
		Example: "interface Named { name: String }\nnode A implements Named { name: I32 }"},
	{Code: UnknownEndpoint, Title: "endpoint that is no node", Explanation: "Both ends of an edge are node types.",
		Example: "node A { x: String }\nedge Knows: A -> B"},
	{Code: UnknownProperty, Title: "unknown property", Explanation: "A constraint names properties of its own type; @unique and @index on an edge also src and dst.",
		Example: "node A { x: String @index(y) }"},
	{Code: NullableKey, Title: "nullable key", Explanation: "Every member of a key is required.",
		Example: "node A { x: String? @key }"},
	{Code: SeveralKeys, Title: "several keys", Explanation: "A node has one key; a composite key is written @key(a, b) in the body.",
		Example: "node A { x: String @key y: String @key }"},
	{Code: EmptyVector, Title: "vector of length 0", Explanation: "A Vector has at least one component.",
		Example: "node A { x: Vector(0) }"},
	{Code: BadEnum, Title: "enum without values, or with the same twice", Explanation: "An enum lists its values, each once.",
		Example: "node A { x: enum(on, off, on) }"},
	{Code: BadPattern, Title: "bad regular expression", Explanation: "@check takes a regular expression in RE2 syntax.",
		Example: `node A { x: String @check(x, "[a-") }`},
	{Code: BadRange, Title: "bad range", Explanation: "The ends of @range are in order, at least one is given, and they are values of the property's type.",
		Example: "node A { x: I32 @range(x, 10..1) }"},
	{Code: UnfitConstraint, Title: "constraint on a property that cannot bear it", Explanation: "Keys and unique tuples are made of scalars; Blob takes no index either; @range bounds numbers and @check Strings.",
		Example: "node A { x: Blob @unique }"},
	{Code: EdgeConstraint, Title: "constraint that edges do not have", Explanation: "The body of an edge takes @unique and @index only.",
		Example: "node A { x: String }\nedge Knows: A -> A { since: I32 @range(since, 0..) }"},
	{Code: BadCardinality, Title: "bad cardinality", Explanation: "@card stands once, and its minimum is not above its maximum.",
		Example: "node A { x: String }\nedge Knows: A -> A @card(3..1)"},
	{Code: BadEmbed, Title: "bad embedding", Explanation: `@embed stands on a Vector and names a String property of the same type: @embed("text"), @embed("text", model="…").`,
		Example: `node A { x: Vector(3) @embed("y") }`},
	{Code: ReservedName, Title: "reserved property name", Explanation: "Every entity has an id of its own: a property called id must be the node's key, and alone in it. An edge also has from, to, src and dst.",
		Example: "node A { x: String }\nedge Knows: A -> A { from: String }"},
	{Code: BadAnnotation, Title: "annotation with unfit arguments", Explanation: "@description and @rename_from take one string; @key, @unique and @index on a property take nothing.",
		Example: "node A @description(wrong) { x: String }"},
	{Code: UnknownAnnotation, Title: "unknown annotation", Explanation: "The language has no such annotation. Names that start with x_ are free for a team's own annotations: @x_owner(\"search\"). gq lint --fix puts x_ before a name that is near no annotation of the language. A graph whose stored schema has such an annotation still opens.",
		Example: "node A @descripton(\"An example.\") { x: String }"},
	{Code: MisplacedAnnotation, Title: "annotation in the wrong place", Explanation: "@key, @unique, @index and @embed stand on properties, @instruction on node and edge types, @card on edge types, @range and @check in the body of a node type.",
		Example: "node A @key { x: String }"},
	{Code: RepeatedAnnotation, Title: "annotation twice", Explanation: "A type or a property has each annotation of the language at most once.",
		Example: "node A @description(\"One.\") @description(\"Two.\") { x: String }"},
}
