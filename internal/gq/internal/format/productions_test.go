package format_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/gq/internal/format"
	"github.com/omnigraph-go/omnigraph/internal/gq/syntax"
)

// productions lists every production of both grammars, as cramped and as formatted text. Here,
// formatted text is on one line even if it is too wide for a line.
var productions = []struct{ name, file, cramped, want string }{
	{"interface", "x.pg", "interface A{a:I32}", "interface A { a: I32 }"},
	{"interface without properties", "x.pg", "interface A{\n}", "interface A {}"},
	{"node", "x.pg", "node A{}", "node A {}"},
	{"node with annotations", "x.pg", "node A@a@b(\"c\" ,1)implements B,C{}", "node A @a @b(\"c\", 1) implements B, C {}"},
	{"edge", "x.pg", "edge A:B->C", "edge A: B -> C"},
	{"edge with a cardinality", "x.pg", "edge A:B->C@card(0..1)", "edge A: B -> C @card(0..1)"},
	{"edge with an open cardinality", "x.pg", "edge A:B->C@a@card( 1 .. )@b{}", "edge A: B -> C @a @card(1..) @b {}"},
	{"edge with members", "x.pg", "edge A:B->C{a:I32@index @unique( src )}", "edge A: B -> C { a: I32 @index @unique(src) }"},
	{"scalars", "x.pg", "node A{a:String b:Bool?}", "node A { a: String b: Bool? }"},
	{"list type", "x.pg", "node A{a:[ I32 ] ?}", "node A { a: [I32]? }"},
	{"decimal", "x.pg", "node A{a:Decimal( 12,2 ) ?\nb:[ Decimal(3 , 0) ]}", "node A { a: Decimal(12, 2)? b: [Decimal(3, 0)] }"},
	{"vector", "x.pg", "node A{a:Vector( 3 ) ?}", "node A { a: Vector(3)? }"},
	{"enum", "x.pg", "node A{a:enum( x-1 ,2d,-3,_ ) ?}", "node A { a: enum(x-1, 2d, -3, _)? }"},
	{"enum without values", "x.pg", "node A{a:enum( )}", "node A { a: enum() }"},
	{"property called enum", "x.pg", "node A{enum:enum(enum) node:I32}", "node A { enum: enum(enum) node: I32 }"},
	{"annotation with arguments", "x.pg", "node A{a:I32@b( \"x\",-1,1.5,true,date( \"2024-01-01\" ),[ 1,[ ] ],c,D,k = \"v\",l = 2)}",
		"node A { a: I32 @b(\"x\", -1, 1.5, true, date(\"2024-01-01\"), [1, []], c, D, k=\"v\", l=2) }"},
	{"key", "x.pg", "node A{@key( a,b )}", "node A { @key(a, b) }"},
	{"unique", "x.pg", "node A{@unique( a )}", "node A { @unique(a) }"},
	{"index", "x.pg", "node A{a:I32 @index( a )}", "node A { a: I32 @index(a) }"},
	{"range", "x.pg", "node A{@range( a,-1 .. 2.5 )}", "node A { @range(a, -1..2.5) }"},
	{"open range", "x.pg", "node A{@range(a,..2)@range(a,1 ..)@range(a,.. -1)}", "node A { @range(a, ..2) @range(a, 1..) @range(a, ..-1) }"},
	{"check", "x.pg", "node A{@check( a,\"b\" )}", "node A { @check(a, \"b\") }"},

	{"query", "x.gq", "query q(){delete A where a=1}", "query q() { delete A where a = 1 }"},
	{"parameters", "x.gq", "query q($a:I32,$b:[ String ] ?,$c:Vector( 2 ) ?,$d:Date){delete A where a=$a}",
		"query q($a: I32, $b: [String]?, $c: Vector(2)?, $d: Date) { delete A where a = $a }"},
	{"list of records", "x.gq", "query q($l:[ { a:String,b :I32 ? c:Date} ] ?){for $x in $l{delete A where a=$x.a}}",
		"query q($l: [{ a: String, b: I32? c: Date }]?) {\n  for $x in $l {\n    delete A where a = $x.a\n  }\n}"},
	{"described parameter", "x.gq", "query q($a:I32?@description( \"x\" ) @description(\"y\")){delete A where a=$a}",
		"query q($a: I32? @description(\"x\") @description(\"y\")) { delete A where a = $a }"},
	{"annotated parameters", "x.gq", "query q($a:I32@range( 1 .. 9 )@default( -3 )@example(2)){delete A where a=$a}",
		"query q($a: I32 @range(1..9) @default(-3) @example(2)) { delete A where a = $a }"},
	{"annotated list", "x.gq", "query q($b:[ String ]?@check( \"x\" )@default([ \"x\",\"y\" ])){delete A where a=1}",
		"query q($b: [String]? @check(\"x\") @default([\"x\", \"y\"])) { delete A where a = 1 }"},
	{"open ranges of parameters", "x.gq", "query q($c:F64@range(..0.5)@range(1 ..)@range(.. )){delete A where a=1}",
		"query q($c: F64 @range(..0.5) @range(1..) @range(..)) { delete A where a = 1 }"},
	{"limit by a parameter", "x.gq", body("match{$a:A}return{$a}limit   $n"), body("match { $a: A } return { $a } limit $n")},
	{"query annotations", "x.gq", "query q()@question( \"z?\" )@must_be_empty( \"w\" )@description( \"x\" )@instruction( \"y\" ){delete A where a=1}",
		"query q()\n  @question(\"z?\")\n  @must_be_empty(\"w\")\n  @description(\"x\")\n  @instruction(\"y\")\n{\n  delete A where a = 1\n}"},
	{"mcp", "x.gq", "query q()@mcp( expose=true,idempotent : false,tool_name = \"t\",title:\"T\", )\n{delete A where a=1}",
		"query q()\n  @mcp(expose: true, idempotent: false, tool_name: \"t\", title: \"T\")\n{\n  delete A where a = 1\n}"},
	{"mcp, broken", "x.gq", "query q()@mcp(\nexpose=true,title:\"T\"){delete A where a=1}",
		"query q()\n  @mcp(\n    expose: true,\n    title: \"T\"\n  )\n{\n  delete A where a = 1\n}"},
	{"as of", "x.gq", "query q($t:DateTime)as  of$t{match{$a:A}return{$a}}", "query q($t: DateTime) as of $t { match { $a: A } return { $a } }"},
	{"valid at", "x.gq", "query q($t:Date){match  valid at$t{$a:A}return{$a}}", "query q($t: Date) { match valid at $t { $a: A } return { $a } }"},
	{"valid during", "x.gq", "query q($t:Date,$u:Date){match valid  during$t ,$u{$a:A}return{$a}}", "query q($t: Date, $u: Date) { match valid during $t, $u { $a: A } return { $a } }"},
	{"read", "x.gq", body("match{$a:A}return{$a}order{$a.b}limit 3"), body("match { $a: A } return { $a } order { $a.b } limit 3")},
	{"binding", "x.gq", read("$a:A $_:B{ }"), read("$a: A $_: B {}")},
	{"inline properties", "x.gq", read("$a:A{a:1,b:$b,c:$c ?,d:now( ),}"), read("$a: A { a: 1, b: $b, c: $c?, d: now() }")},
	{"traversal", "x.gq", read("$a b $c"), read("$a b $c")},
	{"edge binding", "x.gq", read("$a $e : b $c"), read("$a $e:b $c")},
	{"undirected traversal", "x.gq", read("$a< b >$c $a $e:< b >$c"), read("$a <b> $c $a $e:<b> $c")},
	{"bounds", "x.gq", read("$a b{ 1,2 }$c $a<b>{ 1 , }$c"), read("$a b{1,2} $c $a <b>{1,} $c")},
	{"edge called as an operator", "x.gq", read("$a contains$b $a starts_with{1,2}$b"), read("$a contains $b $a starts_with{1,2} $b")},
	{"filter", "x.gq", read("$a . b=1 $a.b!=1 $a.b<1 $a.b<=1 $a.b>1 $a.b>=1 $a.b contains\"x\" \"x\" starts_with $a.b"),
		read("$a.b = 1 $a.b != 1 $a.b < 1 $a.b <= 1 $a.b > 1 $a.b >= 1 $a.b contains \"x\" \"x\" starts_with $a.b")},
	{"optional filter", "x.gq", read("$a.b>=$c ? now( )<$d ?"), read("$a.b >= $c? now() < $d?")},
	{"text clauses", "x.gq", read("search( $a.b,\"x\" )fuzzy($a.b,$c,1)match_text($a.b,\"x\")=false search($a.b,$c)!=$d ?"),
		read("search($a.b, \"x\") fuzzy($a.b, $c, 1) match_text($a.b, \"x\") = false search($a.b, $c) != $d?")},
	{"tests for null", "x.gq", read("$a.b is null $a.c is  not\nnull"), read("$a.b is null $a.c is not null")},
	{"in and matches", "x.gq", read("$a.b in[ 1,2 ]$a.c in $c ? $a.d matches\"x\""), read("$a.b in [1, 2] $a.c in $c? $a.d matches \"x\"")},
	{"exists", "x.gq", read("$a:A exists{$a b $_}"), read("$a: A exists { $a b $_ }")},
	{"any and all", "x.gq", read("any{$a.b=1 all{$a.c=2 $a.d=3}not{$a e $_}}"), read("any { $a.b = 1 all { $a.c = 2 $a.d = 3 } not { $a e $_ } }")},
	{"optional", "x.gq", read("$a:A optional{$a b $c $c.d=1}$c is null"), read("$a: A optional { $a b $c $c.d = 1 } $c is null")},
	{"not", "x.gq", read("$a:A not{$a b $_ not{$a c $_}}"), read("$a: A not { $a b $_ not { $a c $_ } }")},
	{"having and distinct", "x.gq", body("match{$a:A}return  distinct{$a.b as c count( distinct $a ) as n,collect(distinct($a.d+1))as l}having{n>1 any{c=2 all{c<3}}}order{n}"),
		body("match { $a: A } return distinct { $a.b as c, count(distinct $a) as n, collect(distinct ($a.d + 1)) as l } having { n > 1 any { c = 2 all { c < 3 } } } order { n }")},
	{"origin", "x.gq", read("origin ( $a ) . actor=$a.b"), read("origin($a).actor = $a.b")},
	{"caller", "x.gq", read("$a.b=actor( ) . id $a.c in actor().groups"), read("$a.b = actor().id $a.c in actor().groups")},
	{"projections", "x.gq", body("match{$a:A}return{$a.b as c $a.d,$a,e,now( ),3 as f,}"), body("match { $a: A } return { $a.b as c, $a.d, $a, e, now(), 3 as f }")},
	{"orderings", "x.gq", body("match{$a:A}return{$a}order{$a.b asc,c desc,count( $a )}"), body("match { $a: A } return { $a } order { $a.b asc, c desc, count($a) }")},
	{"functions", "x.gq", body("match{$a:A}return{sum( $a.b )as s,bm25($a.b,$q)}order{rrf(nearest($a.b,[ 1,2 ]),bm25($a.b,\"x\"),60)}"),
		body("match { $a: A } return { sum($a.b) as s, bm25($a.b, $q) } order { rrf(nearest($a.b, [1, 2]), bm25($a.b, \"x\"), 60) }")},
	{"literals", "x.gq", read("1=-2 1.5=-0.25 true=false date( \"2024-01-01\" )=datetime( \"2024-01-01T00:00:00Z\" ) [ ]=[ 1,[ \"a\" ] ]"),
		read("1 = -2 1.5 = -0.25 true = false date(\"2024-01-01\") = datetime(\"2024-01-01T00:00:00Z\") [] = [1, [\"a\"]]")},
	{"operators", "x.gq", body("match{$a:A $a.b-1>$c*( 2+$d )( $a.b )=1}return{$a.b -1 as c,( -1 )*$a.b % 3/2 as d}"),
		body("match { $a: A $a.b - 1 > $c * (2 + $d) ($a.b) = 1 } return { $a.b - 1 as c, (-1) * $a.b % 3 / 2 as d }")},
	{"comparison", "x.gq", body("match{$a:A}return{if( $a.b>1 ,\"x\",( $a.c contains( \"y\"+$d ) ))as c}"),
		body("match { $a: A } return { if($a.b > 1, \"x\", ($a.c contains (\"y\" + $d))) as c }")},
	{"blocks as values", "x.gq", body("match{$a:A(exists{$a b{ 1,2 }$c})=$a.d $a.b in( $x )}return{exists{$a b $c not{$c d $_}}as c,if( any{$a.b is null $a.c=1},1,2 )as d}order{not{$a b $_}desc}"),
		body("match { $a: A (exists { $a b{1,2} $c }) = $a.d $a.b in ($x) } return { exists { $a b $c not { $c d $_ } } as c, if(any { $a.b is null $a.c = 1 }, 1, 2) as d } order { not { $a b $_ } desc }")},
	{"insert new", "x.gq", body("$n=insert  new A{a:1}insert new B{new:$new}"), body("$n = insert new A { a: 1 } insert new B { new: $new }")},
	{"upsert", "x.gq", body("$n=upsert A{a:a+1}update B set{c:1}where from=A(\"k\",$x)and to in $l return{$n.id as i}"), body("$n = upsert A { a: a + 1 } update B set { c: 1 } where from = A(\"k\", $x) and to in $l return { $n.id as i }")},
	{"match block", "x.gq", body("match{$p:P}order{$p.a desc}limit 3{delete A where a=$p.a insert B{b:$p.b}}"), "query q() {\n  match { $p: P } order { $p.a desc } limit 3 {\n    delete A where a = $p.a\n    insert B { b: $p.b }\n  }\n}"},
	{"list block", "x.gq", body("for $x in $l{insert A{a:$x}}"), "query q() {\n  for $x in $l {\n    insert A { a: $x }\n  }\n}"},
	{"subqueries", "x.gq", body("match{$a:A count{$a b $c}>1}return{sum{$a b $c return $c.d+( 1 )}as s count{$a b $c optional{$c d $e}return  distinct $c.f}as n,first{$a $e:b $c return{$e.d as on,$c}order{$e.d desc}}as latest,latest.on as on collect{$a b $c return{$c.d as d count{$c b $g}as k}order{d,$c.f desc}limit 3}as list}order{latest . on desc}"),
		body("match { $a: A count { $a b $c } > 1 } return { sum { $a b $c return $c.d + (1) } as s, count { $a b $c optional { $c d $e } return distinct $c.f } as n, first { $a $e:b $c return { $e.d as on, $c } order { $e.d desc } } as latest, latest.on as on, collect { $a b $c return { $c.d as d, count { $c b $g } as k } order { d, $c.f desc } limit 3 } as list } order { latest.on desc }")},
	{"insert", "x.gq", body("insert A{a:1 b:$b,c:now( )d:[ ],}insert B{ }"), body("insert A { a: 1, b: $b, c: now(), d: [] } insert B {}")},
	{"update", "x.gq", body("update A set{a:1 b:2}where c!=\"x\""), body("update A set { a: 1, b: 2 } where c != \"x\"")},
	{"delete", "x.gq", body("delete A where a<=now( )delete B where from=$x"), body("delete A where a <= now() delete B where from = $x")},
}

func body(text string) string { return "query q() { " + text + " }" }

func read(clauses string) string { return body("match { " + clauses + " } return { $a }") }

// TestProductions formats each production on one line, and with a line break after every opening
// bracket.
func TestProductions(t *testing.T) {
	for _, p := range productions {
		t.Run(p.name, func(t *testing.T) {
			for _, text := range []string{p.cramped, p.want} {
				got, ok := checkFormat(t, p.file, text)
				if len(p.want) > format.Width && !strings.Contains(p.want, "\n") {
					got = strings.Join(strings.Fields(got), " ") + "\n"
				}
				if !ok || got != p.want+"\n" {
					t.Errorf("%s\nparsed: %v\ngot\n%swant\n%s", text, ok, got, p.want)
				}
			}
			for _, brackets := range []string{"{", "(", "[", "{(["} {
				broken := p.want
				for _, b := range brackets {
					broken = strings.ReplaceAll(broken, string(b), string(b)+"\n")
				}
				if _, ok := checkFormat(t, p.file, broken); !ok {
					t.Errorf("does not parse:\n%s", broken)
				}
			}
		})
	}
}

// TestEveryProduction checks that the table covers everything that package syntax can represent.
func TestEveryProduction(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range productions {
		if p.file == "x.pg" {
			tree, _ := syntax.ParseSchema(p.file, p.cramped)
			nodes(reflect.ValueOf(tree), seen)
		} else {
			tree, _ := syntax.ParseQueries(p.file, p.cramped)
			nodes(reflect.ValueOf(tree), seen)
		}
	}
	declared := 0
	paths, err := filepath.Glob("../../../../internal/gq/syntax/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || !embedsRange(spec.Type) {
				return true
			}
			declared++
			if !seen[spec.Name.Name] {
				t.Errorf("no production of the table holds a %s", spec.Name.Name)
			}
			return true
		})
	}
	if declared < 30 {
		t.Errorf("found %d kinds of node, too few for the test", declared)
	}
}

func embedsRange(typ ast.Expr) bool {
	s, ok := typ.(*ast.StructType)
	if !ok {
		return false
	}
	for _, f := range s.Fields.List {
		if id, ok := f.Type.(*ast.Ident); ok && len(f.Names) == 0 && id.Name == "Range" {
			return true
		}
	}
	return false
}

// nodes collects the names of the struct types that v contains.
func nodes(v reflect.Value, seen map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			nodes(v.Elem(), seen)
		}
	case reflect.Slice:
		for i := range v.Len() {
			nodes(v.Index(i), seen)
		}
	case reflect.Struct:
		seen[v.Type().Name()] = true
		for i := range v.NumField() {
			nodes(v.Field(i), seen)
		}
	}
}
