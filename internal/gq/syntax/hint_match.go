package syntax

// Help texts that several rows share.
const (
	bindingForm = "a binding stands without parentheses: $p: Person"
	callForm    = "braces stand around the conditions: $p: %1 { %3: … }"
	edgeForm    = "an edge stands by its name between two variables: $p knows $q"
	andForm     = "write one condition after the other: all must hold"
	orForm      = "there is no or: write a query for each case"
	notForm     = "write not { … } around the clauses that must not hold"
	textForm    = "contains finds a part of a text, starts_with its beginning, and search($p.name, \"word\") words"
	nullForm    = "a comparison with null never holds: $p.name = $p.name keeps what has a value, not { $p.name = $p.name } the rest"
	nullHere    = "a comparison with null never holds: %1.%3 = %1.%3 keeps what has a value, not { %1.%3 = %1.%3 } the rest"
	nullInside  = "a comparison with null never holds: beside the binding, %v.%1 = %v.%1 keeps what has a value, not { %v.%1 = %v.%1 } the rest"
	oneOfForm   = "write the list first: [\"a\", \"b\"] contains $p.name"
	quotesForm  = "a text stands in double quotes: \"%1\"; a parameter starts with $: $%1"
)

// matchHints apply to clauses and to the braces of bindings.
var matchHints = []hint{
	// Connectives between clauses.
	{in: inMatch, text: "^and|,", want: "`}`", help: andForm},
	{in: inMatch, text: "!and ^<any>", help: andForm},
	{in: inMatch, text: "^or", want: "`}`", help: orForm},
	{in: inMatch, text: "!or ^<any>", help: orForm},
	{in: inMatch, text: "^not", want: "`=`", help: notForm},
	{in: inMatch, text: "^not", want: "`}`", help: notForm},
	{in: inMatch, text: "!not ^<any>", help: notForm},
	{in: inMatch, text: "^where", help: "remove where: conditions stand beside the bindings, as in $p.age > 30"},
	{in: inMatch, text: "!where ^<any>", help: "remove where: conditions stand beside the bindings, as in $p.age > 30"},
	{in: inMatch, text: "!limit ^<int>", help: "a } is missing before %1: nothing closes the %o"},
	{in: inMatch, text: "!return|order ^{", help: "a } is missing before %1: nothing closes the %o"},
	{in: inMatch, text: "^optional", help: "there is no optional match: put what may be missing into a query of its own"},
	{in: inMatch, text: "!optional ^<any>", help: "there is no optional match: put what may be missing into a query of its own"},
	{in: inMatch, text: "!exists ^{", help: "clauses hold when they match: leave exists out, and write not { … } for the opposite"},

	// Parentheses and arrows.
	{in: inMatch, text: "<typename> ^( <name> : true|false", help: callForm},
	{in: inMatch, text: "^( <name> : <word>", help: "a binding stands without parentheses: $%2: %u4"},
	{in: inMatch, text: "^( <var>|<name> ) -|<|->", help: edgeForm},
	{in: inMatch, text: "<typename> ^( <name> :|=", help: callForm},
	{in: inMatch, text: "^( : <word>", help: "a binding stands without parentheses: $_: %u3"},
	{in: inMatch, text: "^( <var> .", help: "conditions stand without parentheses, one after the other: all must hold"},
	{in: inMatch, text: "<var> <name> ^( <word>", help: "the other end is a variable: %1 %2 $%l4"},
	{in: inMatch, text: "contains|includes <group> ^<any>", want: "`=`", help: "an operator stands between its sides: $p.name contains \"x\""},
	{in: inMatch, text: "starts_with|startsWith <group> ^<any>", want: "`=`", help: "an operator stands between its sides: $p.name starts_with \"x\""},
	{in: inMatch, text: "^(", want: "clause", help: bindingForm},
	{in: inMatch, text: "^(", want: "`}`", help: bindingForm},
	{in: inMatch, text: "<var> ^- [ : <word> ] -> <var>", help: "an edge stands by its name: %1 %l5 %8"},
	{in: inMatch, text: "<var> ^- [ <word> ] -> <var>", help: "an edge stands by its name: %1 %l4 %7"},
	{in: inMatch, text: "<var> ^- [ <name> : <word> ] -> <var>", help: "an edge stands by its name: %1 $%4:%l6 %9"},
	{in: inMatch, text: "<var> : <typename> ^- [ <word> ] -> <var>", help: "an edge stands by its name, after the binding: %1 %l6 %9"},
	{in: inMatch, text: "<var> < ^- [ : <word> ] - <var>", help: "an edge stands by its name: %9 %l6 %1"},
	{in: inMatch, text: "<var> < ^- [ <word> ] - <var>", help: "an edge stands by its name: %8 %l5 %1"},
	{in: inMatch, text: "^- [|->", help: edgeForm},
	{in: inMatch, text: "^- - <var>|(|[|>", help: edgeForm},
	{in: inMatch, text: "< ^-", help: edgeForm},
	{in: inMatch, text: "^->", help: edgeForm},

	// Names in the wrong place or case.
	{in: inMatch, text: "<var> !<name> ^: <name> <var>", help: "the variable of an edge starts with $: %1 $%2:%4 %5"},
	{in: inMatch, text: "!<name> ^: <typename>", help: "a variable starts with $: $%1: %3"},
	{in: inMatch, text: "!<name> ^. <name>", help: "a variable starts with $: $%1.%3"},
	{in: inMatch, text: "<var> : ^not", help: ""},
	{in: inMatch, text: "<var> : ^<name> {|}", help: "type names start with an upper-case letter: %1: %u3"},
	{in: inMatch, text: "<var> : ^<name>", help: "type names start with an upper-case letter, as in %1: Person; an edge has no colon, as in $a knows $b"},
	{in: inMatch, text: "<var> <var> : ^<typename>", help: "edges start with a lower-case letter: %1 %2:%l4"},
	{in: inMatch, text: "<var> < ^<typename> >", help: "edges start with a lower-case letter: %1 <%l3> …"},
	{in: inMatch + " " + inBody, text: "= ^=", help: "write ="},
	{in: inMatch + " " + inBody, text: "!= ^=", help: "write !="},
	{in: inMatch + " " + inBody, text: "< ^>", help: "write !="},
	{in: inMatch + " " + inBody, text: "= ^>", help: "write >="},
	{in: inMatch + " " + inBody, text: "> ^=", help: "write >="},
	{in: inMatch + " " + inBody, text: "= ^<", help: "write <="},
	{in: inMatch + " " + inBody, text: "< ^=", help: "write <="},
	{in: inMatch, text: "<name> ^contains|starts_with", want: "`=`", help: "keywords are lower case: %l2"},
	{in: inMatch, text: "<var> ^<typename> <var> <var> : <typename>", want: "`=`", help: "edges start with a lower-case letter: %1 %l2 %3"},
	{in: inMatch, text: "<var> ^<typename> <var> .|:|<|<name>|<var>", want: "`=`", help: "a binding has a colon: %1: %2; an edge starts with a lower-case letter: %1 %l2 %3"},
	{in: inMatch, text: "<var> ^<typename> <var>", want: "`=`", help: "edges start with a lower-case letter: %1 %l2 %3"},
	{in: inMatch, text: "<var> ^<typename> { <int> , <int>", want: "`=`", help: "edges start with a lower-case letter: %1 %l2{%4,%6}"},
	{in: inMatch, text: "<var> ^<typename>", want: "`=`", help: "a binding has a colon: %1: %2"},
	{in: inMatch, text: "^<typename> <var>|<name>|{", want: "`}`", help: "a binding starts with its variable: $p: %1"},
	{in: inMatch, text: "^<typename> <var>|<name>|{", want: "clause", help: "a binding starts with its variable: $p: %1"},

	// Operators of other languages.
	{in: inMatch, text: "^like|ilike|rlike|matches|regexp|regex|similar", want: "`contains`", help: textForm},
	{in: inMatch, text: "^startswith|starts|begins|beginswith|hasprefix", want: "`contains`", help: "write starts_with"},
	{in: inMatch, text: "^endswith|ends|ends_with|hassuffix", want: "`contains`", help: "there is no test of an ending: " + textForm},
	{in: inMatch, text: "^has|includes|include|contain", want: "`contains`", help: "write contains"},
	{in: inMatch, text: "<var> . <name> ^between <any> and <any>", help: "write two conditions: %1.%3 >= %5 %1.%3 <= %7"},
	{in: inMatch, text: "<var> . <name> ^between <any>", help: "write two conditions: %1.%3 >= %5 %1.%3 <= …"},
	{in: inMatch, text: "<var> . <name> ^is null|not", help: nullHere},
	{in: inMatch, text: "^is null|not", want: "`contains`", help: nullForm},
	{in: inMatch, text: "<var> . <name> ^in <var>", help: "no list parameter can be tested: run the query for each value, or write the values, as in [\"a\", \"b\"] contains %1.%3"},
	{in: inMatch, text: "<var> . <name> ^in", help: "write the list first: [\"a\", \"b\"] contains %1.%3"},
	{in: inMatch, text: "^in", want: "`contains`", help: oneOfForm},
	{in: inMatch, text: "<var> . <name> ^-", help: noArithmetic},
	{in: inMatch, text: "<relation> ^:|@ <name>", help: "a parameter starts with $: $%3"},
	{in: inMatch, text: "<relation> ^?", help: dollarParam},
	{in: inMatch, text: "<var> . <name> <relation> ^null|none|nil", help: nullHere},
	{in: inMatch, text: "<relation> ^null|none|nil", help: nullForm},
	{in: inBinding + " " + inMatch + " " + inAssigns + " " + inBody, text: ":|<relation> ^true|false", help: "keywords are lower case: %l2"},
	{in: inMatch, text: "<relation> ^<typename>", help: "a text stands in double quotes: \"%2\""},

	// The far end of a traversal.
	{in: inMatch, text: "<var> is ^<typename>", help: "a binding has a colon: %1: %3"},
	{in: inMatch, text: "<var> is ^<name>", help: "a variable always has a value: not { … } asks for what is missing"},
	{in: inMatch, text: "<var> <name> ^<name>", want: "a $variable", help: "the other end is a variable: %1 %2 $%3"},
	{in: inMatch, text: "<var> <name> ^<typename>", want: "a $variable", help: "the other end is a variable with a binding of its own: %1 %2 $q, and $q: %3"},
	{in: inMatch, text: "<var> <name> ^<|> <constant>", want: "a $variable", help: "a point stands before a property: %1.%2 %3 %4"},
	{in: inMatch, text: "<var> <name> ^=|!=|<=|>=", want: "a $variable", help: "a point stands before a property: %1.%2 %3 …"},
	{in: inMatch, text: "<var> <name> ^<string>|<number>", want: "a $variable", help: "a comparison names a property and an operator: %1.name = %3"},
	{in: inMatch, text: "<var> <name> ^[", want: "a $variable", help: "bounds stand in braces: %1 %2{1,3} $q"},
	{in: inBounds, text: "{ <int> ^.. <int>", help: "a comma stands between the bounds: {%2,%4}"},
	{in: inBounds, text: "{ <int> ^..|-|:|<int>", help: "a comma stands between the bounds: {1,3}"},
	{in: inBounds, text: "{ <int> ^}", help: "write both bounds: {%2,%2}"},
	{in: inBounds, text: "{ ^,|..", help: "a walk has at least one hop: {1,3}"},
	{in: inBounds, text: "{|, ^<var>", help: "bounds are integers, and no parameters: {1,3}"},
	{in: inBounds, text: "{ ^<name> :|<relation>", help: "braces after an edge hold its bounds: bind the edge, as in $p $e:knows $q, and write $e.%2"},

	// The braces of a binding.
	{in: inBinding, text: "<name> ^= = <constant>|<var>", help: "a colon stands between a property and its value: %1: %4"},
	{in: inBinding, text: "<name> ^= <constant>|<var>", help: "a colon stands between a property and its value: %1: %3"},
	{in: inBinding, text: "<name> ^=", help: "a colon stands between a property and its value: %1: …"},
	{in: inBinding, text: "<name> ^<relation>|contains|starts_with <constant>|<var>", help: "write a filter beside the binding: %v.%1 %2 %3"},
	{in: inBinding, text: "<name> ^<relation>|contains|starts_with", help: "write a filter beside the binding: %v.%1 %2 …"},
	{in: inBinding, text: "<name> ^in", help: "write a filter beside the binding: [\"a\", \"b\"] contains %v.%1"},
	{in: inBinding, text: "<name> ^is null|not", help: nullInside},
	{in: inBinding, text: "<name> ^like|ilike|matches|regexp", help: "write a filter beside the binding: %v.%1 contains \"x\", or starts_with, or search(%v.%1, \"word\")"},
	{in: inBinding, text: "{|, ^<string> :", help: "property names stand without quotes"},
	{in: inBinding, text: "{|, ^<var> . <name> :|=", help: "the property stands alone: %4: …"},
	{in: inBinding, text: "{|, <name> ^,|}", help: "a property has a value: %2: $%2"},
	{in: inBinding, text: "{|, ^<typename>", help: "property names start with a lower-case letter: %l2"},
	{in: inBinding, text: "^and", help: "separate the conditions with commas: all must hold"},
	{in: inBinding, text: "^or", help: orForm},
	{in: inBinding, text: "^<name> :", want: "`}`", help: "separate the conditions with commas"},
	{in: inBinding, text: ": ^{", help: "an operator stands in a filter beside the binding: %v.age > 30"},
	{in: inBinding, text: "<name> : ^null|none|nil", help: nullInside},
	{in: inAssigns, text: ": ^null|none|nil", help: "leave the property out of an insert; in an update give it an optional parameter, which may be null"},
	{in: inBinding + " " + inAssigns, text: ": ^<typename>", help: "a text stands in double quotes: \"%2\""},

	// Expressions that the grammar accepts as a value but that are not allowed there.
	{in: inMatchValue, text: "^null|none|nil", help: nullForm},
	{in: inWriteValue, text: "^null|none|nil", help: "leave the property out of an insert; in an update give it an optional parameter, which may be null"},
	{in: inWhereValue, text: "^null|none|nil", help: "a comparison with null never holds: find the keys with a query first, then write by key"},
	{in: inMatchValue, text: "^<var> . <name>", help: "compare two properties in a filter beside the binding, as in $p.name = %1.%3"},
	{in: inMatchValue + " " + inWriteValue + " " + inWhereValue, text: "^<name> (", help: ""},
	{in: inMatchValue + " " + inWriteValue + " " + inWhereValue, text: "^<name>", help: quotesForm},

	// All settings.
	{text: "<relation>|:|,|(|[ ^- <number>", help: signForm},
	{in: inMatch + " " + inParams + " " + inBinding + " " + inAssigns, text: "^- -", help: commentForm},
	{in: inBody + " " + inMatch + " " + inReturn + " " + inOrder + " " + inBinding + " " + inBounds + " " + inParams + " " + inAssigns + " " + inCall + " " + inList + " " + inType + " " + inEnum + " " + inAnnotation,
		text: "^<end>", help: "add a %c: nothing closes the %o"},
}
