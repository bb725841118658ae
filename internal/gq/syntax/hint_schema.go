package syntax

// Help texts that several rows share.
const (
	nodeForm     = "write node Person { name: String }"
	edgeDecl     = "write edge Knows: Person -> Person"
	enumForm     = "write enum(active, gone)"
	requiredForm = "remove it: a property is required unless its type ends with ?"
	noDefault    = "the language has no defaults: end the type with ?, or assign the value in the insert"
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
	{in: inTypeHead, text: "node|interface|edge ^<string>", help: "write a name without quotes"},
	{in: inTypeHead, text: "node|interface <typename> ^(", help: "put braces around the properties: %1 %2 { name: String }"},
	{in: inTypeHead, text: "node <typename> ^:|extends|<", help: "write node %2 implements Named"},
	{in: inTypeHead, text: "interface <typename> ^:|extends|implements", help: "an interface cannot extend another: a node can implement several interfaces"},
	{in: inTypeHead, text: "edge <typename> ^<any>|<end>", want: "`:`", help: "write the types of both ends after the name: edge %2: Person -> Person"},
	{in: inTypeHead, text: "edge <typename> : <typename> ^<any> <typename>", want: "`->`", help: "write edge %2: %4 -> %6"},
	{in: inTypeHead, text: "edge <typename> : <typename> ^<any>|<end>", want: "`->`", help: "write edge %2: %4 -> Person"},
	{in: inTypeHead, text: "edge <typename> : ^<name> ->", help: "type names start with an upper-case letter: %u4"},
	{in: inTypeHead, text: "-> ^<name>", help: "type names start with an upper-case letter: %u2"},

	// Properties.
	{in: inType, text: "^,", help: "remove the comma: properties need no separator"},
	{in: inType, text: "!node|edge|interface ^<typename> :|{|@|implements", help: "add a } before %1 to close the %o"},
	{in: inType, text: "<name> ^<typename>", want: "`:`", help: "write a colon before the type: %1: %s2"},
	{in: inType, text: "<name> ^? : <word>", help: "write the ? after the type: %1: %s4?"},
	{in: inType, text: "^<string> :", help: "write property names without quotes"},
	{in: inType, text: "^<typename> :", help: "property names start with a lower-case letter: %l1"},
	{in: inType, text: ": ^enum", help: "write the values in parentheses, separated by commas: enum(active, gone)"},
	{in: inType, text: ": ^<string>", help: enumForm},
	{in: inType, text: ": ^{", help: "a property holds a scalar or a list: declare a node type, and an edge to it"},
	{in: inType, text: ": ^<name>", help: "%S2"},
	{in: inList, text: ": [ ^<name>", help: "%S3"},
	{in: inList, text: ": [ <typename> ^?", help: "elements are never null: write [%3], or [%3]? if the list may be null"},
	{in: inType, text: "<typename>|]|)|? ^=", help: noDefault},
	{in: inType, text: "<typename>|]|)|? !default ^<any>", help: noDefault},
	{in: inType, text: "<typename>|]|)|? !optional|null|nullable ^<any>", help: "the type of an optional property or parameter ends with ?, as in String?"},
	{in: inType, text: "<typename>|]|) !not|required|mandatory ^<any>", help: requiredForm},
	{in: inType, text: "<typename>|]|) !primary|unique|key|index ^<any>", help: keyForm},
	{in: inType, text: "!optional ^<name> : <word>", help: "the type of an optional property or parameter ends with ?: %2: %s4?"},
	{in: inType, text: "!required ^<name> : <word>", help: requiredForm},
	{in: inType, text: "<name> ^<name>", want: "`:`", help: "write a colon before the type: %1: %s2"},
	{in: inType, text: "^- -", help: commentForm},

	// Enums and annotations.
	{in: inEnum, text: "^<string>", help: "write the values without quotes: enum(active, gone)"},
	{in: inEnum, text: "<word> ^<word>", help: "separate the values with commas: enum(active, gone)"},
	{in: inAnnotation, text: "key|unique|index ( ^[", help: "write names without brackets: @%1(a, b)"},
	{in: inAnnotation, text: "key|unique|index ( ^<string>", help: "write names without quotes: @%1(a, b)"},
	{in: inAnnotation, text: "key|unique|index ( <name> ^<name>", help: "separate the names with commas: @%1(%3, %4)"},
	{in: inAnnotation, text: "card ( <int> ^)", help: "write both bounds: @card(%3..%3)"},
	{in: inAnnotation, text: "card ( <int> ^, <int>", help: "write @card(%3..%5)"},
	{in: inAnnotation, text: "range ( <name> , <number> ^, <number>", help: "write @range(%3, %5..%7)"},
}

// characterHints apply to text that the scanner cannot make tokens of.
var characterHints = []hint{
	{in: inCharacter, text: "^<quoted>", help: "write a text in double quotes, and a name without quotes: %q1"},
	{in: inCharacter, text: "^#", help: commentForm},
	{in: inCharacter, text: "^;", help: "remove it: the language has no semicolons"},
	{in: inCharacter, text: "^&&|&", help: andForm},
	{in: inCharacter, text: "enum ( <word> ^<bar>", help: "separate the values with commas: enum(active, gone)"},
	{in: inCharacter, text: "<var> : <typename> ^<bar>", help: "a variable has one type: write a query for each type"},
	{in: inCharacter, text: "[ : <word> ^<bar> <word>", help: "write the names of the edges between two variables: $p %l3|%l5 $q"},
	{in: inCharacter, text: "[ <name> : <word> ^<bar> <word>", help: "write the names of the edges between two variables: $p %l4|%l6 $q"},
	{in: inCharacter, text: "<var> <typename> ^<bar> <typename> <var>", help: "in a query, the name of an edge starts with a lower-case letter: %1 %l2|%l4 %5"},
	{in: inCharacter, text: "<typename> ^<bar> <typename>", help: "write only one type here"},
	{in: inCharacter, text: "<string> ^<bar> <string>", help: "for one of several texts, write enum(a, b) in a schema, and $p.name in [\"a\", \"b\"] in a query"},
	{in: inCharacter, text: "<var> . <name> ^<bar> <var> . <name> <relation>", help: orForm},
	{in: inCharacter, text: "<var> . <name> ^<bar> <var>|<string>", help: joinForm},
	{in: inCharacter, text: "^<bar>", help: orForm},
	{in: inCharacter, text: "= ^~", help: matchesForm},
	{in: inCharacter, text: "<name> ^~", help: matchesForm},
	{in: inCharacter, text: "^! (", help: notForm},
	{in: inCharacter, text: "^! <var> .", help: notForm},
	{in: inCharacter, text: "<typename>|] ^!", help: "remove it: a property or parameter is required unless its type ends with ?"},
	{in: inCharacter, text: "count ( ^*", help: "to count the rows, count a variable of the match: count($p)"},
	{in: inCharacter, text: "return { ^*", help: "name the columns: return { $p.name }, or { $p } for the whole node"},
	{in: inCharacter, text: "<var> . ^*", help: "leave out the dot: %1 is the whole node"},
	{in: inMatch, text: "<var> <name> ^* <int> .. <int>", help: "write the bounds of a walk in braces: %1 %2{%4,%6} $q"},
	{in: inMatch, text: "<var> <name> ^* <int>", help: "write the bounds of a walk in braces: %1 %2{%4,%4} $q"},
	{in: inMatch, text: "<var> <name> ^*|+", help: "a walk has bounds: %1 %2{1,3} $q"},
	{in: inCharacter, text: "[|: <word> ^* <int> .. <int>", help: "write the bounds of a walk in braces: $p %l2{%4,%6} $q"},
	{in: inCharacter, text: "card ( <int> .. ^*", help: "leave out the upper bound: @card(%3..)"},
	{in: inCharacter, text: "<relation>|:|,|(|[ ^+ <number>", help: "a positive number has no sign: %3"},
	{in: inCharacter, text: "edge <typename> : <typename> ^→", help: "write ->"},
	{in: inCharacter, text: "<relation>|: ^%", help: dollarParam},
}
