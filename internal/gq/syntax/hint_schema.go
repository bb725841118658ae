package syntax

// Help texts that several rows share.
const (
	nodeForm     = "write node Person { name: String }"
	edgeDecl     = "write edge Knows: Person -> Person"
	enumForm     = "write enum(active, gone)"
	requiredForm = "remove it: a property is required unless its type ends with ?"
	noDefault    = "there are no defaults: end the type with ?, or let the insert give the value"
	keyForm      = "write @key or @unique after the type"
)

// schemaHints apply between types and to their heads and bodies.
var schemaHints = []hint{
	// Between types.
	{in: inSchema, text: "^type|class|struct|table|entity|model|record|vertex|label <word>", help: "write node %u2 { name: String }"},
	{in: inSchema, text: "^create|{", help: nodeForm},
	{in: inSchema, text: "^relationship|relation|rel|link", help: edgeDecl},
	{in: inSchema, text: "^enum", help: "an enum is the type of a property: status: enum(active, gone)"},

	// Heads.
	{in: inTypeHead, text: "node|interface|edge ^<name>", help: "type names start with an upper-case letter: %1 %u2"},
	{in: inTypeHead, text: "node|interface|edge ^<string>", help: "a name stands without quotes"},
	{in: inTypeHead, text: "node|interface <typename> ^(", help: "braces stand around the properties: %1 %2 { name: String }"},
	{in: inTypeHead, text: "node <typename> ^:|extends|<", help: "write node %2 implements Named"},
	{in: inTypeHead, text: "interface <typename> ^:|extends|implements", help: "an interface stands alone: a node implements several of them"},
	{in: inTypeHead, text: "edge <typename> ^<any>|<end>", want: "`:`", help: "the ends follow the name: edge %2: Person -> Person"},
	{in: inTypeHead, text: "edge <typename> : <typename> ^<any> <typename>", want: "`->`", help: "write edge %2: %4 -> %6"},
	{in: inTypeHead, text: "edge <typename> : <typename> ^<any>|<end>", want: "`->`", help: "write edge %2: %4 -> Person"},
	{in: inTypeHead, text: "edge <typename> : ^<name> ->", help: "type names start with an upper-case letter: %u4"},
	{in: inTypeHead, text: "-> ^<name>", help: "type names start with an upper-case letter: %u2"},

	// Properties.
	{in: inType, text: "^,", help: "remove the comma: one property follows the other"},
	{in: inType, text: "!node|edge|interface ^<typename> :|{|@|implements", help: "a } is missing before %1: nothing closes the %o"},
	{in: inType, text: "<name> ^<typename>", want: "`:`", help: "a colon stands before the type: %1: %s2"},
	{in: inType, text: "<name> ^? : <word>", help: "the ? stands after the type: %1: %s4?"},
	{in: inType, text: "^<string> :", help: "property names stand without quotes"},
	{in: inType, text: "^<typename> :", help: "property names start with a lower-case letter: %l1"},
	{in: inType, text: ": ^enum", help: "the values stand in parentheses, with commas: enum(active, gone)"},
	{in: inType, text: ": ^<string>", help: enumForm},
	{in: inType, text: ": ^{", help: "a property holds a scalar or a list: declare a node, and an edge to it"},
	{in: inType, text: ": ^<name>", help: "%S2"},
	{in: inList, text: ": [ ^<name>", help: "%S3"},
	{in: inList, text: ": [ <typename> ^?", help: "elements are never null: [%3], or [%3]? when the list may be"},
	{in: inType, text: "<typename>|]|)|? ^=", help: noDefault},
	{in: inType, text: "<typename>|]|)|? !default ^<any>", help: noDefault},
	{in: inType, text: "<typename>|]|)|? !optional|null|nullable ^<any>", help: "the type of what may be missing ends with ?, as in String?"},
	{in: inType, text: "<typename>|]|) !not|required|mandatory ^<any>", help: requiredForm},
	{in: inType, text: "<typename>|]|) !primary|unique|key|index ^<any>", help: keyForm},
	{in: inType, text: "!optional ^<name> : <word>", help: "the type of what may be missing ends with ?: %2: %s4?"},
	{in: inType, text: "!required ^<name> : <word>", help: requiredForm},
	{in: inType, text: "<name> ^<name>", want: "`:`", help: "a colon stands before the type: %1: %s2"},
	{in: inType, text: "^- -", help: commentForm},

	// Enums and annotations.
	{in: inEnum, text: "^<string>", help: "the values stand without quotes: enum(active, gone)"},
	{in: inEnum, text: "<word> ^<word>", help: "separate the values with commas: enum(active, gone)"},
	{in: inAnnotation, text: "key|unique|index ( ^[", help: "names stand without brackets: @%1(a, b)"},
	{in: inAnnotation, text: "key|unique|index ( ^<string>", help: "names stand without quotes: @%1(a, b)"},
	{in: inAnnotation, text: "key|unique|index ( <name> ^<name>", help: "separate the names with commas: @%1(%3, %4)"},
	{in: inAnnotation, text: "card ( <int> ^)", help: "write both bounds: @card(%3..%3)"},
	{in: inAnnotation, text: "card ( <int> ^, <int>", help: "write @card(%3..%5)"},
	{in: inAnnotation, text: "range ( <name> , <number> ^, <number>", help: "write @range(%3, %5..%7)"},
}

// characterHints apply to text that the scanner cannot make tokens of.
var characterHints = []hint{
	{in: inCharacter, text: "^<quoted>", help: "a text stands in double quotes, a name in none: %q1"},
	{in: inCharacter, text: "^#", help: commentForm},
	{in: inCharacter, text: "^;", help: "remove it: nothing ends with a semicolon"},
	{in: inCharacter, text: "^&&|&", help: andForm},
	{in: inCharacter, text: "enum ( <word> ^<bar>", help: "separate the values with commas: enum(active, gone)"},
	{in: inCharacter, text: "<var> : <typename> ^<bar>", help: "a variable has one type: write a query for each"},
	{in: inCharacter, text: "<typename> ^<bar> <typename>", help: "one type stands here"},
	{in: inCharacter, text: "<string> ^<bar> <string>", help: "one of several texts is enum(a, b) in a schema, and [\"a\", \"b\"] contains $p.name in a query"},
	{in: inCharacter, text: "^<bar>", help: orForm},
	{in: inCharacter, text: "= ^~", help: textForm},
	{in: inCharacter, text: "<name> ^~", help: textForm},
	{in: inCharacter, text: "^! (", help: notForm},
	{in: inCharacter, text: "^! <var> .", help: notForm},
	{in: inCharacter, text: "<typename>|] ^!", help: "remove it: what has no ? after its type is required"},
	{in: inCharacter, text: "count ( ^*", help: "count the rows by a variable of the match: count($p)"},
	{in: inCharacter, text: "return { ^*", help: "name the columns: return { $p.name }, or { $p } for the whole node"},
	{in: inCharacter, text: "<var> . ^*", help: "leave the point out: %1 is the whole node"},
	{in: inCharacter, text: "<var> <name> ^* <int> .. <int>", help: "the bounds of a walk stand in braces: %1 %2{%4,%6} $q"},
	{in: inCharacter, text: "<var> <name> ^* <int>", help: "the bounds of a walk stand in braces: %1 %2{%4,%4} $q"},
	{in: inCharacter, text: "<var> <name> ^*|+", help: "a walk has bounds: %1 %2{1,3} $q"},
	{in: inCharacter, text: "[|: <word> ^* <int> .. <int>", help: "the bounds of a walk stand in braces: $p %l2{%4,%6} $q"},
	{in: inCharacter, text: "card ( <int> .. ^*", help: "leave the bound out: @card(%3..)"},
	{in: inCharacter, text: "<relation>|:|,|(|[ ^+ <number>", help: "a positive number has no sign: %3"},
	{in: inCharacter, text: "<var> . <name> ^+|*|/|%", help: noArithmetic},
	{in: inCharacter, text: "<var> ^+|*|/|%", help: noArithmetic},
	{in: inCharacter, text: "edge <typename> : <typename> ^→", help: "write ->"},
	{in: inCharacter, text: "<relation>|: ^%", help: dollarParam},
}
