package corpus_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/generated/internal/corpus"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/jsonschema"
	"github.com/omnigraph-go/omnigraph/internal/jsonschema/schematest"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// paramTypes and rowTypes map each query to its generated struct types.
var paramTypes = map[string]reflect.Type{
	"by_scalars":          reflect.TypeFor[corpus.ByScalarsParams](),
	"by_optional_scalars": reflect.TypeFor[corpus.ByOptionalScalarsParams](),
	"whole_nodes":         reflect.TypeFor[corpus.WholeNodesParams](),
	"walk":                reflect.TypeFor[corpus.WalkParams](),
	"edges":               reflect.TypeFor[corpus.EdgesParams](),
	"groups":              reflect.TypeFor[corpus.GroupsParams](),
	"find_text":           reflect.TypeFor[corpus.FindTextParams](),
	"near":                reflect.TypeFor[corpus.NearParams](),
	"not_there":           reflect.TypeFor[corpus.NotThereParams](),
	"put_person":          reflect.TypeFor[corpus.PutPersonParams](),
	"put_seen_person":     reflect.TypeFor[corpus.PutSeenPersonParams](),
	"add_sample":          reflect.TypeFor[corpus.AddSampleParams](),
	"introduce":           reflect.TypeFor[corpus.IntroduceParams](),
	"age_all":             reflect.TypeFor[corpus.AgeAllParams](),
	"remove_person":       reflect.TypeFor[corpus.RemovePersonParams](),
	"part":                reflect.TypeFor[corpus.PartParams](),
	"lists":               reflect.TypeFor[corpus.ListsParams](),
	"edge_ends":           reflect.TypeFor[corpus.EdgeEndsParams](),
	"hits":                reflect.TypeFor[corpus.HitsParams](),
	"best":                reflect.TypeFor[corpus.BestParams](),
	"computed":            reflect.TypeFor[corpus.ComputedParams](),
	"computed_groups":     reflect.TypeFor[corpus.ComputedGroupsParams](),
	"put_computed":        reflect.TypeFor[corpus.PutComputedParams](),
	"adopt":               reflect.TypeFor[corpus.AdoptParams](),
	"befriend":            reflect.TypeFor[corpus.BefriendParams](),
	"grow":                reflect.TypeFor[corpus.GrowParams](),
	"add_people":          reflect.TypeFor[corpus.AddPeopleParams](),
	"meet_people":         reflect.TypeFor[corpus.MeetPeopleParams](),
	"reintroduce":         reflect.TypeFor[corpus.ReintroduceParams](),
	"set_raw":             reflect.TypeFor[corpus.SetRawParams](),
	"set_lists":           reflect.TypeFor[corpus.SetListsParams](),
	"set_optional":        reflect.TypeFor[corpus.SetOptionalParams](),
	"own":                 reflect.TypeFor[corpus.OwnParams](),
	"annotated":           reflect.TypeFor[corpus.AnnotatedParams](),
	"put_default_person":  reflect.TypeFor[corpus.PutDefaultPersonParams](),
	"conditions":          reflect.TypeFor[corpus.ConditionsParams](),
	"truths":              reflect.TypeFor[corpus.TruthsParams](),
	"acquaintances":       reflect.TypeFor[corpus.AcquaintancesParams](),
	"known_samples":       reflect.TypeFor[corpus.KnownSamplesParams](),
	"ways":                reflect.TypeFor[corpus.WaysParams](),
	"sample_ways":         reflect.TypeFor[corpus.SampleWaysParams](),
	"named":               reflect.TypeFor[corpus.NamedParams](),
	"named_lists":         reflect.TypeFor[corpus.NamedListsParams](),
	"named_people":        reflect.TypeFor[corpus.NamedPeopleParams](),
	"named_as":            reflect.TypeFor[corpus.NamedAsParams](),
	"named_person":        reflect.TypeFor[corpus.NamedPersonParams](),
	"likes":               reflect.TypeFor[corpus.LikesParams](),
	"liked_by":            reflect.TypeFor[corpus.LikedByParams](),
	"likes_of_all":        reflect.TypeFor[corpus.LikesOfAllParams](),
	"likes_collected":     reflect.TypeFor[corpus.LikesCollectedParams](),
	"liked_once":          reflect.TypeFor[corpus.LikedOnceParams](),
	"my_friends":          reflect.TypeFor[corpus.MyFriendsParams](),
	"greet":               reflect.TypeFor[corpus.GreetParams](),
	"liked_places":        reflect.TypeFor[corpus.LikedPlacesParams](),
	"like":                reflect.TypeFor[corpus.LikeParams](),
	"like_people":         reflect.TypeFor[corpus.LikePeopleParams](),
	"like_named":          reflect.TypeFor[corpus.LikeNamedParams](),
	"forget":              reflect.TypeFor[corpus.ForgetParams](),
	"age_named":           reflect.TypeFor[corpus.AgeNamedParams](),
	"optional_friends":    reflect.TypeFor[corpus.OptionalFriendsParams](),
	"optional_counts":     reflect.TypeFor[corpus.OptionalCountsParams](),
	"distinct_moods":      reflect.TypeFor[corpus.DistinctMoodsParams](),
	"collected":           reflect.TypeFor[corpus.CollectedParams](),
	"popular":             reflect.TypeFor[corpus.PopularParams](),
	"friend_totals":       reflect.TypeFor[corpus.FriendTotalsParams](), "friend_lists": reflect.TypeFor[corpus.FriendListsParams](),
}

var rowTypes = map[string]reflect.Type{
	"by_scalars":          reflect.TypeFor[corpus.ByScalarsRow](),
	"by_optional_scalars": reflect.TypeFor[corpus.ByOptionalScalarsRow](),
	"whole_nodes":         reflect.TypeFor[corpus.WholeNodesRow](),
	"walk":                reflect.TypeFor[corpus.WalkRow](),
	"edges":               reflect.TypeFor[corpus.EdgesRow](),
	"groups":              reflect.TypeFor[corpus.GroupsRow](),
	"find_text":           reflect.TypeFor[corpus.FindTextRow](),
	"near":                reflect.TypeFor[corpus.NearRow](),
	"not_there":           reflect.TypeFor[corpus.NotThereRow](),
	"lists":               reflect.TypeFor[corpus.ListsRow](),
	"edge_ends":           reflect.TypeFor[corpus.EdgeEndsRow](),
	"hits":                reflect.TypeFor[corpus.HitsRow](),
	"best":                reflect.TypeFor[corpus.BestRow](),
	"annotated":           reflect.TypeFor[corpus.AnnotatedRow](),
	"conditions":          reflect.TypeFor[corpus.ConditionsRow](),
	"optional_friends":    reflect.TypeFor[corpus.OptionalFriendsRow](),
	"optional_counts":     reflect.TypeFor[corpus.OptionalCountsRow](),
	"distinct_moods":      reflect.TypeFor[corpus.DistinctMoodsRow](),
	"collected":           reflect.TypeFor[corpus.CollectedRow](),
	"popular":             reflect.TypeFor[corpus.PopularRow](),
	"friend_totals":       reflect.TypeFor[corpus.FriendTotalsRow](), "friend_lists": reflect.TypeFor[corpus.FriendListsRow](),
	"computed":        reflect.TypeFor[corpus.ComputedRow](),
	"computed_groups": reflect.TypeFor[corpus.ComputedGroupsRow](),
	"truths":          reflect.TypeFor[corpus.TruthsRow](),
	"acquaintances":   reflect.TypeFor[corpus.AcquaintancesRow](),
	"befriend":        reflect.TypeFor[corpus.BefriendRow](),
	"known_samples":   reflect.TypeFor[corpus.KnownSamplesRow](),
	"ways":            reflect.TypeFor[corpus.WaysRow](),
	"sample_ways":     reflect.TypeFor[corpus.SampleWaysRow](),
	"named":           reflect.TypeFor[corpus.NamedRow](),
	"named_lists":     reflect.TypeFor[corpus.NamedListsRow](),
	"named_people":    reflect.TypeFor[corpus.NamedPeopleRow](),
	"named_as":        reflect.TypeFor[corpus.NamedAsRow](),
	"named_person":    reflect.TypeFor[corpus.NamedPersonRow](),
	"likes":           reflect.TypeFor[corpus.LikesRow](),
	"liked_by":        reflect.TypeFor[corpus.LikedByRow](),
	"likes_of_all":    reflect.TypeFor[corpus.LikesOfAllRow](),
	"likes_collected": reflect.TypeFor[corpus.LikesCollectedRow](),
	"liked_once":      reflect.TypeFor[corpus.LikedOnceRow](),
	"my_friends":      reflect.TypeFor[corpus.MyFriendsRow](),
	"liked_places":    reflect.TypeFor[corpus.LikedPlacesRow](),
	"like":            reflect.TypeFor[corpus.LikeRow](),
}

func query(t *testing.T, name string) tool.StoredQuery {
	t.Helper()
	for _, q := range corpus.Catalog().Queries {
		if q.Info().Name == name {
			return q
		}
	}
	t.Fatalf("the catalog has no query %s", name)
	return nil
}

// TestServedSchemas compares the served schemas with the schemas of the compiled structs. The
// generator made the served schemas before the structs existed.
func TestServedSchemas(t *testing.T) {
	queries := corpus.Catalog().Queries
	if len(queries) != len(paramTypes) {
		t.Errorf("found %d queries, expected %d", len(queries), len(paramTypes))
	}
	for _, q := range queries {
		name, d := q.Info().Name, q.Descriptor()
		params := described(paramTypes[name], q.Info().ParamDocs)
		wantIn, wantOut := jsonschema.MutationInput(params), jsonschema.MutationOutput()
		if row := rowTypes[name]; q.Info().Mutation && row != nil {
			wantOut = jsonschema.MutationRowOutput(row)
		}
		if !q.Info().Mutation {
			wantIn, wantOut = jsonschema.ReadInput(params), jsonschema.ReadOutput(rowTypes[name])
		}
		if string(d.InputSchema) != string(wantIn) {
			t.Errorf("%s: input schema\n%s\nof the struct\n%s", name, d.InputSchema, wantIn)
		}
		if string(d.OutputSchema) != string(wantOut) {
			t.Errorf("%s: output schema\n%s\nof the struct\n%s", name, d.OutputSchema, wantOut)
		}
		if err := schematest.CheckInput(d.InputSchema); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := schematest.CheckOutput(d.OutputSchema); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// described returns a struct type with descriptions of its fields. Generated structs have them as comments.
func described(t reflect.Type, docs []string) reflect.Type {
	var fields []reflect.StructField
	for f := range t.Fields() {
		if doc := docs[len(fields)]; doc != "" {
			f.Tag += reflect.StructTag(" jsonschema_description:" + strconv.Quote(doc))
		}
		fields = append(fields, f)
	}
	return reflect.StructOf(fields)
}

// TestPlans compares the compiled plans with the plans of the sources.
func TestPlans(t *testing.T) {
	const dir = "../../../codegen/testdata/corpus/"
	source := func(name string) gq.Source {
		b, err := os.ReadFile(dir + name)
		if err != nil {
			t.Fatal(err)
		}
		return gq.Source{Name: name, Text: string(b)}
	}
	schema, diags := gq.CompileSchema(source("schema.pg"))
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	queries, diags := gq.CompileQueries(schema, source("reads.gq"), source("writes.gq"), source("expressions.gq"), source("optional.gq"), source("columns.gq"), source("having.gq"), source("walks.gq"), source("interfaces.gq"), source("mutations.gq"), source("subqueries.gq"), source("ends.gq"), source("callers.gq"))
	if err := diags.Err(); err != nil {
		t.Fatal(err)
	}
	catalog := corpus.Catalog()
	if len(queries) != len(catalog.Queries) {
		t.Fatalf("found %d queries, expected %d", len(catalog.Queries), len(queries))
	}
	for i, q := range queries {
		if got := catalog.Queries[i].Plan(); !reflect.DeepEqual(got, q.Plan) {
			t.Errorf("the plan of %s is\n%+v\nwanted\n%+v", q.Plan.Name, got, q.Plan)
		}
	}
}
func TestRows(t *testing.T) {
	ctx, at := context.Background(), tool.On("b")
	tests := []struct {
		name string
		call func(*graph) (any, error)
		want string
	}{
		{"by_scalars", func(g *graph) (any, error) { return corpus.ByScalars(ctx, g, corpus.ByScalarsParams{}, at) },
			`{"s.text":"text","s.flag":true,"s.small":1,"s.big":1,"s.count":1,"s.wide":1,"s.single":1.5,"s.double":1.5,` +
				`"s.day":"1970-01-02","s.instant":"1970-01-01T00:00:00.000001Z","s.vec":[1,2,3],"s.texts":["text","text"],"s.flags":[true,true],` +
				`"s.smalls":[1,1],"s.bigs":[1,1],"s.counts":[1,1],"s.wides":[1,1],"s.singles":[1.5,1.5],"s.doubles":[1.5,1.5],` +
				`"s.days":["1970-01-02","1970-01-02"],"s.instants":["1970-01-01T00:00:00.000001Z","1970-01-01T00:00:00.000001Z"]}`},
		{"by_optional_scalars", func(g *graph) (any, error) {
			return corpus.ByOptionalScalars(ctx, g, corpus.ByOptionalScalarsParams{}, at)
		},
			`{"s.text0":"text","s.flag0":true,"s.small0":1,"s.big0":1,"s.count0":1,"s.wide0":1,"s.single0":1.5,"s.double0":1.5,` +
				`"s.day0":"1970-01-02","s.instant0":"1970-01-01T00:00:00.000001Z","s.vec0":[1,2,3],"s.texts0":["text","text"],` +
				`"s.days0":["1970-01-02","1970-01-02"]}` + "\n" +
				`{"s.text0":null,"s.flag0":null,"s.small0":null,"s.big0":null,"s.count0":null,"s.wide0":null,"s.single0":null,"s.double0":null,` +
				`"s.day0":null,"s.instant0":null,"s.vec0":null,"s.texts0":null,"s.days0":null}`},
		{"edges", func(g *graph) (any, error) { return corpus.Edges(ctx, g, corpus.EdgesParams{}, at) },
			`{"from":"text","to":"text","how":"work","since":"1970-01-02","edge":"text"}` + "\n" +
				`{"from":"text","to":"text","how":"work","since":null,"edge":"text"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := &graph{}
			rows, err := tt.call(g)
			if err != nil {
				t.Fatal(err)
			}
			b, err := json.Marshal(rows)
			if err != nil {
				t.Fatal(err)
			}
			var each []json.RawMessage
			if err := json.Unmarshal(b, &each); err != nil {
				t.Fatal(err)
			}
			want := strings.Split(tt.want, "\n")
			for i, w := range want {
				if string(each[i]) != w {
					t.Errorf("row %d\nis     %s\nwanted %s", i, each[i], w)
				}
			}
			if len(each) != 2 || g.closed != 1 || g.at != (engine.Target{Branch: "b"}) || g.plan != query(t, tt.name).Plan() {
				t.Errorf("found %d rows, closed %d times, at %v, plan %s", len(each), g.closed, g.at, g.plan.Name)
			}
		})
	}
}

func TestWholeNodes(t *testing.T) {
	g := &graph{}
	rows, err := corpus.WholeNodes(context.Background(), g, corpus.WholeNodesParams{Status: corpus.PersonStatusOnLeave})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 2 || rows[0].P.Status != corpus.PersonStatusActive || *rows[0].P.Mood != corpus.PersonMoodGood ||
		rows[0].Sample.ID != "text" || rows[0].UserID != "text" || rows[1].P.Mood != nil || rows[1].Sample.Vec0 != nil {
		t.Errorf("found %+v", rows)
	}
	if len(g.args) != 2 || g.args[0].Str() != "on-leave" || !g.args[1].IsNull() {
		t.Errorf("found the arguments %v", g.args)
	}
}

// TestInstants passes instants that a DateTime cannot hold. The call must fail before it reaches the graph.
func TestInstants(t *testing.T) {
	for at, want := range map[time.Time]string{
		time.Unix(0, 1): "keeps microseconds", time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC): "outside the years 0001 to 9999",
	} {
		g := &graph{}
		var bad *engine.BadArgument
		if _, err := corpus.AddSample(t.Context(), g, corpus.AddSampleParams{Instant: at}); !errors.As(err, &bad) || bad.Param != "instant" || !strings.Contains(bad.Detail, want) || g.plan != nil {
			t.Errorf("%s: found %v, expected %s", at, err, want)
		}
		if _, err := corpus.AddSample(t.Context(), g, corpus.AddSampleParams{Instants: []time.Time{at}}); !errors.As(err, &bad) || bad.Param != "instants" || g.plan != nil {
			t.Errorf("%s in a list: found %v", at, err)
		}
	}
}

// TestOptions checks what the engine gets from the options of a call. The later option counts.
func TestOptions(t *testing.T) {
	for _, tt := range []struct {
		opts []tool.ReadOption
		want engine.Target
	}{
		{nil, engine.Target{}},
		{[]tool.ReadOption{tool.On("b")}, engine.Target{Branch: "b"}},
		{[]tool.ReadOption{tool.At(engine.Target{Commit: "c"})}, engine.Target{Commit: "c"}},
		{[]tool.ReadOption{tool.At(engine.Target{AtLeast: "c"}), tool.On("b")}, engine.Target{Branch: "b", AtLeast: "c"}},
	} {
		g := &graph{}
		if _, err := corpus.Groups(t.Context(), g, corpus.GroupsParams{}, tt.opts...); err != nil || g.at != tt.want {
			t.Errorf("%v: read at %v, %v; expected %v", tt.opts, g.at, err, tt.want)
		}
	}
	for _, tt := range []struct {
		opts []tool.WriteOption
		want engine.WriteOptions
	}{
		{nil, engine.WriteOptions{}},
		{[]tool.WriteOption{tool.With(engine.WriteOptions{Actor: "a", DryRun: true}), tool.On("b")}, engine.WriteOptions{Branch: "b", Actor: "a", DryRun: true}},
		{[]tool.WriteOption{tool.On("b"), tool.With(engine.WriteOptions{Actor: "a"})}, engine.WriteOptions{Actor: "a"}},
	} {
		g := &graph{}
		if _, err := corpus.Part(t.Context(), g, corpus.PartParams{From: "ada"}, tt.opts...); err != nil || !reflect.DeepEqual(g.opts, tt.want) {
			t.Errorf("%v: wrote with %+v, %v; expected %+v", tt.opts, g.opts, err, tt.want)
		}
	}
}

func TestReadFails(t *testing.T) {
	for failAt := 1; failAt <= 3; failAt++ {
		g := &graph{failAt: failAt}
		rows, err := corpus.Groups(context.Background(), g, corpus.GroupsParams{})
		if !errors.Is(err, errBroken) || rows != nil || g.closed != 1 {
			t.Errorf("failing at %d: found %v, %v, closed %d times", failAt, rows, err, g.closed)
		}
	}
}

const sampleJSON = `{
	"text": "t", "flag": true, "small": -1, "big": "-9223372036854775808", "count": 2, "wide": "18446744073709551615",
	"single": 0.5, "double": 2.25, "day": "2020-02-29", "instant": "2024-05-01T12:30:00.5Z", "raw": "AQI=", "vec": [1, 2, 3],
	"texts": ["a"], "flags": [false], "smalls": [1], "bigs": ["2"], "counts": [3], "wides": ["4"],
	"singles": [0.25], "doubles": [0.125], "days": ["1970-01-02"], "instants": ["1970-01-01T00:00:00Z"]
	%s
}`

// TestArguments decodes JSON into arguments and compares them with the arguments that the typed
// function makes.
func TestArguments(t *testing.T) {
	day, _ := value.ParseDate("2020-02-29")
	typed := corpus.AddSampleParams{
		Text: "t", Flag: true, Small: -1, Big: -1 << 63, Count: 2, Wide: 1<<64 - 1, Single: 0.5, Double: 2.25, Day: day, Instant: instant("2024-05-01T12:30:00.5Z"),
		Raw: value.BlobValue{1, 2}, Vec: [3]float32{1, 2, 3}, Texts: []string{"a"}, Flags: []bool{false}, Smalls: []int32{1},
		Bigs: []int64{2}, Counts: []uint32{3}, Wides: []uint64{4}, Singles: []float32{0.25}, Doubles: []float64{0.125},
		Days: []value.DateValue{1}, Instants: []time.Time{time.Unix(0, 0)},
	}
	full := typed
	full.Raw0, full.Vec0, full.Texts0, full.Days0 = &value.BlobValue{3}, &[3]float32{4, 5, 6}, []string{}, []value.DateValue{day}
	tests := []struct {
		name, more string
		params     corpus.AddSampleParams
	}{
		{"optional left out", ``, typed},
		{"optional null", `, "raw0": null, "vec0": null, "texts0": null, "days0": null`, typed},
		{"optional given", `, "raw0": "Aw==", "vec0": [4, 5, 6], "texts0": [], "days0": ["2020-02-29"]`, full},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := &graph{}
			change, err := corpus.AddSample(context.Background(), g, tt.params, tool.With(engine.WriteOptions{Branch: "b", Actor: "ada"}))
			if err != nil || change.Nodes != 7 || g.opts.Actor != "ada" || g.opts.Branch != "b" {
				t.Fatalf("found %+v, %v, %+v", change, err, g.opts)
			}
			q := query(t, "add_sample")
			args, err := arguments.Decode(json.RawMessage(strings.Replace(sampleJSON, "%s", tt.more, 1)), q.Params())
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range q.Plan().Params {
				if !value.Equal(args[i], g.args[i]) {
					t.Errorf("$%s: decoded %v, typed %v", p.Name, args[i], g.args[i])
				}
				if !args[i].IsNull() && args[i].Type().String() != p.Type.Required().String() {
					t.Errorf("$%s: found type %s, expected %s", p.Name, args[i].Type(), p.Type)
				}
				if args[i].IsNull() && !p.Type.Nullable {
					t.Errorf("$%s is null", p.Name)
				}
			}
		})
	}
}

func TestArgumentsDoNotAlias(t *testing.T) {
	g, vec := &graph{}, &[3]float32{1, 2, 3}
	if _, err := corpus.AddSample(context.Background(), g, corpus.AddSampleParams{Vec0: vec}); err != nil {
		t.Fatal(err)
	}
	vec[0] = 9
	for i, p := range g.plan.Params {
		if p.Name == "vec0" && g.args[i].Vector()[0] != 1 {
			t.Error("an argument changed with the caller's vector")
		}
	}
}

func TestBadArguments(t *testing.T) {
	tests := []struct{ query, params, path, detail string }{
		{"whole_nodes", `{"status": "gone away"}`, "status", "gone"},
		{"whole_nodes", `{}`, "status", "missing"},
		{"whole_nodes", `{"status": "gone", "modd": "good"}`, "modd", "mood"},
		{"near", `{"vec": [1, 2], "words": "x"}`, "vec", "3"},
		{"add_sample", strings.Replace(strings.Replace(sampleJSON, "%s", "", 1), `"small": -1`, `"small": 3000000000`, 1), "small", "2147483647"},
	}
	for _, tt := range tests {
		_, err := arguments.Decode(json.RawMessage(tt.params), query(t, tt.query).Params())
		var bad *tool.ArgumentError
		if !errors.As(err, &bad) || bad.Path != tt.path || !strings.Contains(bad.Error(), tt.detail) {
			t.Errorf("%s of %s: found %v, expected a fault of %s with %q", tt.params, tt.query, err, tt.path, tt.detail)
		}
	}
}

// TestCall calls a query as a server does: it decodes the envelope, checks the grants and runs
// the plan.
func TestCall(t *testing.T) {
	q := query(t, "whole_nodes")
	if q.Descriptor().Name != "people-and-samples" || q.Descriptor().Title != "People and their samples" {
		t.Errorf("found %+v", q.Descriptor())
	}
	served := queryrun.Tool{StoredQuery: q}
	call, err := served.Decode(json.RawMessage(`{"params": {"status": "gone"}, "branch": "b"}`))
	if err != nil {
		t.Fatal(err)
	}
	if gates := served.Gates(); len(gates) != 2 || gates[0].Action != tool.InvokeQuery || gates[1].Action != tool.Read || len(call.Needs()) != 2 {
		t.Errorf("found the gates %v, the needs %v", served.Gates(), call.Needs())
	}
	g := &graph{}
	out, err := call.Run(context.Background(), &tool.Env{Server: tool.Alone{}, Graph: g})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Read.Result.Close()
	if g.plan != q.Plan() || g.args[0].Str() != "gone" || out.Read.Query != "whole_nodes" {
		t.Errorf("found plan %v, arguments %v, outcome %+v", g.plan.Name, g.args, out.Read)
	}
}

// conditions are the run options that a note mentions if they are null.
var conditions = strings.NewReplacer(`,"idempotency_key":null`, "", `,"if_commit":null`, "")

// TestStrictDecodes sends every query a call that its strict schema allows, with null for the
// optional parameters and run options. It must decode to the same call as without them.
func TestStrictDecodes(t *testing.T) {
	for _, q := range corpus.Catalog().Queries {
		loose, strict := sent(q.Descriptor().InputSchema, false), sent(jsonschema.Strict(q.Descriptor().InputSchema), true)
		if _, err := (queryrun.Tool{StoredQuery: q}).Decode(json.RawMessage(strict)); err != nil {
			t.Errorf("%s of %s: %v", strict, q.Info().Name, err)
		}
		strict = conditions.Replace(strict)
		if err := schematest.CheckStrict(jsonschema.Strict(q.Descriptor().InputSchema)); err != nil {
			t.Errorf("%s: %v", q.Info().Name, err)
		}
		a, err := queryrun.Tool{StoredQuery: q}.Decode(json.RawMessage(loose))
		if err != nil {
			t.Errorf("%s of %s: %v", loose, q.Info().Name, err)
			continue
		}
		b, err := queryrun.Tool{StoredQuery: q}.Decode(json.RawMessage(strict))
		if err != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("%s decodes to %+v, %v; %s to %+v", strict, b, err, loose, a)
		}
		if !strings.Contains(strict, "null") {
			t.Errorf("%s has no null, so it shows nothing", strict)
		}
	}
}

// dateForm is in the description of a date, whose schema has no format.
const dateForm = "date as YYYY-MM-DD"

// itemCount finds the length of a list in the description of a strict schema.
var itemCount = regexp.MustCompile(`[Ee]xactly (\d+) `)

// sent returns a value that a schema describes. If strict is set, optional values are null, and
// otherwise they are left out.
func sent(schema []byte, strict bool) string {
	var s struct {
		Type                         any
		Enum                         []any
		Properties                   map[string]json.RawMessage
		Required                     []string
		Items                        json.RawMessage
		MinItems                     int
		Description, Format, Pattern string
		ContentEncoding              string
		Minimum                      *float64
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		panic(err)
	}
	if types, ok := s.Type.([]any); ok {
		if !strict || types[1] != "null" {
			panic("a type array")
		}
		if _, node := s.Properties["id"]; types[0] != "object" || node {
			return "null"
		}
		s.Type = types[0] // the object with the parameters
	}
	switch s.Type {
	case "object":
		var members []string
		for _, name := range s.Required {
			members = append(members, strconv.Quote(name)+":"+sent(s.Properties[name], strict))
		}
		return "{" + strings.Join(members, ",") + "}"
	case "array":
		n := max(s.MinItems, 1)
		if m := itemCount.FindStringSubmatch(s.Description); m != nil { // a strict schema has no minItems
			n, _ = strconv.Atoi(m[1])
		}
		elems := make([]string, n)
		for i := range elems {
			elems[i] = sent(s.Items, strict)
			if strings.Contains(s.Description, dateForm) {
				elems[i] = `"2024-02-29"`
			}
		}
		return "[" + strings.Join(elems, ",") + "]"
	case "boolean":
		return "true"
	case "integer", "number":
		if s.Minimum != nil && *s.Minimum > 1 { // no strict schema has one
			return strconv.FormatFloat(*s.Minimum, 'g', -1, 64)
		}
		return "1"
	}
	switch {
	case s.Enum != nil:
		return strconv.Quote(s.Enum[0].(string))
	case strings.Contains(s.Description, dateForm):
		return `"2024-02-29"`
	case s.Format == "date-time":
		return `"2024-02-29T01:02:03Z"`
	case s.ContentEncoding != "":
		return `"AQID"`
	case strings.Contains(s.Pattern, "@"):
		return `"a@b"`
	}
	return `"1"`
}

// TestExampleCalls decodes the example calls of the reference page.
func TestExampleCalls(t *testing.T) {
	page, err := os.ReadFile("../../../codegen/testdata/corpus/tools.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, block := range regexp.MustCompile("(?ms)^```json\n(.*?)^```$").FindAllSubmatch(page, -1) {
		var call struct {
			Name      string
			Arguments json.RawMessage
		}
		if err := json.Unmarshal(block[1], &call); err != nil {
			t.Fatalf("%v in %s", err, block[1])
		}
		for _, q := range corpus.Catalog().Queries {
			if q.Descriptor().Name == call.Name {
				found++
				if _, err := (queryrun.Tool{StoredQuery: q}).Decode(call.Arguments); err != nil {
					t.Errorf("%s: %v", block[1], err)
				}
			}
		}
	}
	if want := len(corpus.Catalog().Queries) - 1; found != want { // one query is hidden
		t.Errorf("found %d examples, expected %d", found, want)
	}
}
