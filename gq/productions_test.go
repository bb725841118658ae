package gq_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// production is a production of a grammar. Its name is that of its node type in the tree.
type production struct {
	name   string
	good   []string    // texts that contain it and compile
	broken []string    // texts with a syntax error inside it; each yields one parse error
	wrong  []wrongText // texts that contain it and parse, but fail the checks
}

type wrongText struct {
	code diag.Code
	text string
}

// The queries in the table use this schema.
const productionSchema = `
interface Named { name: String }
node Person implements Named { email: String @key age: I32? tags: [String]? face: Vector(3)? bio: String? limit: I32? }
node Company { name: String @key }
edge Knows: Person -> Person { since: Date? }
edge WorksAt: Person -> Company
edge Contains: Company -> Person
edge In: Company -> Person @valid(since, until) { since: Date until: Date? }
edge Is: Company -> Person
edge Matches: Company -> Person
`

// where puts a clause into a query, and ret puts a projection into a query.
func where(clause string) string {
	return "query q($a: String?, $n: I32?) { match { $p: Person " + clause + " } return { count($p) } }"
}

func ret(projections string) string {
	return "query q($a: String?) { match { $p: Person } return { " + projections + " } }"
}

var queryProductions = []production{
	{"Query", []string{"query q() { match { $p: Person } return { $p } }", "query query() { delete Company where name = \"x\" }"},
		[]string{"query Q() { delete Company where name = 1 }", "query q { delete Company where name = 1 }", "query q() { }", "query q() { delete Company where name = 1"},
		[]wrongText{{"T27", "query q() { delete Company where name = \"x\" } query q() { delete Company where name = \"x\" }"}}},
	{"Param", []string{"query q($a: String, $b: [I32]?, $c: Vector(3)) { match { $p: Person } return { $p } }", "query q($a: Person, $b: Company?) { match { $p: Person $p = $a $p worksAt $c $c != $b? } return { $p } }",
		"query q($a: Named, $b: Named?) { match { $n: Named $n = $a $n != $b? $p: Person $p = $a } return { $n } }"},
		[]string{"query q($a) { match { $p: Person } return { $p } }", "query q($a: String $b: I32) { match { $p: Person } return { $p } }", "query q($a: enum(x)) { match { $p: Person } return { $p } }"},
		[]wrongText{{"P10", "query q($a: Persn) { match { $p: Person } return { $p } }"}, {"T7", "query q($a: Named) { match { $p: Person } return { $a as a } }"}, {"T1", "query q($a: Knows) { match { $p: Person } return { $p } }"},
			{"T7", "query q($a: Company) { match { $p: Person $p = $a } return { $p } }"}, {"T5", "query q($a: Company) { insert Knows { from: $a, to: $a } }"},
			{"T27", "query q($a: I32, $a: I32) { match { $p: Person } return { $p } }"}, {"T27", "query q($_: I32) { match { $p: Person } return { $p } }"}}},
	{"TypeField", []string{"query q($l: [{ a: String, n: I32? }]) { for $x in $l { insert Company { name: $x.a } } }", "query q($l: [{ a: String n: Date }]?) { for $x in $l { update Person set { age: 1 } where email = $x.a } }"},
		[]string{"query q($l: [{ }]) { for $x in $l { insert Company { name: $x.a } } }", "query q($l: [{ a }]) { for $x in $l { insert Company { name: $x.a } } }", "query q($l: { a: String }) { for $x in $l { insert Company { name: $x.a } } }"},
		[]wrongText{
			{"T27", "query q($l: [{ a: String, a: I32 }]) { for $x in $l { insert Company { name: $x.a } } }"},
			{"T6", "query q($l: [{ a: String }]) { for $x in $l { insert Company { name: $x.b } } }"},
		}},
	{"ParamAnnotation", []string{`query q($a: String @description("x")) { match { $p: Person } return { $p } }`,
		`query q($a: [String]? @check("^a") @default(["a", "ab"]) @example("a") @example("ab"), $n: I32 @range(1..9) @default(3) @description("x")) { match { $p: Person } return { $p } limit $n }`,
		`query q($d: Date @default(date("2024-02-29")), $v: Vector(2) @default([1, 0.5])) { match { $p: Person } return { $p } }`},
		[]string{`query q($a: String @description(x)) { match { $p: Person } return { $p } }`, `query q($a: String @check(3)) { match { $p: Person } return { $p } }`,
			`query q($a: I32 @default(x)) { match { $p: Person } return { $p } }`, `query q($a: I32 @minimum(1)) { match { $p: Person } return { $p } }`},
		[]wrongText{
			{"T40", `query q($a: I32 @check("a")) { match { $p: Person } return { $p } }`}, {"T40", `query q($a: String @check("[")) { match { $p: Person } return { $p } }`},
			{"T40", `query q($a: I32 @default("3")) { match { $p: Person } return { $p } }`}, {"T40", `query q($a: I32 @default(1.5)) { match { $p: Person } return { $p } }`},
			{"T40", `query q($a: I32 @default(3) @range(4..)) { match { $p: Person } return { $p } }`}, {"T40", `query q($a: I32 @default(3) @default(3)) { match { $p: Person } return { $p } }`},
			{"T40", `query q($a: [String] @check("^a") @example("b")) { match { $p: Person } return { $p } }`}, {"T40", `query q($a: [String] @example(["b"])) { match { $p: Person } return { $p } }`},
			{"T40", `query q($a: Blob @default("x")) { match { $p: Person } return { $p } }`}, {"T7", `query q($n: I32? @default(3)) { match { $p: Person $p.age = $n? } return { $p } }`},
		}},
	{"Ends", []string{`query q($a: I32 @range(-1..9), $b: F64 @range(..0.5), $c: [U64] @range(3..)) { match { $p: Person } return { $p } }`},
		[]string{`query q($a: I32 @range(1, 9)) { match { $p: Person } return { $p } }`, `query q($a: I32 @range("a"..)) { match { $p: Person } return { $p } }`},
		[]wrongText{{"T40", `query q($a: I32 @range(..)) { match { $p: Person } return { $p } }`}, {"T40", `query q($a: I32 @range(3..1)) { match { $p: Person } return { $p } }`},
			{"T40", `query q($a: I32 @range(0.5..1)) { match { $p: Person } return { $p } }`}, {"T40", `query q($a: String @range(0..1)) { match { $p: Person } return { $p } }`}}},
	{"AsOf", []string{`query q($t: DateTime) as of $t @description("x") { match { $p: Person } return { $p } }`, `query q() as of datetime("2024-05-01T12:00:00Z") { match { $p: Person } return { $p } }`},
		[]string{"query q($t: DateTime) as $t { match { $p: Person } return { $p } }", "query q() as of { match { $p: Person } return { $p } }"},
		[]wrongText{{"T45", "query q($d: Date) as of $d { match { $p: Person } return { $p } }"}, {"T45", "query q($t: DateTime?) as of $t { match { $p: Person } return { $p } }"},
			{"T45", `query q() as of datetime("2024-05-01T12:00:00Z") @must_be_empty("Nobody is there.") { match { $p: Person } return { $p.name } }`}, {"T45", "query q() as of now() { match { $p: Person } return { $p } }"}, {"T45", "query q($t: DateTime) as of $t { delete Company where name = \"x\" }"}, {"T6", "query q() as of $t { match { $p: Person } return { $p } }"}}},
	{"Valid", []string{"query q($d: Date) { match valid at $d { $p: Person } return { $p } }", `query q() { match valid at datetime("2024-05-01T12:00:00Z") { $p: Person } return { $p } }`, "query q($a: Date, $b: DateTime) { match valid during $a, $b { $p: Person } return { $p } }",
		"query q() { match valid during date(\"2024-05-01\"), now() { $p: Person } return { $p } }", "query q($d: Date @default(date(\"2024-05-01\"))) { match valid at $d { $p: Person } return { $p } }"},
		[]string{"query q($d: Date) { match valid $d { $p: Person } return { $p } }", "query q($d: Date) { match valid during $d { $p: Person } return { $p } }", "query q() { match valid at { $p: Person } return { $p } }"},
		[]wrongText{{"T45", "query q($s: String) { match valid at $s { $p: Person } return { $p } }"}, {"T45", "query q($d: Date?) { match valid at $d { $p: Person } return { $p } }"}, {"T45", "query q($d: [Date]) { match valid at $d { $p: Person } return { $p } }"},
			{"T45", `query q() { match valid during date("2024-05-02"), datetime("2024-05-02T00:00:00Z") { $p: Person } return { $p } }`}, {"T6", "query q() { match valid at $d { $p: Person } return { $p } }"}, {"T45", "query q($d: Date) { match valid at coalesce($d, $d) { $p: Person } return { $p } }"}}},
	{"QueryAnnotation", []string{`query q() @description("x") @instruction("y") @question("a?") @question("b?") @must_be_empty("z") @mcp(expose: true) { match { $p: Person } return { $p } }`},
		[]string{`query q() @describe("x") { match { $p: Person } return { $p } }`, `query q() @mcp() { match { $p: Person } return { $p } }`},
		[]wrongText{{"T42", `query q() @question("") { match { $p: Person } return { $p } }`}, {"T42", `query q() @question("a?") @question("a?") { match { $p: Person } return { $p } }`},
			{"T43", `query q() @must_be_empty(" ") { match { $p: Person } return { $p } }`}, {"T43", `query q() @must_be_empty("a") @must_be_empty("b") { match { $p: Person } return { $p } }`},
			{"T43", `query q($n: I32) @must_be_empty("a") { match { $p: Person { age: $n } } return { $p } }`}, {"T43", `query q() @must_be_empty("a") { match { $p: Person } return { count($p) as n } }`},
			{"T43", `query q() @must_be_empty("a") { match { $p: Person } return { $p } limit 0 }`}, {"T43", `query q($n: I32 @range(0..10) @default(0)) @must_be_empty("a") { match { $p: Person } return { $p } limit $n }`}, {"T43", `query q() @must_be_empty("a") { delete Person where age = 1 }`}}},
	{"MCPArg", []string{`query q() @mcp(expose = false, idempotent: true, tool_name: "a", title = "b",) { match { $p: Person } return { $p } }`},
		[]string{`query q() @mcp(expose: "yes") { match { $p: Person } return { $p } }`, `query q() @mcp(title: true) { match { $p: Person } return { $p } }`}, nil},
	{"Type", []string{"query q($a: DateTime?) { match { $p: Person } return { $a } }", "query q($v: Vector(3)) { match { $p: Person } return { $v } }"},
		[]string{"query q($a: Int) { match { $p: Person } return { $p } }", "query q($a: [String?]) { match { $p: Person } return { $p } }", "query q($a: Vector) { match { $p: Person } return { $p } }"},
		[]wrongText{{"T15", "query q($v: Vector(0)) { match { $p: Person } return { $p } }"}}},
	{"Read", []string{"query q($n: I32?) { match { $p: Person $p knows $q } return { $p.name as name, $p, count($q) as n, collect($q.age) as ages } having { n > 1 any { name is null all { n < $n? ages contains 3 } } name matches \"a\" } order { n } limit 3 }",
		"query q() { match { $p: Person } return { $p.age + 1 as next, $p.name } having { next > 3 next in [5, 6] next * 2 > 9 } }", "query q() { match { $p: Person } return { $p.age as having } having { having > 1 } order { having } }",
		"query q() { match { $p: Person } return { $p } order { $p.name } limit 3 }", "query q() { match { $p: Person } return distinct { $p.name, $p.age + 1 as next } order { next, $p.name } limit 3 }", "query q() { match { $p: Person $p knows $q } return distinct { $p, count($q) as n } }", "query q($n: I32 @range(0..10000)) { match { $p: Person } return { $p } limit $n }"},
		[]string{"query q() { match { $p: Person } }", "query q() { match { $p: Person } return { $p } limit x }", "query q() { return { $p } match { $p: Person } }", "query q() { match { $p: Person } return distinct $p.name }"},
		[]wrongText{{"T6", "query q() { match { $p: Person } return { $p.name as name } having { $p.age > 3 } }"}, {"T6", "query q() { match { $p: Person } return { $p.name as name } having { nam = \"x\" } }"},
			{"T8", "query q() { match { $p: Person } return { $p.name as name } having { count($p) > 3 } }"}, {"T30", "query q() { match { $p: Person } return { $p.name as name } having { not { name = \"x\" } } }"},
			{"T30", "query q() { match { $p: Person } return { $p.name as name } having { any { $p knows $q } } }"}, {"T30", "query q() { match { $p: Person } return { $p.name as name } having { search($p.bio, \"x\") } }"},
			{"T7", "query q() { match { $p: Person } return { count($p) as n } having { n = \"x\" } }"},
			{"T9", "query q() { match { $p: Person } return distinct { $p.name } order { $p.age } }"}, {"T9", "query q() { match { $p: Person } return distinct { $p.name } order { count($p) } }"},
			{"T17", "query q() { match { $p: Person } return { $p.name } order { nearest($p.face, \"x\") } }"},
			{"T14", "query q() { match { $p: Person } return { $p } limit $n }"}, {"T41", "query q($n: I32) { match { $p: Person } return { $p } limit $n }"},
			{"T41", "query q($n: I64 @range(1..9)) { match { $p: Person } return { $p } limit $n }"}, {"T41", "query q($n: I32? @range(1..9)) { match { $p: Person } return { $p } limit $n }"},
			{"T41", "query q($n: I32 @range(1..10001)) { match { $p: Person } return { $p } limit $n }"}, {"T41", "query q($n: I32 @range(-1..9)) { match { $p: Person } return { $p } limit $n }"},
			{"T41", "query q($n: I32 @range(1..)) { match { $p: Person } return { $p } limit $n }"}}},
	{"Binding", []string{where(""), where("$c: Company { }"), where("$c: Company { name: \"x\", }"), where("$n: Named { name: $a } $n.type = \"Person\" type($n) != \"x\" $p = $n"), where("$n: Named $n knows $p")},
		[]string{where("$c: company"), where("$c: Company { name: \"x\" name: \"y\" }")},
		[]wrongText{{"T1", where("$c: Firm")}, {"T5", where("$p: Company")}, {"T5", where("$p: Named")}, {"T5", where("$n: Named $n contains $p")}, {"T2", where("$n: Named { age: 3 }")}, {"T6", where("$n: Named $n.age > 3")}}},
	{"PropMatch", []string{where("$c: Company { name: $a? }"), where("$q: Person { age: 3, tags: \"x\" }")},
		[]string{where("$c: Company { name = 1 }"), where("$c: Company { name: $p.name }")},
		[]wrongText{{"T2", where("$c: Company { nam: 1 }")}, {"T3", where("$c: Company { name: 1 }")}, {"T14", where("$c: Company { name: $b }")}}},
	{"Traversal", []string{where("$p knows $q"), where("$c in $p"), where("$c matches{1,2} $p"), where("$c is $p"), where("$p <knows> $q"), where("$p $w:knows $q"), where("$c contains $p"), where("$p worksAt $_"),
		where("$c: Company $p knows|worksAt{1,3} $c"), where("$p knows | worksAt | contains{1,3} $c $c: Company"), where("$p worksAt|knows{1,3} $c $c: Company"), where("$c contains|is $p"), where("$p contains|worksAt{1,4} $p"),
		where("$p $w:<knows>{1,2} $q $w.hops > 1"), where("$c: Company $p $w:knows|worksAt{1,3} $c \"Person\" in $w.types")},
		[]string{where("$p <knows $q"), where("$p $w knows $q"), where("$p knows"), where("$p knows| $q"), where("$p |knows $q"), where("$p <knows|> $q"), where("$p <knows|is $q")},
		[]wrongText{{"T4", where("$p knows|know $q")}, {"T5", where("$p knows|worksAt{1,2} $q")}, {"T23", where("$p $w:knows{1,2} $q $w = $p")}, {"T27", where("$p knows|knows $q")}, {"T4", where("$p know $q")}, {"T5", where("$p owns $q $c: Company $c knows $p")}, {"T22", where("$p <worksAt> $c")}, {"T23", where("$p $p:knows $q")}}},
	{"Bounds", []string{where("$p knows{1,3} $q"), where("$p <knows>{0,64} $q"), where("$p knows{1,2} $p")},
		[]string{where("$p knows{1 $q"), where("$p knows{a,3} $q"), where("$p knows{1,99999999999} $q")},
		[]wrongText{{"T15", where("$p knows{1,} $q")}, {"T15", where("$p knows{0,2} $p")}, {"T15", where("$p knows{3,2} $q")}, {"T15", where("$p knows{1,65} $q")}}},
	{"Filter", []string{where("$p.age >= $n?"), where("$p.tags contains \"x\""), where("\"abc\" starts_with $p.name"), where("$p.name != \"x\""), where("$p.age in [1, 2]"), where("$p.age in [1, 2.0, 1.5]"), where("\"x\" in $p.tags"), where("$p.age in []"), where("$p.name matches $a?"), where("$p.name matches \"^a\""), where("$p knows $q $p != $q")},
		[]string{where("$p.age"), where("$p.age = "), where("$p.age like \"x\""), where("$p.age in"), where("$p.name matches")},
		[]wrongText{{"T7", where("$p.age = \"x\"")}, {"T7", where("$p.age > 3?")}, {"T6", where("$x.age = 3")},
			{"T7", where("$p.age in 3")}, {"T7", where("$p.age in [\"x\"]")}, {"T7", where("$p.tags in [\"x\"]")}, {"T7", where("$p.age matches \"x\"")},
			{"T31", where("$p.name matches \"(\"")}, {"T31", where("$p.name matches $p.bio")}, {"T31", `query q($x: String @default("[a")) { match { $p: Person $p.name matches $x } return { $p.name } }`}, {"T7", where("$c: Company $p = $c")}, {"T7", where("$p < $p")}}},
	{"TextClause", []string{where("search($p.bio, $a)"), where("match_text($p.bio, \"x y\")"), where("fuzzy($p.bio, \"x\", 1)"), where("search($p.bio, \"x\") = false")},
		[]string{where("search($p.bio"), where("search($p.bio, \"x\") ="), where("fuzzy()")},
		[]wrongText{{"T19", where("search($p.age, \"x\")")}, {"T19", where("fuzzy($p.bio, \"x\", 3)")}, {"T20", where("match_text($p.bio, 3)")}}},
	{"NullTest", []string{where("$p.age is null"), where("$p.tags is not null"), where("$a is null")},
		[]string{where("$p.age is"), where("$p.age is not 3"), where("$p.age is null?")},
		[]wrongText{{"T7", where("$p is null")}, {"T6", where("$x.age is null")}}},
	{"Exists", []string{where("exists { $p knows $q }"), where("exists { $p.age = 1 not { $p knows $q } }")},
		[]string{where("exists { }"), where("exists $p.age = 1"), where("exists { $p.age = 1 return }")},
		[]wrongText{{"T9", where("exists { $c: Company }")}}},
	{"Any", []string{where("any { $p.age = 1 $p.age is null search($p.bio, \"x\") not { $p knows $q } exists { $p worksAt $c } all { $p.age > 1 $p.age < 3 } }"), where("any { $p.age = $n? any { $a is null } }")},
		[]string{where("any { }"), where("any $p.age = 1"), where("any { $p.age = 1, $p.age = 2 }")},
		[]wrongText{{"T30", where("any { $p knows $q }")}, {"T30", where("any { $c: Company $p.age = 1 }")}, {"T6", where("any { exists { $p knows $q } $q.age = 1 }")}}},
	{"All", []string{where("any { all { $p.age > 1 $p.age < 3 } $p.age is null }"), where("all { $p.age = 1 }")},
		[]string{where("all { }"), where("all $p.age = 1"), where("all { $p.age = 1 and $p.age = 2 }")},
		[]wrongText{{"T30", where("all { $p knows $q }")}}},
	{"Optional", []string{where("optional { $p knows $q }"), where("optional { $p $w:knows $q $q.age > 3 } optional { $q worksAt $c } $q is not null $c.name != \"x\""), where("$p worksAt $c optional { $c contains $q } not { $q knows $p }"),
		"query q() { match { $p: Person optional { $p knows $q } } return { $p.name, $q, type($q) as kind, count($q) as n } order { n } }"},
		[]string{where("optional { }"), where("optional $p knows $q"), where("optional { $p knows $q return }")},
		[]wrongText{{"T9", where("optional { $c: Company }")}, {"T33", where("not { optional { $p knows $q } $p knows $r }")}, {"T33", where("any { optional { $p knows $q } $p.age = 1 }")}, {"T33", where("optional { $p knows $q optional { $q knows $r } }")},
			{"T6", where("optional { $p knows $q } $q worksAt $c")}, {"T6", where("optional { $p knows $q } $q: Person")}, {"T6", where("optional { $p knows $q $r.age > 3 } optional { $p knows $r }")}, {"T7", where("optional { $p knows $q $q is null }")}}},
	{"Not", []string{where("not { $p knows $q }"), where("not { not { $p.age = 1 } }")},
		[]string{where("not { }"), where("not $p.age = 1"), where("not { $p.age = 1 return }")},
		[]wrongText{{"T9", where("not { $c: Company }")}}},
	{"Projection", []string{ret("$p.name, $p.age as age,"), ret("$p.name $p.age")},
		[]string{ret(""), ret("$p.name as"), ret(", $p")},
		[]wrongText{{"T26", ret("$p.name $p.name")}, {"T26", ret("3")}, {"T24", "query q($b: Blob) { match { $p: Person } return { $b } }"}}},
	{"Ordering", []string{"query q() { match { $p: Person } return { $p.name as n } order { n asc, $p.age desc } }"},
		[]string{"query q() { match { $p: Person } return { $p.name } order { } }", "query q() { match { $p: Person } return { $p.name } order { $p.age down } }"},
		[]wrongText{{"T6", "query q() { match { $p: Person } return { $p.name } order { nam } }"}, {"T7", "query q() { match { $p: Person } return { $p } order { $p.tags } }"}}},
	{"Mutation", []string{"query q() { insert Company { name: \"x\" } update Person set { age: 1 } where email = \"x\" }",
		"query q() { delete Company where name = \"y\" insert Company { name: \"x\" } delete Person where age > 3 }"},
		[]string{"query q() { insert Company { name: \"x\" } match { $p: Person } return { $p } }", "query q() { insert Company { name: \"x\" } return { } }"},
		[]wrongText{{"T52", "query q() { $c = insert Company { name: \"x\" } return { count($c) as n } }"}, {"T10", "query q() { delete Company where name = \"x\" insert Firm { name: \"x\" } }"}}},
	{"Insert", []string{"query q() { $p = insert Person { email: \"x\" name: \"y\" } insert Knows { from: $p to: $p } return { $p.id as id, $p } }", "query q($b: Blob?) { upsert Person { email: \"x\" name: \"y\" age: age + 1 bio: coalesce(\"b\", \"c\") } }", "query q() { $c = insert new Company { name: \"x\" } insert new Knows { from: \"a\" to: \"b\" } }", "query q() { insert Company { name: \"x\" } }", "query q() { insert Knows { from: \"a\", to: \"b\" since: date(\"2024-01-01\"), } }"},
		[]string{"query q() { insert { name: \"x\" } }", "query q() { insert Company name: \"x\" }", "query q() { upsert new Company { name: \"x\" } }", "query q() { insert new new Company { name: \"x\" } }"},
		[]wrongText{{"T10", "query q() { insert Firm { name: \"x\" } }"}, {"T12", "query q() { insert Person { email: \"x\" } }"}, {"T50", "query q() { upsert Knows { from: \"x\" to: \"y\" } }"}, {"T50", "query q() { upsert Person { email: email + \"x\" name: \"y\" } }"}, {"T27", "query q() { $p = insert Company { name: \"x\" } $p = insert Company { name: \"y\" } }"}, {"T5", "query q() { $c = insert Company { name: \"x\" } insert Knows { from: $c to: $c } }"}, {"T10", "query q() { insert Company { } }"}}},
	{"Update", []string{"query q() { update Person set { age: 3 bio: \"x\" } where email = \"x\" }"},
		[]string{"query q() { update Person { age: 3 } where email = \"x\" }", "query q() { update Person set { age: 3 } }"},
		[]wrongText{{"T16", "query q() { update Knows set { from: \"y\" } where from = \"x\" }"}, {"T6", "query q() { update Person set { age: ag + 1 } where age = 3 }"}, {"T16", "query q() { update Person set { email: \"x\" } where age = 3 }"}}},
	{"MatchBlock", []string{"query q() { match { $p: Person $p knows $q } order { $p.age desc } limit 3 { insert Knows { from: $q to: Person($p.email) } delete Person where email = $p.email } }",
		"query q($n: I32 @range(1..9)) { match { $p: Person } limit $n { update Person set { age: age + $p.limit } where id = $p.id } }"},
		[]string{"query q() { match { $p: Person } { } }", "query q() { match { $p: Person } { $p.age } }", "query q() { match { $p: Person } insert Company { name: \"x\" } }"},
		[]wrongText{{"T51", "query q() { match { $p: Person } limit 10001 { delete Person where id = $p.id } }"}, {"T51", "query q($a: I32?) { match { $p: Person $p.age = $a? } { delete Person where id = $p.id } }"},
			{"T51", "query q() { match { $p: Person } { for $x in [1] { delete Person where age = $x } } }"}, {"T6", "query q() { match { $p: Person } { delete Person where id = $p.nam } }"},
			{"T5", "query q() { match { $p: Person } { insert WorksAt { from: $p to: $p } } }"}, {"T3", "query q() { match { $p: Person } { insert Company { name: $p } } }"}}},
	{"ListBlock", []string{"query q($l: [String]?) { for $x in $l { insert Company { name: $x } } }", "query q() { for $x in [1, 2] { delete Person where age = $x } }"},
		[]string{"query q($l: [String]) { for $x $l { insert Company { name: $x } } }", "query q($l: [String]) { for $x in $l insert Company { name: $x } }", "query q($l: [String]) { for $x in $l { } }"},
		[]wrongText{{"T51", "query q($l: String) { for $x in $l { insert Company { name: $x } } }"}, {"T27", "query q($l: [String]) { for $l in $l { insert Company { name: $l } } }"},
			{"T6", "query q($l: [String]) { for $x in $l { insert Company { name: $x.name } } }"}, {"T14", "query q($l: [String]) { for $x in $l { insert Company { name: $y } } }"}}},
	{"NodeKey", []string{"query q($l: [String]) { insert Knows { from: Person(\"a\") to: Person(lower(\"B\")) } delete Knows where from = Person(\"a\") and to in $l }"},
		[]string{"query q() { insert Knows { from: Person() to: \"x\" } }", "query q() { insert Knows { from: Person(\"a\" to: \"x\" } }"},
		[]wrongText{{"T5", "query q() { insert Knows { from: Company(\"a\") to: \"x\" } }"}, {"T5", "query q() { insert Knows { from: Person(\"a\", \"b\") to: \"x\" } }"},
			{"T3", "query q() { insert Company { name: Person(\"a\") } }"}, {"T3", "query q() { insert Knows { from: Person(1) to: \"x\" } }"}, {"T1", "query q() { insert Knows { from: Persn(\"a\") to: \"x\" } }"}}},
	{"Delete", []string{"query q() { delete Person where age > 3 }", "query q() { delete Knows where from = \"x\" }"},
		[]string{"query q() { delete Person }", "query q() { delete where age > 3 }"},
		[]wrongText{{"T10", "query q() { delete Firm where name = \"x\" }"}}},
	{"Assign", []string{"query q($t: [String]) { update Person set { tags: $t, age: 1 bio: \"x\", } where email = \"x\" }"},
		[]string{"query q() { insert Company { name = \"x\" } }", "query q() { insert Company { name: $p.name } }"},
		[]wrongText{{"T11", "query q() { update Person set { nam: 1 } where email = \"x\" }"}, {"T13", "query q() { insert Company { name: \"x\" name: \"y\" } }"}, {"T3", "query q() { insert Company { name: 1 } }"}}},
	{"Pred", []string{"query q($x: String) { delete Person where id != $x }", "query q($x: [I32]) { delete Person where name = \"y\" and age in $x and id != \"z\" }"},
		[]string{"query q() { delete Person where name contains \"x\" }", "query q() { delete Person where name = count(1) }", "query q() { delete Person where name = \"x\" and }"},
		[]wrongText{{"T11", "query q() { delete Person where nam = \"x\" }"}, {"T7", "query q() { delete Person where age = \"x\" }"}}},
	{"Literal", []string{ret(`"s\n" as s, -3 as i, 2.5 as f, true as b, date("2024-01-01") as d, datetime("2024-01-01T00:00:00Z") as t, [1, 2] as l, [] as e`)},
		[]string{ret("[1, $p] as l"), ret("datetime(3) as d"), ret("- 3 as i")},
		[]wrongText{{"T7", ret(`date("2024-13-01") as d`)}, {"T7", ret(`[1, "x"] as l`)}, {"T7", ret("99999999999999999999 as n")}}},
	{"VarRef", []string{ret("$p, $a")}, []string{"query q() { match { $p: Person } return { $P } }"},
		[]wrongText{{"T6", ret("$x")}, {"T23", "query q() { match { $p $w:knows $q } return { $w } }"}}},
	{"PropRef", []string{ret("$p.name, $p.id, $p.limit"), "query q() { match { $p $w:knows $q } return { $w.since, $w.id, $w.from, $w.to } }"},
		[]string{ret("$p."), ret("$p.Name")},
		[]wrongText{{"T6", ret("$p.nam")}, {"T6", ret("$a.x")}, {"T6", "query q() { match { $p $w:knows $q } return { $w.src } }"}}},
	{"AliasRef", []string{"query q() { match { $p: Person } return { $p.age as distinct, distinct + 1 as next } order { distinct } }", "query q() { match { $p: Person } return { $p.age as match } order { match } }"},
		[]string{"query q() { match { $p: Person } return { $p.age as n } order { N } }"},
		[]wrongText{{"T6", ret("name")}, {"T6", where("name = \"x\"")}}},
	{"Now", []string{ret("now()"), "query q() { match { $p $w:knows $q } return { now() as at } order { at } }"},
		[]string{ret("now(3)")}, []wrongText{{"T3", "query q() { match { $p: Person { age: now() } } return { $p } }"}}},
	{"OriginRef", []string{ret("origin($p).actor"), ret("origin($p).at as at"), where("$p.name = origin($p).actor"), where("origin($p).tool is null")},
		[]string{ret("origin()"), ret("origin($p)."), ret("origin(3).at"), ret("origin($p).At")},
		[]wrongText{{"T6", ret("origin($p)")}, {"T6", ret("origin($p).name")}, {"T7", where("origin($p).at = 3")}}},
	{"ActorRef", []string{ret("actor().id"), ret("actor().groups as groups"), where("$p.name = actor().id"), where("$p.name in actor().groups"), "query q() { update Person set { bio: actor().id } where name = actor().id }"},
		[]string{ret("actor()."), ret("actor(3)"), ret("actor().Id"), ret("actor().$p")},
		[]wrongText{{"T44", ret("actor()")}, {"T44", where("$p.name = actor().region")}, {"T7", where("$p.name = actor().groups")}, {"T3", "query q() { match { $p: Person { age: actor().id } } return { $p } }"}, {"T43", "query q() @must_be_empty(\"Nobody is me.\") { match { $p: Person $p.name = actor().id } return { $p } }"}}},
	{"Call", []string{ret("count($p), sum($p.age) as s, max($p.name) as m"), "query q() { match { $p: Person } return { $p.name } order { rrf(bm25($p.bio, \"x\"), nearest($p.face, \"y\"), 30), bm25($p.bio, \"z\") desc } limit 3 }"},
		[]string{ret("count()"), ret("len($p.tags)"), ret("count($p")},
		[]wrongText{{"T8", ret("sum($p.name)")}, {"T20", ret("bm25($p.age, \"x\")")}, {"T21", "query q() { match { $p: Person } return { $p.name } order { rrf($p.age, $p.age) } limit 3 }"}}},
}

// expressionProductions lists the productions of operands that compute a value from other operands.
var expressionProductions = []production{
	{"Binary", []string{ret("$p.age + 1 as n, ($p.age - 1) * 2 % 3 / 4.5 as m, -2 as o, $p.name + \"!\" as s"), where("$p.age * 2 > $n + 1?"), where("(-1) < $p.age + 1"),
		ret("sum($p.age) / count($p) as mean"), ret("now() - days(3) as t, date(now()) + days(1) as d"),
		"query q($n: I32) { update Person set { age: $n % 7 - 1 } where email = trim(\" x \") + \"@y\" }",
		"query q() { match { $p: Person } return { $p.age as n, n + 1 as m } order { m * 2 desc, n } }"},
		[]string{ret("$p.age + "), ret("$p.age +* 2"), ret("($p.age + 1"), where("$p.age + 1"), "query q() { insert Company { name: $p.name + \"x\" } }"},
		[]wrongText{{"T7", ret("$p.name + 1 as x")}, {"T7", ret("$p + 1 as x")}, {"T7", ret("now() - now() as x")}, {"T7", ret("now() + 3 as x")},
			{"T7", ret("date(now()) + hours(3) as x")}, {"T26", ret("$p.age + 1")},
			{"T7", ret("bm25($p.bio, \"x\") * 2 as x")},
			{"T9", ret("sum($p.age) / $p.age as x")}, {"T8", where("count($p) + 1 > 2")},
		}},
	{"Call", []string{ret("count(distinct $p.age), collect(distinct $p.name) as b, collect($p) as c, size(collect($p.age)) as d, count(distinct ($p.age + 1)) as e")},
		[]string{ret("count(distinct $p"), ret("count($p, distinct $p)")},
		[]wrongText{{"T8", ret("sum(distinct $p.age) as s")}, {"T8", ret("lower(distinct $p.name) as s")}, {"T8", ret("collect($p.tags) as s")}, {"T8", ret("collect($p.face) as s")}, {"T8", ret("collect(count($p)) as s")}, {"T7", "query q() { match { $p: Person } return { collect($p.age) as l } order { l } }"}}},
	{"Call", []string{ret("lower($p.name) as a, upper($p.name) as b, trim($p.name) as c, length($p.name) as d, substring($p.name, 0, 3) as e, size($p.tags) as f, type($p) as g"),
		ret("abs($p.age) as a, round(1.5) as b, floor(1.5) as c, ceil(1.5) as d, string($p.age) as e, int($p.name) as f, float($p.name) as g, coalesce($p.age, 0) as h"),
		"query q() { match { $p $w:knows $q } return { year($w.since) as a, month($w.since) as b, day($w.since) as c, weekday($w.since) as d, hour(now()) as e, days_between($w.since, now()) as f, seconds_between(now(), now()) as g } }",
		where("$c: Company { name: lower($a) }"), "query q($b: String) { insert Company { name: upper($b) } }"},
		[]string{ret("lower()"), ret("lower($p.name"), "query q() { insert Company { name: count(\"x\") } }"},
		[]wrongText{{"T7", ret("days(3) as x")}, {"T7", ret("length($p.tags) as x")}, {"T7", ret("size($p.name) as x")}, {"T7", ret("lower(1, 2) as x")}, {"T26", ret("lower($p.name)")},
			{"T7", ret("type($p.name) as t")}, {"T8", ret("sum(count($p)) as x")}, {"T3", "query q() { insert Person { email: length(\"x\") } }"},
			{"T14", "query q() { insert Company { name: lower($b) } }"}, {"T7", ret("if($p.age, 1, 2) as x")}, {"T7", ret("coalesce($p.age, \"x\") as y")}, {"T7", ret("date(3) as d")}}},
	{"Comparison", []string{ret("if($p.age > 3, \"a\", \"b\") as x, ($p.age > 3) as old"), ret("if($p.name contains \"x\", 1) as x, coalesce($p.age, 0) as y"), where("if($p.age > 3, 1, 2) = 1"),
		ret("($p.age is null) as a, ($p.name in [\"x\"]) as b"), ret("if($p.name matches \"^a\", 1) as x, ($a is not null) as y"), where("($p.age > 3) = true")},
		[]string{ret("$p.age > 3"), ret("($p.age > 3 > 4) as x"), ret("if($p.age >, 1) as x")},
		[]wrongText{{"T7", ret("($p.name in [3]) as y")}, {"T31", ret("($p.name matches \"(\") as y")}, {"T7", ret("if($p.age > 3, 1, \"x\") as y")}, {"T7", ret("if($p.name > 3, 1) as y")}, {"T8", ret("count($p.age > 3) as n")}}},
	{"Subquery", []string{ret("count { $p knows $q } as n, count { $q: Company } as all, count { $p knows $q return distinct $q.age } as ages, sum { $p knows $q return $q.age * 2 } as s, avg { $p knows $q return $q.age } as a"),
		ret("first { $p $w:knows $q return { $w.since as since, $q } order { since desc } } as latest, latest.since as since, ($p.age + count { $p knows $q }) as n"),
		ret("collect { $p knows $q optional { $q worksAt $c } return { $q.name as name, $c.name as at, count { $q knows $r } as n } order { n desc, $c.name } limit 1000 } as friends"),
		where("count { $p knows $q  $q.age > $n? } > 2"), where("any { max { $p knows $q return $q.age } > 3 $p.age is null }"), ret("sum(count { $p knows $q }) as n, count { $p worksAt $c } as jobs"),
		ret("count { $p knows $q count { $q knows $r max { $r knows $s return $s.age } > 3 } > 1 } as n"), "query q() { match { $p: Person } return { $p.name } order { count { $p knows $q } desc } }",
		"query q() { match { $p: Person } return { first { $p knows $q return { $q.age as age } } as one, count { $p knows $q } as n } having { one.age > 3 n > 1 } order { one.age } }"},
		[]string{ret("count { } as n"), ret("count { $p knows $q return } as n"), ret("count { $p knows $q limit 3 } as n"), ret("collect { $p knows $q return { $q.name } limit $n } as n"), ret("first { $p knows $q return distinct { $q.name } } as n"),
			"query q() { insert Log { text: \"x\" count: count { $p: Person } vec: [1, 2] } }"},
		[]wrongText{{"T38", ret("collect { $p knows $q return { $q.name as n } } as l")}, {"T38", ret("collect { $p knows $q return { $q.name as n } limit 1001 } as l")}, {"T38", ret("collect { $p knows $q return { $q.name as n } limit 0 } as l")},
			{"T38", ret("first { $p knows $q return { $q.name as n } limit 2 } as l")}, {"T38", ret("first { $p knows $q } as l")}, {"T38", ret("collect { $p knows $q return $q.name limit 3 } as l")},
			{"T38", ret("sum { $p knows $q } as s")}, {"T38", ret("count { $p knows $q return { $q.name as n } } as s")}, {"T38", ret("count { $p knows $q return $q order { $q.name } } as s")},
			{"T38", ret("count { $p knows $q count { $q knows $r count { $r knows $s count { $s knows $t } > 1 } > 1 } > 1 } as n")}, {"T38", ret("sum { $p knows $q return count($q) } as s")},
			{"T38", ret("count { $p knows $q bm25($q.bio, \"x\") > 1.0 } as s")}, {"T38", "query q() { match { $p: Person } return { collect { $p knows $q return { $q.name as n } order { nearest($q.face, \"x\") } limit 3 } as l } limit 3 }"},
			{"T38", "query q() { match { $p: Person } return { $p.name as name } having { count { $p knows $q } > 1 } }"},
			{"T8", ret("sum { $p knows $q return $q.name } as s")}, {"T8", ret("sum { $p knows $q return distinct $q.age } as s")}, {"T8", ret("count { $p knows $q return 3 } as s")},
			{"T26", ret("count { $p knows $q }")}, {"T26", ret("collect { $p knows $q return { $q.age + 1 } limit 3 } as l")}, {"T26", ret("collect { $p knows $q return { $q.name as n, $q.age as n } limit 3 } as l")},
			{"T6", ret("count { $p knows $q } as n, $q.name")}, {"T6", ret("collect { $p knows $q return { $r.name as n } limit 3 } as l")}, {"T6", ret("collect { $p knows $q return { $q.name as n } order { m } limit 3 } as l")},
			{"T9", ret("collect { $p knows $q return { $q.name as n } limit 3 } as l, count($p) as n")}, {"T9", "query q() { match { $p: Person } return distinct { first { $p knows $q return { $q.name as n } } as l } }"},
			{"T7", ret("size(collect { $p knows $q return { $q.name as n } limit 3 }) as n")}, {"T7", where("first { $p knows $q return { $q.name as n } } is null")}, {"T33", ret("count { $p knows $q optional { $q knows $r optional { $r knows $s } } } as n")}}},
	{"FieldRef", []string{ret("first { $p knows $q return { $q.age as age } } as one, one.age as age, one.age + 1 as next"), ret("$p, p.email as mail, p.id as key"), "query q() { match { $p: Person } return { first { $p knows $q return { $q.age as age } } as one } order { one.age desc } }"},
		[]string{ret("one.\"x\" as x"), ret("one.age.x as y")},
		[]wrongText{{"T6", ret("p.email as mail")}, {"T6", ret("one.age as x, first { $p knows $q return { $q.age as age } } as one")}, {"T6", ret("$p.name as n, n.x as x")}, {"T6", ret("first { $p knows $q return { $q.age as age } } as one, one.ages as x")},
			{"T6", ret("collect { $p knows $q return { $q.age as age } limit 3 } as l, l.age as x")}, {"T7", ret("first { $p knows $q return { $q as node } } as one, one.node as x")}, {"T26", ret("$p, p.email")}}},
	{"Condition", []string{ret("exists { $p knows $q } as a, not { $p worksAt $c } as b, any { $p.age = 1 $p.age is null } as c, all { $a is null exists { $p knows $q } } as d"),
		where("(exists { $p knows $q }) = true"), ret("if(exists { $p knows $q any { $q.age = 1 not { $q worksAt $c } } }, 1, 2) as n, sum(if(not { $p knows $q }, 1, 0)) as m")},
		[]string{ret("exists { } as a"), ret("exists { $p knows as a }"), ret("exists { $p.age = 1 as a"), "query q() { insert Person { email: \"a\" name: \"x\" age: if(any { 1 = 1 }, 1, 2) } }"},
		[]wrongText{{"T9", ret("exists { $c: Company } as a")}, {"T26", ret("not { $p knows $q }")}, {"T30", ret("any { $p knows $q } as a")}, {"T6", ret("exists { $p knows $q } as a, $q.name")},
			{"T8", ret("count(exists { $p knows $q }) as n")}, {"T7", ret("exists { $p knows $q } + 1 as n")}}},
}

var schemaProductions = []production{
	{"Interface", []string{"interface I { } node A implements I { x: String }", "interface I { x: String y: I32? }"},
		[]string{"interface i { x: String }", "interface I { @index(x) }", "interface I"},
		[]wrongText{{"S1", "interface I { } interface I { }"}, {"S17", "interface I { type: String }"}}},
	{"Node", []string{"node A { }", `node A @description("d") @x_kept implements I, J { x: String @index(x) } interface I { } interface J { }`},
		[]string{"node A", "node A implements { }", "node A { x: String } @description(\"d\")"},
		[]wrongText{{"S1", "node A { } node A { }"}, {"S8", "node A { x: I32 @key y: I32 @key }"}, {"S17", "node A { id: String }"}}},
	{"Edge", []string{"node A { } edge E: A -> A", `node A { } edge E: A -> A @card(0..) @description("d") { x: I32 @unique(src, x) }`},
		[]string{"node A { } edge E: A A", "node A { } edge E A -> A", "node A { } edge E: A -> A { x }"},
		[]wrongText{{"S5", "node A { } edge E: A -> B"}, {"S1", "node A { } edge Ee: A -> A edge EE: A -> A"}, {"S17", "node A { } edge E: A -> A { src: String }"}}},
	{"TypeRef", []string{"interface I { } node A implements I { }"}, []string{"node A implements i { }"},
		[]wrongText{{"S3", "node A implements I { }"}, {"S3", "interface I { } node A implements I, I { }"}}},
	{"Card", []string{"node A { } edge E: A -> A @card(1..1)", "node A { } edge E: A -> A @card(0..)"},
		[]string{"node A { } edge E: A -> A @card(1)", "node A { } edge E: A -> A @card(..3)", "node A { } edge E: A -> A @card(0..99999999999)"},
		[]wrongText{{"S15", "node A { } edge E: A -> A @card(3..1)"}, {"S15", "node A { } edge E: A -> A @card(0..1) @card(0..1)"}}},
	{"Property", []string{"node A { x: String limit: I32 @index node: Bool? }"}, []string{"node A { X: String }", "node A { x String }", "node A { x: }"},
		[]wrongText{{"S2", "node A { x: String x: I32 }"}, {"S4", "interface I { x: String } node A implements I { x: I32 }"}}},
	{"ListConstraint", []string{"node A { x: I32 y: I32 @key(x, y) @unique(y) @index(y, x) }"}, []string{"node A { x: I32 @key() }", "node A { x: I32 @index(x, ) }"},
		[]wrongText{{"S7", "node A { x: I32? @key(x) }"}, {"S13", "node A { x: Blob @index(x) }"}, {"S14", "node A { } edge E: A -> A { x: I32 @key(x) }"}, {"S2", "node A { x: I32 @unique(x, x) }"}}},
	{"NameRef", []string{"node A { x: I32 @index(x) }"}, []string{"node A { x: I32 @index(X) }"}, []wrongText{{"S6", "node A { x: I32 @index(y) }"}}},
	{"RangeConstraint", []string{"node A { x: F64 @range(x, -1.5..2) @range(x, 0..) @range(x, ..3) }"}, []string{"node A { x: I32 @range(x) }", "node A { x: I32 @range(x, 1-2) }"},
		[]wrongText{{"S12", "node A { x: I32 @range(x, 3..1) }"}, {"S12", "node A { x: I32 @range(x, ..) }"}, {"S13", "node A { x: String @range(x, 0..1) }"}, {"S6", "node A { @range(x, 0..1) }"}}},
	{"CheckConstraint", []string{`node A { x: String @check(x, "^a+$") }`}, []string{"node A { x: String @check(x) }", "node A { x: String @check(x, a) }"},
		[]wrongText{{"S11", `node A { x: String @check(x, "[") }`}, {"S13", `node A { x: I32 @check(x, "a") }`}, {"S14", `node A { } edge E: A -> A { x: String @check(x, "a") }`}}},
	{"Type", []string{"node A { a: String b: [I64]? c: Vector(2)? d: enum(x, y)? e: Blob f: DateTime }"}, []string{"node A { x: Int }", "node A { x: [String }", "node A { x: Vector }", "node A { x: String(3) }"},
		[]wrongText{{"S9", "node A { x: Vector(0) }"}, {"S10", "node A { x: enum() }"}}},
	{"EnumValue", []string{"node A { x: enum(a, B-2, 3d, -1, _) }"}, []string{"node A { x: enum(a b) }", "node A { x: enum(\"a\") }"}, []wrongText{{"S10", "node A { x: enum(a-b, a-b) }"}}},
	{"Annotation", []string{`node A @x_kept { x: Vector(2) @embed("t", model="m") @x_kept(1, a, b=true) t: String @rename_from("u") @unique }`}, []string{"node A @ { }", "node A @Kept { }", "node A { x: I32 @x_kept() }"},
		[]wrongText{{"S18", "node A @description(x) { }"}, {"S16", `node A { x: String @embed("x") }`}, {"S14", "node A { } edge E: A -> A { x: I32 @key }"}}},
	{"AnnotationArg", []string{`node A @x_kept("s", 1, 2.5, true, date("2024-01-01"), [1, 2], name, Name, key=3) { }`}, []string{"node A @x_kept(a=) { }", "node A @x_kept($a) { }"},
		[]wrongText{{"S18", `node A @rename_from("a", "b") { }`}, {"S16", `node A { t: String x: Vector(2) @embed("t", mode="m") }`}}},
}

// noWrong lists the productions that cannot fail the checks, because their contents are kept
// without interpretation.
var noWrong = map[string]bool{"MCPArg": true}

func TestProductions(t *testing.T) {
	s, faults := gq.CompileSchema(gq.Source{Name: "x.pg", Text: productionSchema})
	if faults != nil {
		t.Fatal(faults)
	}
	schema := grammar{
		file: "x.pg",
		meaning: func(text string) string {
			s, _ := gq.CompileSchema(gq.Source{Name: "x.pg", Text: text})
			return string(catalog.Encode(s))
		},
		parse: func(text string) (any, diag.List) { return syntax.ParseSchema("x.pg", text) },
		check: func(text string) diag.List {
			_, faults := gq.CompileSchema(gq.Source{Name: "x.pg", Text: text})
			return faults
		},
	}
	plans := func(text string) string {
		qs, _ := gq.CompileQueries(s, gq.Source{Name: "x.gq", Text: text})
		var b strings.Builder
		for _, q := range qs {
			b.WriteString(plan.Format(q.Plan))
		}
		return b.String()
	}
	queries := grammar{
		file: "x.gq", meaning: plans,
		parse: func(text string) (any, diag.List) { return syntax.ParseQueries("x.gq", text) },
		check: func(text string) diag.List {
			_, faults := gq.CompileQueries(s, gq.Source{Name: "x.gq", Text: text})
			return faults
		},
	}
	for _, p := range schemaProductions {
		t.Run("schema/"+p.name, func(t *testing.T) { schema.test(t, p) })
	}
	for _, p := range slices.Concat(queryProductions, expressionProductions) {
		t.Run("query/"+p.name, func(t *testing.T) { queries.test(t, p) })
	}
}

type grammar struct {
	file    string
	meaning func(text string) string // of a text that compiles
	parse   func(text string) (any, diag.List)
	check   func(text string) diag.List
}

func (g grammar) test(t *testing.T, p production) {
	if len(p.good) == 0 || len(p.broken) == 0 || (len(p.wrong) == 0) != noWrong[p.name] {
		t.Error("a production needs texts of every sort")
	}
	for _, text := range p.good {
		if tree, faults := g.parse(text); faults != nil || !holds(reflect.ValueOf(tree), p.name) {
			t.Errorf("%s\nholds no %s: %v", text, p.name, faults)
		}
		if faults := g.check(text); faults != nil {
			t.Errorf("%s\n%v", text, faults)
		}
		g.format(t, text)
	}
	for _, text := range p.broken {
		if _, faults := g.parse(text); len(faults) != 1 || faults[0].Code[0] != 'P' {
			t.Errorf("%s\nwant a parse fault, got %v", text, faults)
		}
	}
	for _, w := range p.wrong {
		if tree, faults := g.parse(w.text); faults != nil || !holds(reflect.ValueOf(tree), p.name) {
			t.Errorf("%s\nholds no %s: %v", w.text, p.name, faults)
		}
		faults := g.check(w.text)
		found := false
		for _, d := range faults {
			found = found || d.Code == w.code
		}
		if !found {
			t.Errorf("%s\nwant %s, got %v", w.text, w.code, faults)
		}
	}
}

// format checks that the formatted text has the same meaning and that formatting it again does
// not change it.
func (g grammar) format(t *testing.T, text string) {
	once, faults := gq.Format(gq.Source{Name: g.file, Text: text})
	if faults != nil {
		t.Errorf("%s\nis not formatted: %v", text, faults)
		return
	}
	if twice, _ := gq.Format(gq.Source{Name: g.file, Text: once}); twice != once {
		t.Errorf("formatted:\n%s\nand again:\n%s", once, twice)
	}
	if was, is := g.meaning(text), g.meaning(once); was != is || was == "" {
		t.Errorf("%s\nmeans\n%s\nand formatted\n%s\nmeans\n%s", text, was, once, is)
	}
}

// holds reports whether a tree has a node of the type with the given name.
func holds(v reflect.Value, name string) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return !v.IsNil() && holds(v.Elem(), name)
	case reflect.Slice:
		for i := range v.Len() {
			if holds(v.Index(i), name) {
				return true
			}
		}
	case reflect.Struct:
		if v.Type().Name() == name {
			return true
		}
		for i := range v.NumField() {
			if v.Type().Field(i).Name != "Range" && holds(v.Field(i), name) {
				return true
			}
		}
	}
	return false
}

// TestEveryProduction checks that the tables cover every node type of the trees.
func TestEveryProduction(t *testing.T) {
	listed := map[string]bool{}
	for _, table := range [][]production{schemaProductions, queryProductions, expressionProductions} {
		for _, p := range table {
			listed[p.name] = true
		}
	}
	paths, err := filepath.Glob(filepath.Join(phaseFolder, "syntax/*.go"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			st, ok := spec.Type.(*ast.StructType)
			if !ok || len(st.Fields.List) == 0 {
				return true
			}
			first := st.Fields.List[0]
			if id, ok := first.Type.(*ast.Ident); ok && len(first.Names) == 0 && id.Name == "Range" {
				found++
				if !listed[spec.Name.Name] {
					t.Errorf("no table has production %s", spec.Name.Name)
				}
			}
			return true
		})
	}
	if want := len(listed); found != want {
		t.Errorf("%d productions in the source, %d in the tables", found, want)
	}
}
