// Package foreign rewrites a text that has habits of Cypher, SQL, GraphQL or ISO GQL as a query of
// this language.
//
// # How a text becomes a query
//
// A text is not parsed as one language, because models mix them. [Rewrite] reads it once:
//
//  1. token.go divides the text into tokens that all four languages share.
//  2. dialect.go, cte.go and cteselect.go replace tokens that only SQL has by those of the other languages: placeholders, and
//     the tables of WITH, which go to the places that use them. selection.go takes the fragments of GraphQL out of the text.
//  3. document.go reads the head, and body.go with clause.go the parts of the body in any order. They fill the parts of a
//     query: the clauses of the match, the columns, the statements of a mutation, the sort keys.
//  4. What needs the whole text waits for its end, with a mark in its place: calls of CALL, lists, window functions, and the
//     groups of WITH. render, in nearest.go, replaces the marks and writes the query.
//  5. multiplicity.go and meaning.go read the query as a tree. They bind the edges that make rows of SQL and Cypher, give up for walks that
//     would have other rows, and write what numbers and nulls mean there.
//
// Whatever the package does not know makes it give up, by a panic of the type giveUp: a query must not leave out
// part of the text. What differs a little goes into the notes of the offer. [RewriteParts] makes a query of each part of a union, or
// of each field of a document. The caller compiles an offer before it shows it. Without an offer, [Instead] says what to
// use instead of the parts that have no counterpart (missing.go, advice.go), [Frame] shows a query over the types that
// the text names, and [Constructs] names constructs for its words.
//
// # Where things are
//
//   - Of all languages: condition.go, expression.go, function.go, literal.go, list.go, parameter.go, text.go, calendar.go
//     and time.go for values; column.go, aggregate.go, collected.go, listagg.go, window.go and groupwindow.go for columns
//     and groups; names.go for the types and properties that a name means.
//   - Cypher and ISO GQL: pattern.go, match.go, stage.go (WITH, LET and NEXT), call.go, head.go, foreach.go, unwind.go,
//     merge.go, change.go, rows.go, write.go.
//   - SQL: sql.go, cast.go, join.go, derived.go, subquery.go, recursive.go, recordset.go, insert.go, tablechange.go, union.go,
//     several.go.
//   - GraphQL: selection.go, argument.go, filter.go, anycase.go, neighbour.go, relation.go, relationname.go, field.go, edgefield.go,
//     directive.go, aggregateblock.go, mutation.go, mutationargument.go, dgraph.go.
//
// To extend the translation, add a text with the habit to gq/testdata/foreign, run go test ./gq -run TestForeign -update,
// and read the query in the golden file: it must mean the same as the text. make test-foreign runs texts of SQL and Cypher, and
// those of test/foreign/hostile, beside their offers.
package foreign
