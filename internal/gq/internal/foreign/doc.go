// Package foreign rewrites a text that has habits of Cypher, SQL, GraphQL or ISO GQL as a query of
// this language.
//
// # How a text becomes a query
//
// A text is not parsed as one language, because models mix them. [Rewrite] reads it once:
//
//  1. Package lex divides the text into tokens that all four languages share, which package cursor reads. It replaces tokens that only SQL has by those
//     of the other languages, such as placeholders, puts the tables of WITH into the places that use them, and
//     selection.go takes the fragments of GraphQL out of the text.
//  2. document.go reads the head, and body.go with clause.go the parts of the body in any order. They fill the parts of a
//     query: the clauses of the match, the columns, the statements of a mutation, the sort keys. Package naming finds the types and
//     properties that a name means.
//  3. What needs the whole text waits for its end, with a mark in its place: calls of CALL, lists, window functions, and the
//     groups of WITH. render, in foreign.go, replaces the marks and writes the query.
//  4. Package exact reads the query as a tree. It binds the edges that make rows of SQL and Cypher, gives up for walks that
//     would have other rows, and writes what numbers and nulls mean there.
//
// Whatever the package does not know makes it give up, by a panic of package refuse: a query must not leave out
// part of the text. What differs a little goes into the notes of the offer. [RewriteParts] makes a query of each of the parts into which
// package divide divides a text. The caller compiles an offer before it shows it. Without an offer, package instead says what to use
// instead.
//
// # Where things are
//
//   - Of all languages: condition.go, expression.go, function.go, literal.go, parameter.go, text.go, calendar.go
//     and time.go for values; column.go, collected.go and window.go for columns and groups; names.go for variables.
//   - Cypher and ISO GQL: pattern.go, stage.go (WITH, LET, NEXT and CALL), foreach.go, merge.go, change.go, write.go.
//   - SQL: sql.go, join.go, subquery.go, recursive.go, insert.go, union.go.
//   - GraphQL: selection.go, filter.go, relation.go, aggregate.go, mutation.go, mutationargument.go.
//
// To extend the translation, add a text with the habit to gq/testdata/foreign, run go test ./gq -run TestForeign -update,
// and read the query in the golden file: it must mean the same as the text. A construct that serves few texts is not worth many
// lines: mark its text with none. make test-foreign runs texts of SQL and Cypher, and those of test/foreign/hostile, beside their offers.
package foreign
