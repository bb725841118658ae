package corpus_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/generated/internal/corpus"
	"github.com/omnigraph-go/omnigraph/gq"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/naive"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	transport "github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/metatools"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
)

// everyKind has a value of every kind, with integers at the limits of their range. The floats
// 0.75, 1.75 and 2.75 stand for NaN and the infinities, which JSON numbers cannot represent; see
// strange.
const everyKind = `{"type":"Person","data":{"slug":"ada","name":"Ada","status":"on-leave","age":36}}
{"type":"Sample","data":{"id":"full","text":"a\"<é>","flag":true,"small":-2147483648,"big":9000000000000000000,"count":4294967295,"wide":18446744073709551615,"single":0.1,"double":0.75,
"day":"1815-12-10","instant":"2024-05-01T12:30:00.5Z","vec":[0.5,-1,2],"texts":["x",""],"flags":[true,false],"smalls":[-1],"bigs":[9007199254740991,9007199254740992,-9007199254740991,-9007199254740992],
"counts":[0],"wides":[9007199254740991,9007199254740992],"singles":[0.5,2.75],"doubles":[1e300,0.75,1.75,2.75],"days":["2024-02-29"],"instants":["1970-01-01T00:00:00Z"],
"text0":"t","flag0":false,"small0":7,"big0":-9007199254740993,"count0":7,"wide0":9007199254740993,"single0":1.75,"double0":2.75,"day0":"0001-01-01","instant0":"1969-12-31T23:59:59.999999Z","raw":"base64:Af8=","vec0":[1,2,3],"texts0":[],"days0":["9999-12-31"],"flags0":null,"smalls0":null,"bigs0":null,"counts0":null,"wides0":null,"singles0":null,"doubles0":null,"instants0":null,"span":"-P1DT0.50S","spans":["PT90M"],"price":"-1.5","prices":["12","0.01"]}}
{"type":"Sample","data":{"id":"null","text":"","flag":false,"small":2147483647,"big":1,"count":0,"wide":0,"single":-0.5,"double":1e100,"day":"1970-01-01","instant":"1970-01-01T00:00:00Z","vec":[0,0,0],
"texts":[],"flags":[],"smalls":[],"bigs":[],"counts":[],"wides":[],"singles":[],"doubles":[],"days":[],"instants":[]}}
{"edge":"Owns","from":"ada","to":"full"}
{"edge":"Owns","from":"ada","to":"null"}
`

// rows are the rows of people-and-samples for a reader with 64-bit numbers. A whole node does
// not include its blobs.
const rows = `[{"p":{"id":"ada","name":"Ada","slug":"ada","status":"on-leave","mood":null,"age":36,"email":null,"seen":null},"sample":{"id":"full","text":"a\"<é>","flag":true,"small":-2147483648,"big":9000000000000000000,"count":4294967295,"wide":18446744073709551615,"single":0.1,"double":"NaN","day":"1815-12-10","instant":"2024-05-01T12:30:00.500Z","vec":[0.5,-1,2],"texts":["x",""],"flags":[true,false],"smalls":[-1],"bigs":[9007199254740991,9007199254740992,-9007199254740991,-9007199254740992],"counts":[0],"wides":[9007199254740991,9007199254740992],"singles":[0.5,"-Infinity"],"doubles":[1e+300,"NaN","Infinity","-Infinity"],"days":["2024-02-29"],"instants":["1970-01-01T00:00:00.000Z"],"text0":"t","flag0":false,"small0":7,"big0":-9007199254740993,"count0":7,"wide0":9007199254740993,"single0":"Infinity","double0":"-Infinity","day0":"0001-01-01","instant0":"1969-12-31T23:59:59.999999Z","vec0":[1,2,3],"texts0":[],"days0":["9999-12-31"],"flags0":null,"smalls0":null,"bigs0":null,"counts0":null,"wides0":null,"singles0":null,"doubles0":null,"instants0":null,"span":"-PT24H0.5S","spans":["PT1H30M"],"price":"-1.50","prices":["12.00","0.01"]},"user_id":"ada"},` +
	`{"p":{"id":"ada","name":"Ada","slug":"ada","status":"on-leave","mood":null,"age":36,"email":null,"seen":null},"sample":{"id":"null","text":"","flag":false,"small":2147483647,"big":1,"count":0,"wide":0,"single":-0.5,"double":1e+100,"day":"1970-01-01","instant":"1970-01-01T00:00:00.000Z","vec":[0,0,0],"texts":[],"flags":[],"smalls":[],"bigs":[],"counts":[],"wides":[],"singles":[],"doubles":[],"days":[],"instants":[],"text0":null,"flag0":null,"small0":null,"big0":null,"count0":null,"wide0":null,"single0":null,"double0":null,"day0":null,"instant0":null,"vec0":null,"texts0":null,"days0":null,"flags0":null,"smalls0":null,"bigs0":null,"counts0":null,"wides0":null,"singles0":null,"doubles0":null,"instants0":null,"span":null,"spans":null,"price":null,"prices":null},"user_id":"ada"}]`

// forModels replaces the numbers that a reader of doubles would round by the strings that models
// receive.
var forModels = strings.NewReplacer(
	"9000000000000000000", `"9000000000000000000"`, "18446744073709551615", `"18446744073709551615"`,
	"-9007199254740993", `"-9007199254740993"`, "9007199254740993", `"9007199254740993"`,
	"-9007199254740992", `"-9007199254740992"`, "9007199254740992", `"9007199254740992"`,
)

// strange is a graph with results that contain floats that are not finite. Load does not accept
// such floats.
type strange struct{ engine.Graph }

type strangeResult struct{ engine.Result }

func (g strange) Query(ctx context.Context, q *plan.Query, args engine.Args, at engine.Target) (engine.Result, error) {
	r, err := g.Graph.Query(ctx, q, args, at)
	if err != nil {
		return nil, err
	}
	return strangeResult{r}, nil
}

func (r strangeResult) Next(ctx context.Context) (*engine.Batch, error) {
	b, err := r.Result.Next(ctx)
	if b != nil {
		for i := range b.Columns {
			estrange(&b.Columns[i])
		}
	}
	return b, err
}

func estrange(c *engine.Column) {
	for i := range c.Fields {
		estrange(&c.Fields[i])
	}
	for i, f := range c.Floats {
		c.Floats[i] = notFinite(f)
	}
	for i, l := range c.Lists {
		if !c.IsNull(i) && c.Type.Kind.IsFloat() {
			elems := make([]value.Value, len(l.Elems()))
			for j, e := range l.Elems() {
				if elems[j] = value.OfF64(notFinite(e.Float())); c.Type.Kind == value.F32 {
					elems[j] = value.OfF32(float32(notFinite(e.Float())))
				}
			}
			c.Lists[i] = value.OfList(c.Type.Kind, elems)
		}
	}
}

func notFinite(f float64) float64 {
	switch f {
	case 0.75:
		return math.NaN()
	case 1.75:
		return math.Inf(1)
	case 2.75:
		return math.Inf(-1)
	}
	return f
}

// served returns the corpus as a served graph over the data of everyKind.
func served(t *testing.T, threshold int) *servedgraph.Graph {
	t.Helper()
	text, err := os.ReadFile("../../../codegen/testdata/corpus/schema.pg")
	if err != nil {
		t.Fatal(err)
	}
	schema, faults := gq.CompileSchema(gq.Source{Name: "schema.pg", Text: string(text)})
	if err := faults.Err(); err != nil {
		t.Fatal(err)
	}
	g := naive.New(string(text), schema, naive.Sound)
	t.Cleanup(func() { g.Close() })
	lines := strings.ReplaceAll(everyKind, ",\n", ",") // one entity a line
	if _, err := g.Load(t.Context(), strings.NewReader(lines), engine.LoadOptions{Mode: engine.Append}); err != nil {
		t.Fatal(err)
	}
	s, err := servedgraph.NewGraph(t.Context(), servedgraph.Config{
		ID: "corpus", Graph: strange{g}, Catalog: corpus.Catalog(), Authorizer: policy.Unrestricted("corpus"), Version: "1", MetaThreshold: threshold, OutputSchemas: true,
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	if out := s.LeftOut(); len(out) > 0 {
		t.Fatalf("left out: %v", out)
	}
	return s
}

// asTester serves requests as the actor act-test.
func asTester(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(access.WithActor(r.Context(), &access.Actor{ID: "act-test", Groups: []string{"on-leave"}, Source: "test"})))
	})
}

// TestEveryKindThroughAClient reads a value of every kind with the Go SDK's client, in both
// modes. The structured content must match the tool's schema. An integer must be a JSON number
// if its absolute value is below 2^53, and a string otherwise.
func TestEveryKindThroughAClient(t *testing.T) {
	for name, tt := range map[string]struct {
		threshold int
		tool      string
		args      map[string]any
	}{
		"per query": {1000, "people-and-samples", map[string]any{"params": map[string]any{"status": "on-leave"}}},
		"meta":      {1, metatools.RunQuery, map[string]any{"name": "people-and-samples", "params": map[string]any{"status": "on-leave"}}},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(asTester(transport.Handler(served(t, tt.threshold), transport.Options{})))
			defer server.Close()
			defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
			client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "0"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: server.URL, DisableStandaloneSSE: true}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			promised := outputSchema(t, client, tt.tool)
			res, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: tt.tool, Arguments: tt.args})
			if err != nil || res.IsError {
				t.Fatalf("%+v, %v", res, err)
			}
			if err := promised.Validate(res.StructuredContent); err != nil {
				t.Error(err)
			}
			text := res.Content[0].(*mcp.TextContent).Text
			if want := `"rows":` + arrays.Replace(forModels.Replace(rows)) + `,`; !strings.Contains(text, want) {
				t.Errorf("got  %s\nwant %s", text, want)
			}
		})
	}
}

func outputSchema(t *testing.T, client *mcp.ClientSession, name string) *jsonschema.Resolved {
	t.Helper()
	for tool, err := range client.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if tool.Name != name {
			continue
		}
		text, err := json.Marshal(tool.OutputSchema)
		if err != nil {
			t.Fatal(err)
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(text, &schema); err != nil {
			t.Fatal(err)
		}
		resolved, err := schema.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		return resolved
	}
	t.Fatalf("%s is not listed", name)
	return nil
}

// arrays makes the rows arrays.
var arrays = strings.NewReplacer(`{"p":`, `[`, `,"sample":`, `,`, `,"user_id":"ada"}`, `,"ada"]`, `,"user_id":"text"}`, `,"text"]`)

// TestEveryKindOverREST reads the same rows over REST, where all integers are JSON numbers.
func TestEveryKindOverREST(t *testing.T) {
	server := httptest.NewServer(asTester(rest.Handler(map[string]*servedgraph.Graph{"corpus": served(t, 0)}, rest.Options{})))
	defer server.Close()
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	resp, err := http.Post(server.URL+"/graphs/corpus/queries/whole_nodes", "application/json", strings.NewReader(`{"params":{"status":"on-leave"}}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if want := []byte(`"rows":` + rows + `,`); err != nil || !bytes.Contains(body, want) {
		t.Errorf("%d %v\ngot  %s\nwant %s", resp.StatusCode, err, body, want)
	}
}
