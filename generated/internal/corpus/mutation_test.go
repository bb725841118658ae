package corpus_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/generated/internal/corpus"
	transport "github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// runMutations runs the mutations that name, select or repeat what they write.
func runMutations(s *session) {
	once := tool.With(engine.WriteOptions{IdempotencyKey: "befriend"})
	var rows [2]corpus.BefriendRow
	for i := range rows { // the second call repeats the idempotency key
		row, change, err := corpus.Befriend(s.ctx, s.g, corpus.BefriendParams{Slug: "eve", Friend: "ada", How: corpus.KnowsHowSchool}, once)
		s.wrote("befriend", 1, 1)(change, err)
		rows[i] = row
	}
	row := rows[0]
	if row.Person.Slug != "eve" || row.Person.Status != corpus.PersonStatusActive || row.Age != 21 || row.How != corpus.KnowsHowSchool || row.Friend != "ada" || row.Letters != 3 || len(row.Knows) != 26 {
		s.t.Errorf("befriend returns %+v", row)
	}
	if !reflect.DeepEqual(rows[0], rows[1]) {
		s.t.Errorf("a repeated call returns %+v, the first one %+v", rows[1], rows[0])
	}
	s.wrote("add_people", 2, 2)(corpus.AddPeople(s.ctx, s.g, corpus.AddPeopleParams{Slugs: []string{"fay", "gus"}, Status: corpus.PersonStatusGone}))
	s.wrote("grow", 2, 2)(corpus.Grow(s.ctx, s.g, corpus.GrowParams{Status: corpus.PersonStatusGone}))
	s.wrote("meet_people", 4, 4)(corpus.MeetPeople(s.ctx, s.g, corpus.MeetPeopleParams{
		Person: "eve",
		Met:    []corpus.MeetPeopleParamsMet{{Slug: "hal", On: day("2026-01-02")}, {Slug: "ida", Age: ptr(int64(41)), On: day("2026-01-03")}},
		Gone:   []corpus.MeetPeopleParamsGone{{Slug: "hal"}, {Slug: "ida"}},
	}))
	s.wrote("reintroduce", 0, 1)(corpus.Reintroduce(s.ctx, s.g, corpus.ReintroduceParams{From: "eve", Tos: []string{"ada", "bob"}, How: corpus.KnowsHowWork}))
	raw := sample().Raw
	s.wrote("set_raw", 1, 0)(corpus.SetRaw(s.ctx, s.g, corpus.SetRawParams{Text: sample().Text, Raw: &raw}))
}

// returnedRow is the row that the query befriend returns over REST, and returnedArray the same over MCP.
var returnedRow = regexp.MustCompile(`"affected_nodes":1,"affected_edges":1,.*"rows":\[\{"person":\{"id":"zoe",.*"knows":"[0-9A-Z]{26}","how":"work","friend":"zoe","letters":"?3"?\}\]`)
var returnedArray = regexp.MustCompile(`"affected_nodes":1,"affected_edges":1,.*"columns":\["person","age","knows","how","friend","letters"\],"rows":\[\[\{"id":"zoe",.*,21,"[0-9A-Z]{26}","work","zoe","?3"?\]\]`)

// TestReturnedRowOverREST calls a mutation that returns a row over REST.
func TestReturnedRowOverREST(t *testing.T) {
	server := httptest.NewServer(asTester(rest.Handler(map[string]*servedgraph.Graph{"corpus": served(t, 0)}, rest.Options{})))
	defer server.Close()
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	resp, err := http.Post(server.URL+"/graphs/corpus/queries/befriend", "application/json", strings.NewReader(`{"params":{"slug":"zoe","friend":"zoe","how":"work"}}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || !returnedRow.Match(body) {
		t.Errorf("%d %v\n%s", resp.StatusCode, err, body)
	}
}

// TestReturnedRowThroughAClient calls the mutation with the Go SDK's client. The structured content must match the schema
// of the tool.
func TestReturnedRowThroughAClient(t *testing.T) {
	server := httptest.NewServer(asTester(transport.Handler(served(t, 1000), transport.Options{})))
	defer server.Close()
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "0"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: server.URL, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	promised := outputSchema(t, client, "befriend")
	args := map[string]any{"params": map[string]any{"slug": "zoe", "friend": "zoe", "how": "work"}}
	res, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "befriend", Arguments: args})
	if err != nil || res.IsError {
		t.Fatalf("%+v, %v", res, err)
	}
	if err := promised.Validate(res.StructuredContent); err != nil {
		t.Error(err)
	}
	if text := res.Content[0].(*mcp.TextContent).Text; !returnedArray.MatchString(text) {
		t.Error(text)
	}
}

// meeting is the argument `params` of a call of meet_people. Its records leave the optional field out, set it to
// null, and give it. metEffect is a part of the answer: three persons are saved and one of them is deleted, and
// the same for their edges. The query whoMet then has the rows met.
const (
	meeting   = `{"person":"ada","met":[{"slug":"hal","on":"2026-01-02"},{"slug":"ida","age":null,"on":"2026-01-03"},{"slug":"jon","age":%s,"on":"2026-01-04"}],"gone":[{"slug":"hal"}]}`
	metEffect = `"affected_nodes":4,"affected_edges":4,`
	met       = `"rows":[{"slug":"ida","age":18,"since":"2026-01-03"},{"slug":"jon","age":41,"since":"2026-01-04"}]`
	whoMet    = `{"query":"query q() { match { $p: Person { slug: \"ada\" }  $p $k:knows $q } return { $q.slug as slug, $q.age as age, $k.since as since } order { slug } limit 9 }"}`
)

// TestRecordsOverREST calls a mutation with lists of records over REST, and then with records that have faults.
func TestRecordsOverREST(t *testing.T) {
	server := httptest.NewServer(asTester(rest.Handler(map[string]*servedgraph.Graph{"corpus": served(t, 0)}, rest.Options{})))
	defer server.Close()
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	post := func(path, body string) string {
		resp, err := http.Post(server.URL+"/graphs/corpus"+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.Status + " " + string(answer)
	}
	for _, tt := range []struct{ params, want string }{
		{fmt.Sprintf(meeting, "41"), metEffect},
		{`{"person":"ada","met":[{"slug":"kim","on":"2026-01-02"},{"slug":"lou"}]}`, "met[1].on"},
		{`{"person":"ada","met":[{"slug":"kim","on":"2026-01-02","agee":3}]}`, "did you mean age?"},
		{`{"person":"ada","met":{"slug":"kim","on":"2026-01-02"}}`, "met"},
		{`{"person":"ada","met":[null]}`, "met[0]"},
	} {
		got := post("/queries/meet_people", `{"params":`+tt.params+`}`)
		if ok := strings.HasPrefix(got, "200"); ok != (tt.want == metEffect) || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %s", tt.params, got, tt.want)
		}
	}
	if got := post("/query", whoMet); !strings.Contains(got, met) {
		t.Errorf("ada met %s, want %s", got, met)
	}
}

// TestRecordsThroughAClient calls the mutation with the Go SDK's client. A 64-bit integer in a record is a string, as
// the input schema of the tool says.
func TestRecordsThroughAClient(t *testing.T) {
	server := httptest.NewServer(asTester(transport.Handler(served(t, 1000), transport.Options{})))
	defer server.Close()
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "0"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: server.URL, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	promised := outputSchema(t, client, "meet_people")
	args := map[string]any{"params": json.RawMessage(fmt.Sprintf(meeting, `"41"`))}
	res, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "meet_people", Arguments: args})
	if err != nil || res.IsError {
		t.Fatalf("%+v, %v", res, err)
	}
	if err := promised.Validate(res.StructuredContent); err != nil {
		t.Error(err)
	}
	if text := res.Content[0].(*mcp.TextContent).Text; !strings.Contains(text, metEffect) {
		t.Error(text)
	}
}
