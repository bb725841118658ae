package notes_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/notes"
	"github.com/omnigraph-go/omnigraph/internal/slow"
)

const schema = `
interface Named { name: String }
node Person implements Named {
  name: String @key
  mood: enum(good, bad)?
  boss: String?
}
node Seat { row: I32 number: I32 @key(row, number) }
node Event { title: String }
node Page { path: String @key }
node Team implements Named { name: String @key }
node Invoice { number: I32 @key }
node Day { on: Date @key }
edge Knows: Person -> Person { how: enum(work, home)? }
`

const data = `{"type":"Person","data":{"name":"Ada","mood":"good"}}
{"type":"Person","data":{"name":"ada.lovelace"}}
{"type":"Person","data":{"name":"bob"}}
{"type":"Person","data":{"name":"dr-bob"}}
{"type":"Person","data":{"name":"bobby"}}
{"type":"Person","data":{"name":"Bobette"}}
{"type":"Seat","data":{"row":1,"number":2}}
{"type":"Seat","data":{"row":1,"number":19}}
{"type":"Seat","data":{"row":2,"number":9}}
{"type":"Event","data":{"title":"fair"}}
{"type":"Team","data":{"name":"bobsled"}}
{"type":"Invoice","data":{"number":1}}
{"type":"Invoice","data":{"number":2}}
{"type":"Invoice","data":{"number":5}}
{"type":"Invoice","data":{"number":7}}
{"type":"Invoice","data":{"number":8}}
{"type":"Day","data":{"on":"2024-05-01"}}
`

// open returns a graph with the constant data and with the given pages.
func open(t testing.TB, pages ...string) engine.Graph {
	t.Helper()
	compiled, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: schema})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	g, err := embedded.OpenMemory(t.Context(), schema, compiled, embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	var text strings.Builder
	text.WriteString(data)
	for _, p := range pages {
		fmt.Fprintf(&text, `{"type":"Page","data":{"path":%q}}`+"\n", p)
	}
	if _, err := g.Load(t.Context(), strings.NewReader(text.String()), engine.LoadOptions{Mode: engine.Append}); err != nil {
		t.Fatal(err)
	}
	return g
}

// ask runs the body of a query, which must have no rows, and returns the notes.
func ask(t testing.TB, g engine.Graph, params, body string, args ...value.Value) []string {
	t.Helper()
	s, err := g.Schema(t.Context(), engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	queries, faults := gq.CompileQueries(s.Catalog, gq.Source{Name: "q.gq", Text: "query q(" + params + ") { " + body + " }"})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	q := queries[0].Plan
	r, err := g.Query(t.Context(), q, args, engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if b, err := r.Next(t.Context()); b != nil || err != nil {
		t.Fatalf("%s has rows, or an error: %v", body, err)
	}
	return notes.ForEmpty(t.Context(), g, q, args, engine.Target{Commit: r.Commit()})
}

func TestForEmpty(t *testing.T) {
	g := open(t)
	text := value.OfString
	for _, tt := range []struct {
		name, params, body string
		args               []value.Value
		want               []string
	}{
		{name: "case before suffix and prefix", params: "$n: String", body: "match { $p: Person { name: $n } } return { $p.mood }", args: []value.Value{text("ADA")},
			want: []string{`no Person has name "ADA"; near it: "Ada", "ada.lovelace"`}},
		{name: "at most three", body: `match { $p: Person { name: "Bob" } } return { $p.mood }`,
			want: []string{`no Person has name "Bob"; near it: "bob", "dr-bob", "bobby"`}},
		{name: "the text is longer", body: `match { $p: Person { name: "people/Ada" } } return { $p.mood }`,
			want: []string{`no Person has name "people/Ada"; near it: "Ada"`}},
		{name: "nothing near", body: `match { $p: Person { name: "zed" } } return { $p.mood }`, want: []string{`no Person has name "zed"`}},
		{name: "an empty key", body: `match { $p: Person { name: "" } } return { $p.mood }`, want: []string{`no Person has name ""`}},
		{name: "a key of another type", body: `match { $p: Team { name: "bob" } } return { $p.name }`, want: []string{`no Team has name "bob"; it is the id of a Person: ask for a Person instead, or for what its edges reach`}},
		{name: "an id of another type", params: "$n: String", body: `match { $p: Page $p.id = $n } return { $p.path }`, args: []value.Value{text("bobsled")},
			want: []string{`no Page has id "bobsled"; it is the id of a Team: ask for a Team instead, or for what its edges reach`}},
		{name: "by id", body: `match { $p: Person $p.id = "Zed" } return { $p.mood }`, want: []string{`no Person has id "Zed"`}},
		{name: "by an argument that is a node", params: "$n: Named", body: `match { $p: Person $p = $n } return { $p.mood }`, args: []value.Value{plan.OfNode("Person", "Zed")},
			want: []string{`no Person has id "Zed"`}},
		{name: "by an argument of another type", params: "$n: Named", body: `match { $p: Person $p = $n } return { $p.mood }`, args: []value.Value{plan.OfNode("Team", "Ada")}, want: []string{"no Person $p meets the condition, with those before it"}},
		{name: "by an argument that is null", params: "$n: Named?", body: `match { $p: Person $p = $n } return { $p.mood }`, args: []value.Value{value.Null}, want: []string{"no Person $p meets the condition, with those before it"}},
		{name: "by a wrong id of a composite key", params: "$id: String", body: `match { $s: Seat $s.id = $id } return { $s.row }`, args: []value.Value{text("1-9")},
			want: []string{`no Seat has id "1-9"; the id of a Seat is a JSON array of strings, ["<number>","<row>"], with the values of its key`}},
		{name: "by an unknown id of a composite key", body: `match { $s: Seat $s.id = "[\"1\",\"9\"]" } return { $s.row }`,
			want: []string{`no Seat has id "[\"1\",\"9\"]"`}},
		{name: "the key exists", body: `match { $p: Person { name: "bob" } $p knows $q } return { $q.name }`, want: []string{"there is no edge Knows at all"}},
		{name: "a computed key", params: "$n: String", body: `match { $p: Person $p.name = upper(trim($n)) } return { $p.mood }`, args: []value.Value{text(" bob ")},
			want: []string{`no Person has name "BOB"; near it: "bob", "dr-bob", "bobby"`}},
		{name: "a computed key in braces", params: "$n: String", body: `match { $p: Person { name: if($n = "x", "y", $n + "!") } } return { $p.mood }`, args: []value.Value{text("q")},
			want: []string{`no Person has name "q!"`}},
		{name: "a key in an all block", body: `match { $p: Person all { $p.name = "zed" $p.mood is null } } return { $p.mood }`, want: []string{`no Person has name "zed"`}},
		{name: "a key within an expression", body: `match { $p: Person if($p.name = "zed", 1, 2) = 1 } return { $p.mood }`, want: []string{"no Person $p meets the condition on name, with those before it"}},
		{name: "two keys", body: `match { $a: Person { name: "BOB" } $b: Person { name: "x" } $a knows $b } return { $b.name }`,
			want: []string{`no Person has name "BOB"; near it: "bob", "dr-bob", "bobby"`, `no Person has name "x"`}},
		{name: "a key in a not block", body: `match { $p: Person { name: "bob", mood: "bad" } not { $p knows $q $q.name = "nobody" } } return { $p.mood }`, want: []string{"no Person $p meets the condition on mood, with those before it"}},
		{name: "a dropped condition", params: "$n: String?", body: `match { $p: Person $p.name = $n? $p.mood = "bad" } return { $p.mood }`, args: []value.Value{value.Null}, want: []string{"no Person $p meets the condition on mood, with those before it"}},
		{name: "null", params: "$n: String?", body: `match { $p: Person $p.name = $n } return { $p.mood }`, args: []value.Value{value.Null}, want: []string{"no Person $p meets the condition on name, with those before it"}},
		{name: "no variable", body: `match { 3 > 4 } return { 1 as n }`, want: []string{"nothing meets all conditions; leave some of them out to see which one"}},
		{name: "no variable, an argument", params: "$n: I32", body: `match { $n > 4 } return { $n as n }`, args: []value.Value{value.OfI32(3)}, want: []string{"nothing meets all conditions; leave some of them out to see which one"}},
		{name: "another comparison", body: `match { $p: Person $p.name > "zed" } return { $p.mood }`, want: []string{"no Person $p meets the condition on name, with those before it"}},
		{name: "a property that is no key", body: `match { $p: Person { boss: "zed" } } return { $p.mood }`, want: []string{"no Person $p meets the condition on boss, with those before it"}},
		{name: "a key of two", body: `match { $s: Seat { row: 1, number: 9 } } return { $s.row }`, want: []string{`no Seat has number 9 and row 1; near it: (number 19 and row 1), (number 2 and row 1), (number 9 and row 2)`}},
		{name: "a key of two without a near one", body: `match { $s: Seat { row: 7, number: 70 } } return { $s.row }`, want: []string{`no Seat has number 70 and row 7`}},
		{name: "a number", params: "$n: I32", body: `match { $i: Invoice { number: $n } } return { $i.id }`, args: []value.Value{value.OfI32(6)}, want: []string{`no Invoice has number 6; near it: 5, 7, 8`}},
		{name: "a great number", params: "$n: I32", body: `match { $i: Invoice { number: $n } } return { $i.id }`, args: []value.Value{value.OfI32(900)}, want: []string{`no Invoice has number 900; near it: 7, 8`}},
		{name: "a small number", body: `match { $i: Invoice $i.number = 0.5 } return { $i.id }`, want: []string{`no Invoice has number 0.5; near it: 1, 2, 5`}},
		{name: "the id of a number", body: `match { $i: Invoice $i.id = "x" } return { $i.number }`, want: []string{`no Invoice has id "x"`}},
		{name: "a date", body: `match { $d: Day { on: date("2024-04-30") } } return { $d.id }`, want: []string{`no Day has on 2024-04-30; near it: 2024-05-01`}},
		{name: "one of several keys", body: `match { $p: Person $p.name in ["zed", "BOB"] } return { $p.mood }`,
			want: []string{`no Person has name "zed" or "BOB"; near it: "bob", "dr-bob", "bobby"`}},
		{name: "one of many keys", params: "$n: [String]", body: `match { $p: Person $p.name in $n } return { $p.mood }`,
			args: []value.Value{value.OfList(value.String, []value.Value{text("q1"), text("q2"), text("q3"), text("bobb")})}, want: []string{`no Person has name "q1" or "q2" or "q3" or …`}},
		{name: "one of several keys exists", body: `match { $p: Person $p.name in ["zed", "bob"] $p knows $q } return { $p.mood }`, want: []string{"there is no edge Knows at all"}},
		{name: "one of no keys", params: "$n: [String]", body: `match { $p: Person $p.name in $n } return { $p.mood }`, args: []value.Value{value.OfList(value.String, nil)}, want: []string{"no Person $p meets the condition on name, with those before it"}},
		{name: "one of several ids", body: `match { $p: Person $p.id in ["zed", "ADA"] } return { $p.mood }`, want: []string{`no Person has id "zed" or "ADA"; near it: "Ada", "ada.lovelace"`}},
		{name: "one of several numbers", body: `match { $i: Invoice $i.number in [3, 4] } return { $i.id }`, want: []string{`no Invoice has number 3 or 4; near it: 2, 5, 7`}},
		{name: "a variable over an interface", body: `match { $n: Named { name: "BOB" } } return { $n.id }`, want: []string{`no Named has name "BOB"; near it: "bob", "dr-bob", "bobby"`}},
		{name: "an id of an interface", body: `match { $n: Named $n.id = "bobs" } return { $n.name }`, want: []string{`no Named has id "bobs"; near it: "bobsled"`}},
		{name: "a variable over an interface, of a type", body: `match { $n: Named { name: "bobs" } $n.type = "Person" } return { $n.id }`, want: []string{`no Person has name "bobs"`}},
		{name: "a key of one type of an interface", body: `match { $n: Named { name: "bobsled" } $n knows $p } return { $n.id }`, want: []string{"there is no edge Knows at all"}},
		{name: "no type of an interface", body: `match { $n: Named $n.type in ["Persn", "Seat"] } return { $n.id }`,
			want: []string{`no Named has type "Persn" or "Seat"; type is one of Person, Team`}},
		{name: "a node of an interface by an argument", params: "$t: Team", body: `match { $n: Named $n = $t } return { $n.id }`, args: []value.Value{text("bobs")},
			want: []string{`no Team has id "bobs"; near it: "bobsled"`}},
		{name: "a node of an interface by an argument of the interface", params: "$t: Named", body: `match { $n: Named $n = $t } return { $n.id }`, args: []value.Value{plan.OfNode("Team", "ada")},
			want: []string{`no Team has id "ada"`}},
		{name: "an enum value of an edge", body: `match { $p: Person $p $w:knows $q $w.how = "school" } return { $q.name }`,
			want: []string{`no Knows has how "school"; how is one of work, home`}},
		{name: "several enum values", body: `match { $p: Person $p $w:knows $q $w.how in ["school", "Work"] } return { $q.name }`,
			want: []string{`no Knows has how "school" or "Work"; how is one of work, home`}},
		{name: "an enum value and an unknown one", body: `match { $p: Person $p $w:knows $q $w.how in ["school", "work"] } return { $q.name }`, want: []string{"there is no edge Knows at all"}},
		{name: "a part of a key", body: `match { $s: Seat { row: 8 } } return { $s.row }`, want: []string{"no Seat $s meets the condition on row, with those before it"}},
		{name: "an enum value", body: `match { $p: Person $p.mood = "great" } return { $p.name }`,
			want: []string{`no Person has mood "great"; mood is one of good, bad`}},
		{name: "an enum value in an argument", params: "$m: String", body: `match { $p: Person $p.mood = $m } return { $p.name }`, args: []value.Value{text("GOOD")},
			want: []string{`no Person has mood "GOOD"; mood is one of good, bad`}},
		{name: "a long key", params: "$n: String", body: "match { $p: Person { name: $n } } return { $p.mood }", args: []value.Value{text(strings.Repeat("ü", 5000))},
			want: []string{`no Person has name "` + strings.Repeat("ü", 100) + `"…`}},
	} {
		if got := ask(t, g, tt.params, tt.body, tt.args...); !slices.Equal(got, tt.want) {
			t.Errorf("%s: found %q, expected %q", tt.name, got, tt.want)
		}
	}
}

// TestFirstWithout reads without a row although every key exists.
func TestFirstWithout(t *testing.T) {
	g := open(t)
	edges := `{"edge":"Knows","from":"Ada","to":"bob","data":{"how":"work"}}` + "\n" + `{"edge":"Knows","from":"bob","to":"bobby"}`
	if _, err := g.Load(t.Context(), strings.NewReader(edges), engine.LoadOptions{Mode: engine.Append}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ body, want string }{
		{`match { $p: Person { name: "bobby" } $p knows $q } return { $q.name }`, "no edge Knows leads from Person $p to Person $q, with the conditions before it"},
		{`match { $p: Person { name: "Ada" } $p knows $q $q.mood = "bad" } return { $q.name }`, "no Person $q meets the condition on mood, with those before it"},
		{`match { $p: Person { name: "Ada" } $p $w:knows $q $w.how = "home" } return { $q.name }`, "no Knows $w meets the condition on how, with those before it"},
		{`match { $p: Person { name: "Ada" } not { $p knows $q } } return { $p.name }`, "all that the match finds has a match of the not block, which leaves it out"},
		{`match { $p: Person search($p.name, "nobody") } return { $p.name }`, "no Person $p meets the search in name, with those before it"},
		{`match { $p: Person { name: "Ada" } any { $p.mood = "bad" $p.boss = "x" } } return { $p.name }`, "nothing meets all conditions; leave some of them out to see which one"},
		{`match { $p: Person optional { $p knows $q } } return { $p.name as name, count($q) as n } having { n > 5 }`, "the match has rows, but none of them meets the conditions on the returned columns"},
		{`match { $p: Person { name: "Ada" } $p knows{1,1} $q $q.name = "bobby" } return { $q.name }`, "no Person $q meets the condition on name, with those before it"},
	} {
		if got := ask(t, g, "", tt.body); len(got) != 1 || got[0] != tt.want {
			t.Errorf("%s: found %q, expected %q", tt.body, got, tt.want)
		}
	}
}

// TestNearInLargeTypes checks which keys a note suggests in a type with more nodes than a note
// compares: keys that end with the text, begin with it, or differ from it in case.
func TestNearInLargeTypes(t *testing.T) {
	var pages []string
	for i := range 3000 {
		pages = append(pages, fmt.Sprintf("example.com/site%d/engine.Page%d.Title", i%7, i))
	}
	g := open(t, pages...)
	for wanted, near := range map[string]string{
		"engine.Page2999.Title":                   `"example.com/site3/engine.Page2999.Title"`,
		"Page2999.Title":                          `"example.com/site3/engine.Page2999.Title"`,
		"ENGINE.page2999.title":                   `"example.com/site3/engine.Page2999.Title"`,
		"example.com/site3/engine.Page2999":       `"example.com/site3/engine.Page2999.Title"`,
		"example.com/site3/ENGINE.Page2999.Title": `"example.com/site3/engine.Page2999.Title"`,
		"Nothing.Like.It":                         "",
	} {
		want := fmt.Sprintf("no Page has path %q", wanted)
		if near != "" {
			want += "; near it: " + near
		}
		got := ask(t, g, "$p: String", "match { $x: Page { path: $p } } return { $x.path }", value.OfString(wanted))
		if len(got) != 1 || got[0] != want {
			t.Errorf("found %q, expected %q", got, want)
		}
	}
}

// TestNearInVeryLargeTypes checks which keys a note suggests in a type with more nodes than the engine ranks.
func TestNearInVeryLargeTypes(t *testing.T) {
	slow.Test(t)
	pages := make([]string, 100_001)
	for i := range pages {
		pages[i] = fmt.Sprintf("example.com/site%d/engine.Page%d.Title", i%7, i)
	}
	g := open(t, pages...)
	const found = `; near it: "example.com/site4/engine.Page99999.Title"`
	for wanted, near := range map[string]string{
		"engine.Page99999.Title":                           found,
		"Page99999.Title":                                  found,
		"example.com/site4/engine.Page99999":               found,
		"Example.com/site4/engine.Page99999.Title":         found,
		"https://example.com/site4/engine.Page99999.Title": found,
		"example.com/site4/engine.Page99999.Title#top":     found,
		"Nothing.Like.It":                                  "",
	} {
		want := []string{fmt.Sprintf("no Page has path %q", wanted) + near}
		if got := ask(t, g, "$p: String", "match { $x: Page { path: $p } } return { $x.path }", value.OfString(wanted)); !slices.Equal(got, want) {
			t.Errorf("found %q, expected %q", got, want)
		}
	}
}

// TestFailedNote makes the read for a note fail. The answer must then have no note.
func TestFailedNote(t *testing.T) {
	g := open(t)
	s, err := g.Schema(t.Context(), engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	queries, _ := gq.CompileQueries(s.Catalog, gq.Source{Name: "q.gq", Text: `query q() { match { $p: Person { name: "zed" } } return { $p.mood } }`})
	head, err := g.Snapshot(t.Context(), engine.Target{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		ctx    context.Context
		commit string
		want   int
	}{{t.Context(), head.Commit.ID, 1}, {t.Context(), "no commit", 0}, {ctx, head.Commit.ID, 0}} {
		if got := notes.ForEmpty(tt.ctx, g, queries[0].Plan, nil, engine.Target{Commit: tt.commit}); len(got) != tt.want {
			t.Errorf("at %q, context %v: %q, expected %d notes", tt.commit, tt.ctx.Err(), got, tt.want)
		}
	}
}

func TestForIdle(t *testing.T) {
	g := open(t)
	text := value.OfString
	for _, tt := range []struct {
		params, body string
		args         []value.Value
		want         []string
	}{
		{"$n: String", `update Person set { mood: "bad" } where name = $n`, []value.Value{text("Bob")}, []string{`no Person has name "Bob"; near it: "bob", "dr-bob", "bobby"`}},
		{"", `delete Team where id = "bob"`, nil, []string{`no Team has id "bob"; it is the id of a Person: ask for a Person instead, or for what its edges reach`}},
		{"", `delete Person where boss = "zed"`, nil, []string{"no Person meets the conditions of the delete; run them as a read, with fewer of them, to see what does"}},
		{"", `update Person set { mood: "good" } where mood = "bad"`, nil, []string{"no Person meets the conditions of the update; run them as a read, with fewer of them, to see what does"}},
		{"", `delete Knows where from = "Ada"`, nil, []string{"no Knows meets the conditions of the delete; run them as a read, with fewer of them, to see what does"}},
		{"$n: String", `match { $p: Person { name: $n } } { update Person set { mood: "good" } where name = $p.name }`, []value.Value{text("Bob")}, []string{`no Person has name "Bob"; near it: "bob", "dr-bob", "bobby"`}},
		{"", `match { $p: Person $p.boss = "zed" } { update Person set { mood: "good" } where name = $p.name }`, nil,
			[]string{"the match has no row for which its statements find anything; run the match as a read to see its rows"}},
		{"$all: [String]", `for $n in $all { update Person set { mood: "bad" } where name = $n }`, []value.Value{value.OfList(value.String, []value.Value{text("zed")})},
			[]string{"the list has no element for which its statements find anything"}},
		{"", `delete Team where name = "zed" delete Person where boss = "zed"`, nil,
			[]string{`no Team has name "zed"`, "no Person meets the conditions of the delete; run them as a read, with fewer of them, to see what does"}},
	} {
		s, err := g.Schema(t.Context(), engine.Target{})
		if err != nil {
			t.Fatal(err)
		}
		queries, faults := gq.CompileQueries(s.Catalog, gq.Source{Name: "q.gq", Text: "query q(" + tt.params + ") { " + tt.body + " }"})
		if err := faults.Err(); err != nil {
			t.Errorf("%s: %v", tt.body, err)
			continue
		}
		c, err := g.Mutate(t.Context(), queries[0].Plan, tt.args, engine.WriteOptions{})
		if err != nil || c.Nodes+c.Edges > 0 {
			t.Errorf("%s: %+v, %v", tt.body, c, err)
		}
		if got := notes.ForIdle(t.Context(), g, queries[0].Plan, tt.args, engine.Target{}); !slices.Equal(got, tt.want) {
			t.Errorf("%s:\n got %q\nwant %q", tt.body, got, tt.want)
		}
	}
}

// TestForEmptyValid checks that the note on a read about a time considers only what is valid then.
func TestForEmptyValid(t *testing.T) {
	const text = "node Stay @valid(since, until) { slug: String @key since: Date until: Date? place: String }"
	compiled, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: text})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	g, err := embedded.OpenMemory(t.Context(), text, compiled, embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	lines := `{"type":"Stay","data":{"slug":"a","since":"2026-03-01","until":"2026-03-05","place":"Rome"}}`
	if _, err := g.Load(t.Context(), strings.NewReader(lines), engine.LoadOptions{Mode: engine.Append}); err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]string{
		`match valid at date("2026-04-01") { $s: Stay } return { $s.place, count($s) as n } having { n > 0 }`:                         "of what is valid then: nothing meets all conditions; leave some of them out to see which one",
		`match valid at date("2026-04-01") { $s: Stay not { $s.place = "Rome" } } return { $s.slug }`:                                 "of what is valid then: nothing meets all conditions; leave some of them out to see which one",
		`match valid at date("2026-03-02") { $s: Stay not { $s.place = "Rome" } } return { $s.slug }`:                                 "of what is valid then: all that the match finds has a match of the not block, which leaves it out",
		`match valid during date("2026-03-02"), date("2026-03-03") { $s: Stay } return { $s.place, count($s) as n } having { n > 1 }`: "of what is valid then: the match has rows, but none of them meets the conditions on the returned columns",
	} {
		if got := ask(t, g, "", body); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q, expected %q", body, got, want)
		}
	}
}
