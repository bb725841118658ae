package corpus_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/generated/internal/corpus"
	transport "github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
)

// runInterfaces runs the queries with variables over interfaces. It adds a place with the name and the id of persons.
func runInterfaces(s *session) {
	line := `{"type":"Place","data":{"id":"bob","name":"Ann","near":"the sea"}}`
	if _, err := s.stored.Load(s.ctx, strings.NewReader(line), engine.LoadOptions{Mode: engine.Append}); err != nil {
		s.t.Fatal(err)
	}
	found[corpus.NamedRow](s, "named", strings.Join([]string{
		`{"n":{"id":"ann","name":"Ann","type":"Person"},"type":"Person"}`, `{"n":{"id":"bob","name":"Ann","type":"Place"},"type":"Place"}`,
	}, "\n"))(corpus.Named(s.ctx, s.g, corpus.NamedParams{Name: "Ann"}))
	same := func(slug, nodes, n string) string {
		return `{"slug":"` + slug + `","same":[` + nodes + `],"each":[` + nodes + `],"n":` + n + `}`
	}
	found[corpus.NamedListsRow](s, "named_lists", strings.Join([]string{
		same("ada", `{"id":"ada","name":"Ada","type":"Person"}`, "1"),
		same("ann", `{"id":"ann","name":"Ann","type":"Person"},{"id":"bob","name":"Ann","type":"Place"}`, "2"),
		same("bob", `{"id":"bob","name":"Bob","type":"Person"}`, "1"),
		same("nova", `{"id":"nova","name":"Nova","type":"Person"}`, "1"),
	}, "\n"))(corpus.NamedLists(s.ctx, s.g, corpus.NamedListsParams{}))
	found[corpus.NamedPeopleRow](s, "named_people", strings.Join([]string{
		`{"id":"ada","age":36,"type":"Person"}`, `{"id":"ann","age":2,"type":"Person"}`, `{"id":"bob","age":25,"type":"Person"}`, `{"id":"nova","age":1,"type":"Person"}`,
		`{"id":"bob","age":null,"type":"Place"}`,
	}, "\n"))(corpus.NamedPeople(s.ctx, s.g, corpus.NamedPeopleParams{}))
	place := corpus.NamedID{Type: "Place", ID: "bob"}
	found[corpus.NamedAsRow](s, "named_as", `{"type":"Person","id":"ann","same":false}`+"\n"+`{"type":"Place","id":"bob","same":true}`)(
		corpus.NamedAs(s.ctx, s.g, corpus.NamedAsParams{Who: place}))
	found[corpus.NamedAsRow](s, "named_as", `{"type":"Person","id":"ann","same":false}`)(
		corpus.NamedAs(s.ctx, s.g, corpus.NamedAsParams{Who: place, But: &corpus.NamedID{Type: "Place", ID: "bob"}}))
	found[corpus.NamedPersonRow](s, "named_person", `{"slug":"bob"}`)(
		corpus.NamedPerson(s.ctx, s.g, corpus.NamedPersonParams{Who: &corpus.NamedID{Type: "Person", ID: "bob"}}))
	found[corpus.NamedPersonRow](s, "named_person", strings.Join([]string{`{"slug":"ada"}`, `{"slug":"ann"}`, `{"slug":"bob"}`, `{"slug":"nova"}`}, "\n"))(
		corpus.NamedPerson(s.ctx, s.g, corpus.NamedPersonParams{}))
	s.wrote("age_named", 1, 0)(corpus.AgeNamed(s.ctx, s.g, corpus.AgeNamedParams{Who: corpus.NamedID{Type: "Person", ID: "bob"}, Age: 25}))
	s.wrote("age_named", 0, 0)(corpus.AgeNamed(s.ctx, s.g, corpus.AgeNamedParams{Who: corpus.NamedID{Type: "Place", ID: "bob"}, Age: 1}))
}

// TestInterfaceParametersOverREST lists the queries with records among their parameters, and sends arguments that are not nodes of
// an interface.
func TestInterfaceParametersOverREST(t *testing.T) {
	server := httptest.NewServer(asTester(rest.Handler(map[string]*servedgraph.Graph{"corpus": served(t, 0)}, rest.Options{})))
	defer server.Close()
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	at := server.URL + "/graphs/corpus/"
	tests := []struct {
		path, body, want string
		status           int
	}{
		{"queries", "", `{"name":"but","kind":"record","nullable":true,"interface":"Named","description":"Not this one."}`, 200},
		{"queries", "", `{"name":"met","kind":"list","item_kind":"record","nullable":false`, 200},
		{"openapi.json", "", `"The type and the id of a node that implements Named."`, 200},
		{"queries/named_as", `{"params":{"who":{"type":"Person","id":"none"}}}`, `"rows":[]`, 200},
		{"queries/named_person", `{"params":{"who":null}}`, `"rows":[{"slug":"`, 200},
		{"queries/named_as", `{"params":{"who":{"type":"Peson","id":"ann"}}}`, `did you mean Person?`, 400},
		{"queries/named_as", `{"params":{"who":{"type":"Person"}}}`, `params.who.id: missing`, 400},
		{"queries/named_as", `{"params":{"who":"ann"}}`, `expected an object such as { type: enum(Person, Place), id: String }`, 400},
		{"queries/named_as", `{"params":{"who":{"type":"Person","id":"ann","name":"Ann"}}}`, `there is no such field`, 400},
		{"queries/named_as", `{"params":{}}`, `params.who`, 400},
	}
	for _, tt := range tests {
		ask := func() (*http.Response, error) { return http.Get(at + tt.path) }
		if tt.body != "" {
			ask = func() (*http.Response, error) {
				return http.Post(at+tt.path, "application/json", strings.NewReader(tt.body))
			}
		}
		resp, err := ask()
		if err != nil {
			t.Fatal(err)
		}
		wantAnswer(t, resp, tt.path+" "+tt.body, tt.status, tt.want)
	}
}

// TestInterfaceParametersThroughAClient calls a query with the Go SDK's client. The argument must fit the input schema
// of the tool, and the structured content its output schema.
func TestInterfaceParametersThroughAClient(t *testing.T) {
	server := httptest.NewServer(asTester(transport.Handler(served(t, 1000), transport.Options{})))
	defer server.Close()
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "0"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: server.URL, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	promised := outputSchema(t, client, "named_person")
	for _, tt := range []struct {
		who  map[string]any
		want string
		bad  bool
	}{
		{map[string]any{"type": "Person", "id": "ada"}, `"rows":[["ada"]]`, false},
		{map[string]any{"type": "Place", "id": "ada"}, `"rows":[]`, false},
		{map[string]any{"type": "Sample", "id": "ada"}, "expected one of Person, Place", true},
	} {
		res, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "named_person", Arguments: map[string]any{"params": map[string]any{"who": tt.who}}})
		if err != nil || res.IsError != tt.bad {
			t.Fatalf("%v: %+v, %v", tt.who, res, err)
		}
		if err := promised.Validate(res.StructuredContent); err != nil && !tt.bad {
			t.Error(err)
		}
		if text := res.Content[0].(*mcp.TextContent).Text; !strings.Contains(text, tt.want) {
			t.Errorf("%v: found %s, expected %s", tt.who, text, tt.want)
		}
	}
}
