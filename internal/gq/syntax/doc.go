// Package syntax parses .pg schemas and .gq queries into trees. Every node keeps its tokens, and
// with them its place in the source. No later phase changes a node: the checker stores its findings
// about a node in check.Info.
//
// The structs in schema.go, query.go and operand.go define the grammar. The library participle
// reads their tags. It also prints the grammar for the reference (ebnf.go). Four parts are written
// by hand, each for a reason:
//
//   - lexer.go makes tokens. It goes on after an error, so that one run reports all of them, and
//     it bounds the number of tokens before the library sees any.
//   - declaration.go cuts the tokens into declarations. An error in one does not lose the others,
//     and the nesting of brackets is bounded before the library recurses.
//   - rules.go and expression.go have the rules that tags cannot express or that are too slow as
//     tags: which clause follows, the operands with their operators, and enum values.
//   - hint*.go writes the error messages and helps authors who use the syntax of another language.
//
// validate.go checks the rules that the grammar does not express, such as the names of scalar
// types.
//
// # A new construct
//
//   - A statement, an annotation or another part of a query needs a struct with tags in query.go.
//     Name the struct where it may occur: in the tag of another struct, or in a union of
//     newGrammar.
//   - A clause, such as a block, needs a struct in query.go, its parser in grammar, and a case in
//     parseClause. The clauses form no union, because one token is not enough to tell them apart.
//   - A declaration or a member of a type needs a struct in schema.go, and either its parser in
//     grammar or its row in the union of members.
//   - A function of values needs only a row in plan.Functions; the row also has the typing rule.
//   - A form of expression, such as a subquery, needs a struct in operand.go, its parser in
//     grammar, and a case in parseNamed, as for Call. parseClause takes a name as the start of a
//     filter. If a keyword and not a bracket follows the clauses of the expression, parseClause
//     needs a case that ends the list of clauses there.
//   - An operator belongs in the table of precedences in expression.go. The lexer makes a token of
//     its character only where an operand can end.
//   - Every construct needs a row in the table of gq/productions_test.go, and a phrase for messages
//     in the variable phrases of hint_expect.go.
package syntax
