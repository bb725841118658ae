package model

import "github.com/omnigraph-go/omnigraph/internal/gq/diag"

// The codes of faults in queries. Such queries compile, but no package can be generated from them.
const (
	GoNameTaken   diag.Code = "G1" // two declarations would have the same Go name
	ParamCollides diag.Code = "G2" // two parameters would have the same Go name
	FieldCollides diag.Code = "G3" // two columns, or two properties of a node, would have the same Go name
	BadToolName   diag.Code = "G4" // clients reject the tool name
	ToolNameTaken diag.Code = "G5" // a built-in tool or another query has the tool name
	LongParamName diag.Code = "G6" // clients reject the parameter name, because it is too long
	FileCollides  diag.Code = "G7" // two source files would have the same Go file
	NoSuchQuery   diag.Code = "G8" // the configuration lists a query that no source has
	LongToolName  diag.Code = "G9" // the tool name is long once a client adds the server's name

	PackageCollides diag.Code = "G10" // two graphs would have the same Go package
	BadDefault      diag.Code = "G11" // the property that a parameter is used with does not allow its default
)

// CodeDoc documents a code with an example: a query that yields the code against the schema
//
//	node Person { slug: String @key  first_name: String  firstName: String?  age: I32?  @range(age, 0..150) }
type CodeDoc struct {
	Code    diag.Code
	Title   string // the fault in a few words
	Doc     string // the explanation
	Example string // a source that reports the code; empty if none is known
}

// Codes lists the documented codes, in order.
var Codes = []CodeDoc{
	{GoNameTaken, "Go name taken",
		"Two declarations of the generated package would have the same Go name, such as two queries find_user and findUser, a query task_row and the rows of a query task, or two enum values a-b and a_b. Rename one of them.",
		"query find_user() { match { $p: Person } return { $p.slug } }\nquery findUser() { match { $p: Person } return { $p.slug } }"},
	{ParamCollides, "two parameters with the same Go name",
		"Two parameters of a query would be the same field of its Params struct. Rename one of them.",
		"query q($user_id: String, $userId: String) { match { $p: Person { slug: $user_id, first_name: $userId } } return { $p.slug } }"},
	{FieldCollides, "two columns with the same Go name",
		"Two columns of a query, or two properties of a node that it returns whole, would be the same field of a row. Rename one of them with `as`.",
		"query q() { match { $p: Person } return { $p.first_name as a_b, $p.slug as aB } }"},
	{BadToolName, "bad tool name",
		"A tool name has 1 to 64 characters of A-Z, a-z, 0-9, _ and -.",
		"query q() @mcp(tool_name: \"find user\") { match { $p: Person } return { $p.slug } }"},
	{ToolNameTaken, "tool name taken",
		"A built-in tool or another query already has the tool name. Set another name with @mcp(tool_name: …).",
		"query graph_query() { match { $p: Person } return { $p.slug } }"},
	{LongParamName, "parameter name too long",
		"Clients accept argument names of at most 64 characters.",
		"query q($a23456789012345678901234567890123456789012345678901234567890123456: String) { match { $p: Person { slug: $a23456789012345678901234567890123456789012345678901234567890123456 } } return { $p.slug } }"},
	{FileCollides, "two source files with the same Go file",
		"Two source files, in different folders or with names that differ only in punctuation, would be generated into the same Go file. Rename one of them.",
		""},
	{NoSuchQuery, "no such query",
		"The configuration lists stored queries by name, and one of them is not in its file. Correct the name, or add the query.",
		""},
	{LongToolName, "long tool name",
		"A warning: some clients add the name of the server in front of the name of a tool, and cut or refuse the combined name if it has more than 64 characters. Set a shorter name with @mcp(tool_name: …).",
		"query everybody_whose_name_is_among_those_that_begin_so() { match { $p: Person } return { $p.slug } }"},
	{PackageCollides, "two graphs with the same package",
		"Two graphs of cluster.yaml, such as a-b and ab, would be generated into the same Go package, because a package name has only letters and digits. Rename one of them.",
		""},
	{BadDefault, "default that the schema does not allow",
		"The default of a parameter is not a value of the enum, or is outside the @range, of the property that the parameter is assigned to or compared with. Write a value that the property can have.",
		"query q($age: I32 @default(200)) { match { $p: Person { age: $age } } return { $p.slug } }"},
}
