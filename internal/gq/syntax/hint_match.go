package syntax

// Help texts that several rows share.
const (
	bindingForm = "write a binding without parentheses: $p: Person"
	callForm    = "put braces around the conditions: $p: %1 { %3: … }"
	// walkForm is also for the path patterns of GQL.
	walkForm = "write the bounds of a walk after the name of the edge, between two variables: $p knows{1,6} $q"
	// shortestForm is for functions and keywords that ask for a shortest path.
	shortestForm = "bind a walk, which is the shortest one between its ends: $p $w:knows{1,6} $q; $w.hops is its length, $w.nodes its nodes"
	edgeForm     = "write the name of an edge between two variables: $p knows $q"
	andForm      = "write one condition after the other; all of them must hold"
	orForm       = "put the alternatives into an any block: any { $p.age > 60 $p.level = \"lead\" }"
	// optionalForm is also for the outer joins of SQL.
	optionalForm = "write optional { … } around the clauses that need not match, as in optional { $p knows $q }"
	notForm      = "write not { … } around the clauses that must not hold"
	textForm     = "use contains for a part of a text, starts_with for its beginning, matches for a regular expression, or search($p.name, \"word\") for words"
	matchesForm  = "write matches and a regular expression in RE2 syntax: $p.name matches \"^A\""
	nullForm     = "a comparison with null is never true: write $p.name is null, or $p.name is not null"                         // for a comparison in general
	nullHere     = "a comparison with null is never true: write %1.%3 is null, or %1.%3 is not null"                             // for the compared property
	nullInside   = "a comparison with null is never true: write a filter after the binding: %v.%1 is null, or %v.%1 is not null" // for a property in the braces of a binding
	quotesForm   = "write a text in double quotes: \"%1\"; a parameter starts with $: $%1"
)

// matchHints apply to clauses and to the braces of bindings.
var matchHints = []hint{
	// Connectives between clauses.
	{in: inMatch, text: "is|not ^null", want: "`null`", help: "keywords are lower case: null"},
	{in: inMatch, text: "is not ^<constant>", help: "is not tests only for null: write != %3"},
	{in: inMatch, text: "^and|,", want: "`}`", help: andForm},
	{in: inMatch, text: "!and ^<any>", help: andForm},
	{in: inMatch, text: "^or", want: "`}`", help: orForm},
	{in: inMatch, text: "!or ^<any>", help: orForm},
	{in: inMatch, text: "!not ^exists", help: "write not { … }: it holds if the block has no match"},
	{in: inMatch, text: "^not exists", help: "write not { … }: it holds if the block has no match"},
	{in: inMatch, text: "<var> . <name> ^not in", help: "write not { … } around the condition: not { %1.%3 in … }"},
	{in: inMatch, text: "^not", want: "`=`", help: notForm},
	{in: inMatch, text: "^not", want: "`}`", help: notForm},
	{in: inMatch, text: "!not ^<any>", help: notForm},
	{in: inMatch, text: "^where", help: "remove where: write conditions after the bindings, as in $p.age > 30"},
	{in: inMatch, text: "!where ^<any>", help: "remove where: write conditions after the bindings, as in $p.age > 30"},
	{in: inMatch, text: "!limit ^<int>", help: "add a } before %1 to close the %o"},
	{in: inMatch, text: "!return|order ^{", help: "add a } before %1 to close the %o"},
	{in: inMatch, text: "^optional match", help: optionalForm},
	{in: inMatch, text: "!optional ^match", help: optionalForm},
	{in: inMatch, text: "!left|outer ^join|outer", help: optionalForm},
	{in: inMatch, text: "^left|outer join|outer", help: optionalForm},
	{in: inMatch, text: "^exists|any|all|optional {", help: "keywords are lower case: %l1"},
	{in: inMatch, text: "!optional ^<any>", help: "put braces around the clauses: optional { … }"},
	{in: inMatch, text: "exists|any|all ^<var>", want: "`=`", help: "put braces around the clauses: %1 { … }"},

	// Parentheses and arrows.
	{in: inMatch, text: "<typename> ^( <name> : true|false", help: callForm},
	{in: inMatch, text: "^( <name> : <word>", help: "write a binding without parentheses: $%2: %u4"},
	{in: inMatch, text: "^( <var>|<name> ) - [ : <word> ] -> {|+", help: walkForm},
	{in: inMatch, text: "^( <var>|<name> ) - [ : <word> *|<int>|..", help: walkForm},
	{in: inMatch + " " + inCall, text: "shortestpath|allshortestpaths|shortest_path ( !( <var>|<name> ) ^-", help: shortestForm},
	{in: inMatch, text: "^any|all shortest", help: shortestForm},
	{in: inMatch, text: "^shortest", help: shortestForm},
	{in: inMatch, text: "^( <var>|<name> ) -|<|->", help: edgeForm},
	{in: inMatch, text: "<typename> ^( <name> :|=", help: callForm},
	{in: inMatch, text: "^( : <word>", help: "write a binding without parentheses: $_: %u3"},
	{in: inCall, text: "^and", want: "`)`", help: "put the conditions into an all block: all { $p.age > 60 $p.level = \"lead\" }; directly in match, write one after the other without parentheses"},
	{in: inCall, text: "!not ^<any>", want: "`)`", help: notForm},
	{in: inCall, text: "^or", want: "`)`", help: orForm},
	{in: inMatch, text: "<var> <name> ^( <word>", help: "the other end of an edge must be a variable: %1 %2 $%l4"},
	{in: inMatch, text: "contains|includes <group> ^<any>", want: "`=`", help: "write an operator between its operands: $p.name contains \"x\""},
	{in: inMatch, text: "starts_with|startsWith <group> ^<any>", want: "`=`", help: "write an operator between its operands: $p.name starts_with \"x\""},
	{in: inMatch, text: "^(", want: "clause", help: bindingForm},
	{in: inMatch, text: "^(", want: "`}`", help: bindingForm},
	{in: inMatch, text: "<var> ^- [ : <word> <word> ] -> <var>", help: "write the names of the edges between two variables: %1 %l5|%l6 %9"},
	{in: inMatch, text: "<var> ^- [ <name> : <word> <word> ] ->", help: "write the names of the edges between two variables: %1 %l6|%l7 $q"},
	{in: inMatch, text: "<var> ^<typename> <typename> <var>", want: "`=`", help: "in a query, the name of an edge starts with a lower-case letter: %1 %l2|%l3 %4"},
	{in: inMatch, text: "<var> ^- [ : <word> ] -> <var>", help: "write the name of an edge between two variables: %1 %l5 %8"},
	{in: inMatch, text: "<var> ^- [ <word> ] -> <var>", help: "write the name of an edge between two variables: %1 %l4 %7"},
	{in: inMatch, text: "<var> ^- [ <name> : <word> ] -> <var>", help: "write the name of an edge between two variables: %1 $%4:%l6 %9"},
	{in: inMatch, text: "<var> : <typename> ^- [ <word> ] -> <var>", help: "write the name of an edge between two variables, after the binding: %1 %l6 %9"},
	{in: inMatch, text: "<var> < ^- [ : <word> ] - <var>", help: "write the name of an edge between two variables: %9 %l6 %1"},
	{in: inMatch, text: "<var> < ^- [ <word> ] - <var>", help: "write the name of an edge between two variables: %8 %l5 %1"},
	{in: inMatch, text: "^- [|->", help: edgeForm},
	{in: inMatch, text: "^- <number>", want: "`}`", help: "put a number with a sign at the start of a clause into parentheses: (-%2)"},
	{in: inMatch, text: "<constant>|<var>|<name>|) !- <number> ^<relation>", want: "`}`", help: "a number with a sign after an operand is subtracted: to begin a clause with it, put it into parentheses: (-%3) %4 …; two comparisons are two clauses"},
	{in: inMatch, text: "^- - <var>|(|[|>", help: edgeForm},
	{in: inMatch, text: "< ^-", help: edgeForm},
	{in: inMatch, text: "^->", help: edgeForm},

	// Names in the wrong place or case.
	{in: inMatch, text: "<var> !<name> ^: <name> <var>", help: "the variable of an edge starts with $: %1 $%2:%4 %5"},
	{in: inMatch, text: "!<name> ^: <typename>", help: "a variable starts with $: $%1: %3"},
	{in: inMatch, text: "<var> : ^not", help: ""},
	{in: inMatch, text: "<var> : ^<name> {|}", help: "type names start with an upper-case letter: %1: %u3"},
	{in: inMatch, text: "<var> : ^<name>", help: "type names start with an upper-case letter, as in %1: Person; an edge has no colon, as in $a knows $b"},
	{in: inMatch, text: "<var> <var> : ^<typename>", help: "in a query, the name of an edge starts with a lower-case letter: %1 %2:%l4"},
	{in: inMatch, text: "<var> < ^<typename> >", help: "in a query, the name of an edge starts with a lower-case letter: %1 <%l3> …"},
	{in: inMatch + " " + inBody, text: "= ^=", help: "write ="},
	{in: inMatch + " " + inBody, text: "!= ^=", help: "write !="},
	{in: inMatch + " " + inBody, text: "< ^>", help: "write !="},
	{in: inMatch + " " + inBody, text: "= ^>", help: "write >="},
	{in: inMatch + " " + inBody, text: "> ^=", help: "write >="},
	{in: inMatch + " " + inBody, text: "= ^<", help: "write <="},
	{in: inMatch + " " + inBody, text: "< ^=", help: "write <="},
	{in: inMatch, text: "<name> ^contains|starts_with", want: "`=`", help: "keywords are lower case: %l2"},
	{in: inMatch, text: "<var> ^<typename> <var> <var> : <typename>", want: "`=`", help: "in a query, the name of an edge starts with a lower-case letter: %1 %l2 %3"},
	{in: inMatch, text: "<var> ^<typename> <var> .|:|<|<name>|<var>", want: "`=`", help: "a binding has a colon: %1: %2; the name of an edge starts with a lower-case letter: %1 %l2 %3"},
	{in: inMatch, text: "<var> ^<typename> <var>", want: "`=`", help: "in a query, the name of an edge starts with a lower-case letter: %1 %l2 %3"},
	{in: inMatch, text: "<var> ^<typename> { <int> , <int>", want: "`=`", help: "in a query, the name of an edge starts with a lower-case letter: %1 %l2{%4,%6}"},
	{in: inMatch, text: "<var> ^<typename>", want: "`=`", help: "a binding has a colon: %1: %2"},
	{in: inMatch, text: "^<typename> <var>|<name>|{", want: "`}`", help: "a binding starts with its variable: $p: %1"},
	{in: inMatch, text: "^<typename> <var>|<name>|{", want: "clause", help: "a binding starts with its variable: $p: %1"},

	// Operators of other languages.
	{in: inMatch, text: "^rlike|regexp|regex|regexp_like", want: "`contains`", help: matchesForm},
	{in: inMatch, text: "^like|ilike|similar", want: "`contains`", help: textForm},
	{in: inMatch, text: "^startswith|starts|begins|beginswith|hasprefix", want: "`contains`", help: "write starts_with"},
	{in: inMatch, text: "^endswith|ends|ends_with|hassuffix", want: "`contains`", help: "write matches and a regular expression that ends with $: $p.name matches \"x$\""},
	{in: inMatch, text: "^has|includes|include|contain", want: "`contains`", help: "write contains"},
	{in: inMatch, text: "<var> . <name> ^between <any> and <any>", help: "write two conditions: %1.%3 >= %5 %1.%3 <= %7"},
	{in: inMatch, text: "<var> . <name> ^between <any>", help: "write two conditions: %1.%3 >= %5 %1.%3 <= …"},
	{in: inMatch, text: "^is null", want: "`contains`", help: "keywords are lower case: is null"},
	{in: inMatch, text: "^is not", want: "`contains`", help: "keywords are lower case: is not null"},
	{in: inMatch, text: "^in|matches", want: "`contains`", help: "keywords are lower case: %l1"},
	{text: "in ( <constant> ^,", help: "write the values in brackets: in [\"a\", \"b\"]"},
	{in: inMatch, text: "is ^<constant>", help: "is tests only for null: write = %2"},
	{in: inMatch, text: "<relation> ^:|@ <name>", help: "a parameter starts with $: $%3"},
	{in: inMatch, text: "<relation> ^?", help: dollarParam},
	{in: inMatch, text: "<var> . <name> <relation> ^null|none|nil", help: nullHere},
	{in: inMatch, text: "<relation> ^null|none|nil", help: nullForm},
	{in: inBinding + " " + inMatch + " " + inAssigns + " " + inBody, text: ":|<relation> ^true|false", help: "keywords are lower case: %l2"},
	{in: inMatch, text: "<relation> ^<typename>", help: "write a text in double quotes: \"%2\""},

	// The far end of a traversal.
	{in: inMatch, text: "<var> is ^<typename>", help: "a binding has a colon: %1: %3"},
	{in: inMatch, text: "<var> <name> ^<name>", want: "a $variable", help: "the other end of an edge must be a variable: %1 %2 $%3"},
	{in: inMatch, text: "<var> <name> ^<typename>", want: "a $variable", help: "the other end of an edge must be a variable: write %1 %2 $q, and bind $q with $q: %3"},
	{in: inMatch, text: "<var> <name> ^<|> <constant>", want: "a $variable", help: "write a dot before a property: %1.%2 %3 %4"},
	{in: inMatch, text: "<var> <name> ^=|!=|<=|>=", want: "a $variable", help: "write a dot before a property: %1.%2 %3 …"},
	{in: inMatch, text: "<var> <name> ^<string>|<number>", want: "a $variable", help: "a comparison needs a property and an operator: %1.name = %3"},
	{in: inMatch, text: "<var> <name> ^[", want: "a $variable", help: "write bounds in braces: %1 %2{1,3} $q"},
	{in: inBounds, text: "{ <int> ^.. <int>", help: "separate the bounds with a comma: {%2,%4}"},
	{in: inBounds, text: "{ <int> ^..|-|:|<int>", help: "separate the bounds with a comma: {1,3}"},
	{in: inBounds, text: "{ <int> ^}", help: "write both bounds: {%2,%2}"},
	{in: inBounds, text: "{ ^,|..", help: "a walk has at least one hop: {1,3}"},
	{in: inBounds, text: "{|, ^<var>", help: "bounds must be integers, not parameters: {1,3}"},
	{in: inBounds, text: "{ ^<name> :|<relation>", help: "braces after an edge hold the bounds of a walk: to test a property, bind the edge, as in $p $e:knows $q, and write $e.%2"},

	// The braces of a binding.
	{in: inBinding, text: "<name> ^= = <constant>|<var>", help: "write a colon between a property and its value: %1: %4"},
	{in: inBinding, text: "<name> ^= <constant>|<var>", help: "write a colon between a property and its value: %1: %3"},
	{in: inBinding, text: "<name> ^=", help: "write a colon between a property and its value: %1: …"},
	{in: inBinding, text: "<name> ^<relation>|contains|starts_with <constant>|<var>", help: "write a filter after the binding: %v.%1 %2 %3"},
	{in: inBinding, text: "<name> ^<relation>|contains|starts_with", help: "write a filter after the binding: %v.%1 %2 …"},
	{in: inBinding, text: "<name> ^in", help: "write a filter after the binding: %v.%1 in [\"a\", \"b\"]"},
	{in: inBinding, text: "<name> ^is null|not", help: nullInside},
	{in: inBinding, text: "<name> ^like|ilike|matches|regexp", help: "write a filter after the binding: %v.%1 contains \"x\", or starts_with, matches or search(%v.%1, \"word\")"},
	{in: inBinding, text: "{|, ^<string> :", help: "write property names without quotes"},
	{in: inBinding, text: "{|, ^<var> . <name> :|=", help: "write the property without a variable: %4: …"},
	{in: inBinding, text: "{|, <name> ^,|}", help: "a property has a value: %2: $%2"},
	{in: inBinding, text: "{|, ^<typename>", help: "property names start with a lower-case letter: %l2"},
	{in: inBinding, text: "^and", help: "separate the conditions with commas; all of them must hold"},
	{in: inBinding, text: "^or", help: orForm},
	{in: inBinding, text: "^<name> :", want: "`}`", help: "separate the conditions with commas"},
	{in: inBinding, text: ": ^{", help: "write an operator in a filter after the binding: %v.age > 30"},
	{in: inBinding, text: "<name> : ^null|none|nil", help: nullInside},
	{in: inAssigns, text: ": ^null|none|nil", help: "leave the property out of an insert; in an update, assign an optional parameter, which may be null"},
	{in: inBinding + " " + inAssigns, text: ": ^<typename>", help: "write a text in double quotes: \"%2\""},

	// Expressions that the grammar accepts as a value but that are not allowed there.
	{in: inMatchValue, text: "^null|none|nil", help: nullForm},
	{in: inWriteValue, text: "^null|none|nil", help: "leave the property out of an insert; in an update, assign an optional parameter, which may be null"},
	{in: inWhereValue, text: "^null|none|nil", help: "a comparison with null is never true: find the keys with a query first, then update or delete by key"},
	{in: inMatchValue, text: "^<var> . <name>", help: "compare two properties in a filter after the binding, as in $p.name = %1.%3"},
	{in: inMatchValue + " " + inWriteValue + " " + inWhereValue, text: "^<name> (", help: ""},
	{in: inMatchValue + " " + inWriteValue + " " + inWhereValue, text: "^<name>", help: quotesForm},

	// All settings.
	{text: "<relation>|:|,|(|[ ^- <number>", help: signForm},
	{in: inMatch + " " + inParams + " " + inBinding + " " + inAssigns, text: "^- -", help: commentForm},
	{in: inBody + " " + inMatch + " " + inReturn + " " + inOrder + " " + inBinding + " " + inBounds + " " + inParams + " " + inAssigns + " " + inCall + " " + inList + " " + inType + " " + inEnum + " " + inAnnotation,
		text: "^<end>", help: "add a %c to close the %o"},
}
