package corpus_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/engine/embedded"
	"github.com/omnigraph-go/omnigraph/generated/internal/corpus"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

var noon = time.Date(2024, 6, 1, 12, 0, 0, 0, time.UTC)

// openGraph returns an empty graph with the schema of the corpus. Its clock always shows noon.
func openGraph(t *testing.T) engine.Graph {
	t.Helper()
	text, err := os.ReadFile("../../../codegen/testdata/corpus/schema.pg")
	if err != nil {
		t.Fatal(err)
	}
	schema, diags := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: string(text)})
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	g, err := embedded.Create(context.Background(), fs.NewMem(), "graph", string(text), schema, embedded.Options{Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// session runs the queries of the corpus on a graph and records their names.
type session struct {
	t      *testing.T
	ctx    context.Context
	g      tool.Graph   // what the functions run on
	stored engine.Graph // the graph with the data
	ran    map[string]bool
}

// wrote checks the number of nodes and edges that a mutation changed.
func (s *session) wrote(query string, nodes, edges int64) func(engine.Change, error) {
	return func(c engine.Change, err error) {
		s.t.Helper()
		s.ran[query] = true
		if err != nil || c.Nodes != nodes || c.Edges != edges {
			s.t.Errorf("%s: found %d nodes, %d edges, %v; expected %d and %d", query, c.Nodes, c.Edges, err, nodes, edges)
		}
	}
}

// found checks the rows of a read, as JSON with one row a line.
func found[R any](s *session, query, want string) func([]R, error) {
	return func(rows []R, err error) {
		s.t.Helper()
		s.ran[query] = true
		if err != nil {
			s.t.Errorf("%s: %v", query, err)
			return
		}
		lines := make([]string, len(rows))
		for i, r := range rows {
			b, err := json.Marshal(r)
			if err != nil {
				s.t.Fatal(err)
			}
			lines[i] = string(b)
		}
		if diff := cmp.Diff(strings.Split(want, "\n"), lines); diff != "" {
			s.t.Errorf("%s: expected (-), found (+)\n%s", query, diff)
		}
	}
}

func ptr[T any](v T) *T { return &v }

// sample returns the parameters of a sample with values of all types that are hard to transmit.
func sample() corpus.AddSampleParams {
	return corpus.AddSampleParams{
		Text: "exact phrase of a qubit", Flag: true, Small: -1 << 31, Big: 9e18, Count: 1<<32 - 1, Wide: 1<<64 - 2, Single: 0.5, Double: 2.25,
		Day: day("2020-03-01"), Instant: instant("2024-05-01T12:30:00Z"), Vec: [3]float32{1, 0, 0.5},
		Texts: []string{"x", "ü"}, Flags: []bool{true, false}, Smalls: []int32{-1}, Bigs: []int64{-1 << 63}, Counts: []uint32{3},
		Wides: []uint64{1<<64 - 1}, Singles: []float32{0.25}, Doubles: []float64{-0.125}, Days: []value.DateValue{day("1969-12-31")},
		Instants: []time.Time{instant("1969-12-31T23:59:59.999999Z")},
		Vec0:     &[3]float32{0, 1, 0}, Texts0: []string{}, Days0: []value.DateValue{day("2020-02-29")},
	}
}

func day(s string) value.DateValue {
	d, err := value.ParseDate(s)
	if err != nil {
		panic(err)
	}
	return d
}

func instant(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return t
}

const sampleRow = `"exact phrase of a qubit"`

// TestRun runs every query of the corpus on an embedded graph, and on such a graph over the network,
// and compares the values with the same expectations.
func TestRun(t *testing.T) {
	t.Run("embedded", func(t *testing.T) {
		g := openGraph(t)
		runAll(t, g, g)
	})
	t.Run("over the network", func(t *testing.T) {
		g := openGraph(t)
		runAll(t, g, overNetwork(t, g))
	})
}

// overNetwork serves a graph over HTTP, and returns the graph that a client of the server has.
func overNetwork(t *testing.T, g engine.Graph) *client.TypedGraph {
	t.Helper()
	served, err := servedgraph.NewGraph(t.Context(), servedgraph.Config{
		ID: "corpus", Graph: g, Catalog: corpus.Catalog(), Authorizer: policy.Unrestricted("corpus"), Version: "1",
		Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return noon },
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(asTester(rest.Handler(map[string]*servedgraph.Graph{"corpus": served}, rest.Options{})))
	t.Cleanup(server.Close)
	c, err := client.New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c.Graph("corpus").Typed()
}

// runAll runs every query with the functions of the package on g. The graph with the data is stored.
func runAll(t *testing.T, stored engine.Graph, g tool.Graph) {
	s := &session{t: t, ctx: context.Background(), g: g, stored: stored, ran: map[string]bool{}}
	ctx := s.ctx

	s.wrote("put_person", 1, 0)(corpus.PutPerson(ctx, g, corpus.PutPersonParams{
		Slug: "bob", Name: "Bob", Status: corpus.PersonStatusOnLeave, Mood: ptr(corpus.PersonMoodBad), Age: 25, Email: ptr("bob@example.org"),
	}))
	s.wrote("put_seen_person", 1, 0)(corpus.PutSeenPerson(ctx, g, corpus.PutSeenPersonParams{Slug: "ada"}))
	s.wrote("add_sample", 1, 0)(corpus.AddSample(ctx, g, sample()))
	s.wrote("introduce", 0, 1)(corpus.Introduce(ctx, g, corpus.IntroduceParams{From: "bob", To: "ada", How: corpus.KnowsHowWork}))
	s.wrote("adopt", 2, 1)(corpus.Adopt(ctx, g, corpus.AdoptParams{Slug: "nova", Friend: "ada"}))

	// The engine makes the id of a sample.
	all, err := corpus.ByScalars(ctx, g, params(sample()))
	if err != nil || len(all) != 1 {
		t.Fatalf("found %d samples, %v", len(all), err)
	}
	found[corpus.ByScalarsRow](s, "by_scalars", `{"s.text":`+sampleRow+`,"s.flag":true,"s.small":-2147483648,"s.big":9000000000000000000,"s.count":4294967295,`+
		`"s.wide":18446744073709551614,"s.single":0.5,"s.double":2.25,"s.day":"2020-03-01","s.instant":"2024-05-01T12:30:00Z","s.vec":[1,0,0.5],`+
		`"s.texts":["x","ü"],"s.flags":[true,false],"s.smalls":[-1],"s.bigs":[-9223372036854775808],"s.counts":[3],"s.wides":[18446744073709551615],`+
		`"s.singles":[0.25],"s.doubles":[-0.125],"s.days":["1969-12-31"],"s.instants":["1969-12-31T23:59:59.999999Z"]}`)(all, nil)

	const nulls = `{"s.text0":null,"s.flag0":null,"s.small0":null,"s.big0":null,"s.count0":null,"s.wide0":null,"s.single0":null,"s.double0":null,` +
		`"s.day0":null,"s.instant0":null,"s.vec0":[0,1,0],"s.texts0":[],"s.days0":["2020-02-29"]}`
	found[corpus.ByOptionalScalarsRow](s, "by_optional_scalars", nulls)(corpus.ByOptionalScalars(ctx, g, corpus.ByOptionalScalarsParams{}))
	s.wrote("set_optional", 1, 0)(corpus.SetOptional(ctx, g, corpus.SetOptionalParams{
		Text: sample().Text, Text0: ptr("t"), Flag0: ptr(false), Small0: ptr(int32(-7)), Big0: ptr(int64(1 << 60)), Count0: ptr(uint32(7)),
		Wide0: ptr(uint64(1 << 63)), Single0: ptr(float32(1.5)), Double0: ptr(-2.5), Day0: ptr(day("2024-02-29")), Instant0: ptr(instant("2024-02-29T01:02:03.004Z")),
	}))
	found[corpus.ByOptionalScalarsRow](s, "by_optional_scalars", `{"s.text0":"t","s.flag0":false,"s.small0":-7,"s.big0":1152921504606846976,"s.count0":7,`+
		`"s.wide0":9223372036854775808,"s.single0":1.5,"s.double0":-2.5,"s.day0":"2024-02-29","s.instant0":"2024-02-29T01:02:03.004Z",`+
		`"s.vec0":null,"s.texts0":[],"s.days0":["2020-02-29"]}`)(corpus.ByOptionalScalars(ctx, g, corpus.ByOptionalScalarsParams{
		Text: ptr(sample().Text), Flag: ptr(true), Small: ptr(sample().Small), Big: ptr(sample().Big), Count: ptr(sample().Count), Wide: ptr(sample().Wide),
		Single: ptr(sample().Single), Double: ptr(sample().Double), Day: ptr(sample().Day), Instant: ptr(sample().Instant),
	}))

	s.wrote("set_lists", 1, 0)(corpus.SetLists(ctx, g, corpus.SetListsParams{
		Text: sample().Text, Texts0: []string{"a"}, Flags0: []bool{false}, Smalls0: []int32{1, 2}, Bigs0: []int64{3}, Counts0: []uint32{4}, Wides0: []uint64{5},
		Singles0: []float32{6.5}, Doubles0: []float64{7.5}, Instants0: []time.Time{time.UnixMilli(8)},
	}))
	found[corpus.ListsRow](s, "lists", `{"s.texts0":["a"],"s.flags0":[false],"s.smalls0":[1,2],"s.bigs0":[3],"s.counts0":[4],"s.wides0":[5],`+
		`"s.singles0":[6.5],"s.doubles0":[7.5],"s.days0":null,"s.instants0":["1970-01-01T00:00:00.008Z"]}`)(corpus.Lists(ctx, g, corpus.ListsParams{Has: "ü"}))

	id := sampleID(s)
	s.wrote("own", 0, 1)(corpus.Own(ctx, g, corpus.OwnParams{Person: "nova", Sample: id}))
	rows, err := corpus.WholeNodes(ctx, g, corpus.WholeNodesParams{Status: corpus.PersonStatusActive})
	s.ran["whole_nodes"] = true
	if err != nil || len(rows) != 1 || rows[0].P != (corpus.WholeNodesRowP{ID: "nova", Name: "Nova", Slug: "nova", Status: corpus.PersonStatusActive, Age: 1}) ||
		rows[0].UserID != "nova" || string(rows[0].Sample.ID) != id || rows[0].Sample.Wide != 1<<64-2 || *rows[0].Sample.Text0 != "t" || rows[0].Sample.Days0 != nil {
		t.Errorf("whole_nodes: found %+v, %v", rows, err)
	}

	edges, err := corpus.Edges(ctx, g, corpus.EdgesParams{How: corpus.KnowsHowSchool})
	s.ran["edges"] = true
	if err != nil || len(edges) != 1 || edges[0].From != "ada" || edges[0].To != "nova" || edges[0].How != corpus.KnowsHowSchool || *edges[0].Since != day("2024-02-29") || edges[0].Edge == "" {
		t.Errorf("edges: found %+v, %v", edges, err)
	}
	if edges, err = corpus.Edges(ctx, g, corpus.EdgesParams{How: corpus.KnowsHowSchool, Since: ptr(day("2024-03-01"))}); err != nil || len(edges) != 0 {
		t.Errorf("edges after the date: found %+v, %v", edges, err)
	}
	found[corpus.EdgeEndsRow](s, "edge_ends", `{"source":"bob","target":"ada","seen":"2024-06-01T12:00:00Z","mood":"good"}`)(
		corpus.EdgeEnds(ctx, g, corpus.EdgeEndsParams{From: "bob"}))
	found[corpus.GroupsRow](s, "groups", `{"status":"active","samples":1,"total":-2147483648,"mean":2.25,"first":"2020-03-01","biggest":9000000000000000000,"best":null}`)(
		corpus.Groups(ctx, g, corpus.GroupsParams{}))
	found[corpus.BestRow](s, "best", `{"mood":"bad","seen":null,"age":25,"people":1}`)(corpus.Best(ctx, g, corpus.BestParams{Mood: ptr(corpus.PersonMoodBad)}))

	texts, err := corpus.FindText(ctx, g, corpus.FindTextParams{Words: "qubit"})
	s.ran["find_text"] = true
	if err != nil || len(texts) != 1 || texts[0].Text != sample().Text || texts[0].Score <= 0 {
		t.Errorf("find_text: found %+v, %v", texts, err)
	}
	found[corpus.NearRow](s, "near", `{"text":`+sampleRow+`}`)(corpus.Near(ctx, g, corpus.NearParams{Vec: [3]float32{1, 0, 0}, Words: "phrase"}))
	found[corpus.HitsRow](s, "hits", `{"text":`+sampleRow+`,"hit":true}`)(corpus.Hits(ctx, g, corpus.HitsParams{Words: "qubit"}))
	found[corpus.NotThereRow](s, "not_there", `{"slug":"bob"}`+"\n"+`{"slug":"nova"}`)(
		corpus.NotThere(ctx, g, corpus.NotThereParams{Status: "active", Other: "gone"}))

	// Of the people that bob reaches and knows, only ann is active and has an A.
	s.wrote("introduce", 0, 1)(corpus.Introduce(ctx, g, corpus.IntroduceParams{From: "nova", To: "bob", How: corpus.KnowsHowSchool}))
	s.wrote("put_person", 1, 0)(corpus.PutPerson(ctx, g, corpus.PutPersonParams{Slug: "ann", Name: "Ann", Status: corpus.PersonStatusActive, Age: 2}))
	s.wrote("introduce", 0, 1)(corpus.Introduce(ctx, g, corpus.IntroduceParams{From: "bob", To: "ann", How: corpus.KnowsHowSchool}))
	found[corpus.WalkRow](s, "walk", `{"b.slug":"ann","status":"active","b.mood":null}`)(corpus.Walk(ctx, g, corpus.WalkParams{Slug: "bob"}))

	found[corpus.AcquaintancesRow](s, "acquaintances", `{"slug":"ada"}`+"\n"+`{"slug":"ann"}`)(corpus.Acquaintances(ctx, g, corpus.AcquaintancesParams{Who: "bob"}))

	// No edge from school leads to ada.
	found[corpus.TruthsRow](s, "truths", `{"slug":"ada","knows_someone":true,"unknown":true,"named":false,"silent":true,"shift":"first"}`+"\n"+
		`{"slug":"ann","knows_someone":false,"unknown":false,"named":true,"silent":true,"shift":"second"}`+"\n"+
		`{"slug":"bob","knows_someone":true,"unknown":false,"named":false,"silent":false,"shift":"second"}`+"\n"+
		`{"slug":"nova","knows_someone":true,"unknown":false,"named":true,"silent":true,"shift":"second"}`)(
		corpus.Truths(ctx, g, corpus.TruthsParams{Names: []string{"ann", "nova"}, How: ptr("school")}))

	// The first call leaves every optional condition out: bob knows somebody above 30, ann and nova have no
	// mood. Of the two active people, the second call keeps the one with an acquaintance from school.
	found[corpus.ConditionsRow](s, "conditions", `{"p.slug":"ann"}`+"\n"+`{"p.slug":"bob"}`+"\n"+`{"p.slug":"nova"}`)(
		corpus.Conditions(ctx, g, corpus.ConditionsParams{Pattern: "^z"}))
	found[corpus.ConditionsRow](s, "conditions", `{"p.slug":"nova"}`)(
		corpus.Conditions(ctx, g, corpus.ConditionsParams{Statuses: []string{"active"}, Pattern: "o", Email: ptr("x"), How: ptr("school")}))

	runOptional(s)
	runWalks(s)
	runInterfaces(s)
	runEnds(s)
	runColumns(s)
	runHaving(s)
	runSubqueries(s)

	s.wrote("age_all", 2, 0)(corpus.AgeAll(ctx, g, corpus.AgeAllParams{Age: 30, Status: corpus.PersonStatusActive}))
	found[corpus.BestRow](s, "best", `{"mood":"good","seen":"2024-06-01T12:00:00Z","age":32,"people":3}`)(corpus.Best(ctx, g, corpus.BestParams{Mood: ptr(corpus.PersonMoodGood)}))
	s.wrote("part", 0, 2)(corpus.Part(ctx, g, corpus.PartParams{From: "bob"}))
	s.wrote("remove_person", 1, 3)(corpus.RemovePerson(ctx, g, corpus.RemovePersonParams{Slug: "nova"}))
	if _, err := corpus.PutPerson(ctx, g, corpus.PutPersonParams{Slug: "eve", Name: "Eve", Status: corpus.PersonStatusGone, Age: 151}); err == nil {
		t.Error("a person of 151 years was put")
	}

	s.wrote("put_computed", 2, 0)(corpus.PutComputed(ctx, g, corpus.PutComputedParams{Slug: " ZOE ", Age: 33}))
	found[corpus.ComputedRow](s, "computed", `{"shout":"ada!","doubled":72,"quarter":9,"address":"none","bracket":"other","cheerful":true,"before":"2024-05-31T12:00:00Z","kind":"Person"}`+"\n"+
		`{"shout":"zoe!","doubled":132,"quarter":16.5,"address":"none","bracket":"senior","cheerful":false,"before":"2024-05-30T03:00:00Z","kind":"Person"}`+"\n"+
		`{"shout":"bob!","doubled":50,"quarter":6.25,"address":"bob@example.org","bracket":"other","cheerful":false,"before":null,"kind":"Person"}`+"\n"+
		`{"shout":"ann!","doubled":60,"quarter":7.5,"address":"none","bracket":"other","cheerful":true,"before":null,"kind":"Person"}`)(corpus.Computed(ctx, g, corpus.ComputedParams{Days: 1, Suffix: ptr("x")}))
	found[corpus.ComputedGroupsRow](s, "computed_groups", `{"decade":3,"people":2,"mean":33}`+"\n"+
		`{"decade":2,"people":1,"mean":25}`+"\n"+`{"decade":6,"people":1,"mean":66}`)(corpus.ComputedGroups(ctx, g, corpus.ComputedGroupsParams{}))
	if _, err := corpus.PutComputed(ctx, g, corpus.PutComputedParams{Slug: "max", Age: 1<<31 - 1}); err == nil {
		t.Error("a person of 2147483648 years was put")
	}
	runAnnotated(s)
	runMutations(s)
	runCallers(s)

	for _, q := range corpus.Catalog().Queries {
		if name := q.Info().Name; !s.ran[name] {
			t.Errorf("the query %s does not run here", name)
		}
	}
}

// params returns the parameters that find a sample by all its scalars.
func params(p corpus.AddSampleParams) corpus.ByScalarsParams {
	return corpus.ByScalarsParams{
		Text: p.Text, Flag: p.Flag, Small: p.Small, Big: p.Big, Count: p.Count, Wide: p.Wide, Single: p.Single,
		Double: p.Double, Day: p.Day + 1, Instant: p.Instant.Add(time.Millisecond),
	}
}

// sampleID returns the id of the only sample in an export.
func sampleID(s *session) string {
	s.t.Helper()
	var out strings.Builder
	if _, err := s.stored.Export(s.ctx, &out, engine.Target{}, engine.ExportOptions{}); err != nil {
		s.t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		var e struct {
			Type string
			Data struct{ ID string }
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			s.t.Fatal(err)
		}
		if e.Type == "Sample" {
			return e.Data.ID
		}
	}
	s.t.Fatalf("no sample in\n%s", out.String())
	return ""
}
