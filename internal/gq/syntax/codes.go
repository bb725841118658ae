package syntax

import (
	"slices"

	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
)

// The parse codes.
const (
	InvalidUTF8    diag.Code = "P1"
	NUL            diag.Code = "P2" // byte 0 in the text
	BadCharacter   diag.Code = "P3"
	OpenString     diag.Code = "P4" // string without an end
	BadEscape      diag.Code = "P5"
	OpenComment    diag.Code = "P6" // block comment without an end
	Unexpected     diag.Code = "P7" // token that the grammar does not allow here
	TooDeep        diag.Code = "P8" // brackets that are nested too deeply
	NumberTooLarge diag.Code = "P9"
	UnknownScalar  diag.Code = "P10"
	UnknownCall    diag.Code = "P11" // unknown function
)

// Codes documents the parse codes. An example is a .gq text, or a .pg text if it declares a
// type.
var Codes = []diag.Entry{
	{Code: InvalidUTF8, Title: "invalid UTF-8", Explanation: "A source must be UTF-8. The parser does not read the rest of the file.",
		Example: "query q() { match { $p: Person { name: \"\xff\" } } return { $p } }"},
	{Code: NUL, Title: "NUL byte", Explanation: "A source is text and must not contain a NUL byte. The parser does not read the rest of the file.",
		Example: "query q() { match { $p: Person \x00 } return { $p } }"},
	{Code: BadCharacter, Title: "unexpected character", Explanation: "Outside strings and comments, only names, numbers and the punctuation of the language are allowed.",
		Example: "query q() { match { $p: Person; } return { $p } }"},
	{Code: OpenString, Title: "string without an end", Explanation: "A string ends at the next double quote that is not escaped. It may contain line breaks.",
		Example: `query q() { match { $p: Person { name: "Ada } } return { $p } }`},
	{Code: BadEscape, Title: "unknown escape", Explanation: `The only escapes in a string are \" \\ \n \r \t.`,
		Example: `query q() { match { $p: Person { name: "A\da" } } return { $p } }`},
	{Code: OpenComment, Title: "comment without an end", Explanation: "A block comment starts with /* and ends at the first */. Comments do not nest.",
		Example: "/* to do\nquery q() { match { $p: Person } return { $p } }"},
	{Code: Unexpected, Title: "unexpected token", Explanation: "The text does not follow the grammar at this position. The parser skips the rest of the declaration and continues with the next one.",
		Example: "query q() { match { $p Person } return { $p } }"},
	{Code: TooDeep, Title: "nesting too deep", Explanation: "Brackets may be nested at most 256 levels deep, and so may functions and operators.",
		Example: deepExample()},
	{Code: NumberTooLarge, Title: "number too large", Explanation: "A limit must be less than 2^63. The length of a Vector, a hop bound and a bound of @card must be less than 2^31.",
		Example: "query q() { match { $p: Person } return { $p } limit 9999999999999999999 }"},
	{Code: UnknownScalar, Title: "unknown scalar type", Explanation: "The scalar types are " + listed(scalarNames) + "; a Decimal needs its digits, as in Decimal(12, 2); Vector needs a length in parentheses, as in Vector(384). A parameter may also have a node type. Write the nearest of these: I64 or I32 for an integer, F64 for a float, String for a text or an enum, DateTime for a timestamp. For a node, check the name of the type with type_describe or in the schema.",
		Example: "query q($n: Int) { match { $p: Person } return { $p } }"},
	{Code: UnknownCall, Title: "unknown function", Explanation: "The functions are " + listed(slices.Concat(Functions, []string{"now", ActorFunction, OriginFunction}, literalFunctions)) + ".",
		Example: "query q() { match { $p: Person } return { len($p.name) } }"},
}

// deepExample returns a query that is nested one level too deep.
func deepExample() string {
	const levels = maxNesting + 1
	b := []byte("query q() { match { $p: Person ")
	for range levels {
		b = append(b, "not { "...)
	}
	for range levels {
		b = append(b, "} "...)
	}
	return string(append(b, "} return { $p } }"...))
}
