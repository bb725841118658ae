// Package syntax parses .pg schemas and .gq queries into trees. Every node keeps its tokens, and
// with them its place in the source. No later phase writes on a node: what the checker finds out
// about a node stands in check.Info.
//
// The grammar is that of the structs in schema.go, query.go and operand.go. Their tags are read by
// the library participle, which also prints the grammar for the reference (ebnf.go). Four parts
// are written by hand, each for a reason:
//
//   - lexer.go makes tokens. It goes on after an error, so that one run reports all of them, and
//     it bounds the number of tokens before the library sees any.
//   - declaration.go cuts the tokens into declarations. An error in one does not lose the others,
//     and the nesting of brackets is bounded before the library recurses.
//   - rules.go has the rules that tags cannot express or that are too slow as tags: which clause
//     follows, the operands, and enum values.
//   - hint*.go words the errors and gives help to authors who write another language.
//
// validate.go checks what the grammar leaves open, such as the names of scalar types.
//
// # A new construct
//
//   - A statement, an annotation or another part of a query: a struct with tags in query.go, named
//     where it occurs: in the tag of another struct, or in a union of newGrammar.
//   - A clause, such as a block: a struct in query.go, its parser in grammar, and a case in
//     parseClause. They form no union, because one token does not tell them apart.
//   - A declaration or a member of a type: a struct in schema.go, and its parser in grammar or its
//     row in the union of members.
//   - A form of expression, such as a subquery: a struct in operand.go, its parser in grammar, and
//     a case in parseNamed, as for Call. A name starts a filter; if clauses are followed by a
//     keyword and not by a bracket, parseClause needs a case that ends the list there.
//   - An operator: parseOperand. It would climb a table of precedences over the operands of today.
//     Tags would need a struct for each level, and every operand would pass through all of them.
//   - In each case: a row in the table of gq/productions_test.go, and the phrase for the messages
//     in phrases of hint_expect.go.
package syntax
