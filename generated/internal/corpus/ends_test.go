package corpus_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/generated/internal/corpus"
	transport "github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
)

// runEnds runs the queries over edges with an interface at an end. It needs the place that runInterfaces adds, and deletes the
// edges that it inserts.
func runEnds(s *session) {
	since := day("2024-05-01")
	place := corpus.NamedID{Type: "Place", ID: "bob"}
	row, change, err := corpus.Like(s.ctx, s.g, corpus.LikeParams{Person: "ann", What: place, Since: &since})
	s.wrote("like", 0, 1)(change, err)
	if row.To != (corpus.LikeRowTo{Type: "Place", ID: "bob"}) {
		s.t.Errorf("like returns %+v", row)
	}
	s.wrote("like_people", 0, 2)(corpus.LikePeople(s.ctx, s.g, corpus.LikePeopleParams{Person: "ann", Slug: "bob", Friend: "ada"}))
	const ada, bob, sea = `{"type":"Person","id":"ada"}`, `{"type":"Person","id":"bob"}`, `{"type":"Place","id":"bob"}`
	found[corpus.LikesRow](s, "likes", strings.Join([]string{
		`{"of":"ann","to":` + ada + `,"type":"Person","name":"Ada","since":null}`,
		`{"of":"ann","to":` + sea + `,"type":"Place","name":"Ann","since":"2024-05-01"}`,
		`{"of":"ann","to":` + bob + `,"type":"Person","name":"Bob","since":null}`,
	}, "\n"))(corpus.Likes(s.ctx, s.g, corpus.LikesParams{Person: "ann"}))
	found[corpus.LikedByRow](s, "liked_by", `{"slug":"ann"}`)(corpus.LikedBy(s.ctx, s.g, corpus.LikedByParams{What: corpus.NamedID{Type: "Person", ID: "bob"}}))
	found[corpus.LikedByRow](s, "liked_by", `{"slug":"ann"}`)(corpus.LikedBy(s.ctx, s.g, corpus.LikedByParams{
		What: corpus.NamedID{Type: "Place", ID: "bob"}, But: &corpus.NamedID{Type: "Person", ID: "bob"},
	}))
	all := `"all":[{"to":` + ada + `,"since":null},{"to":` + sea + `,"since":"2024-05-01"},{"to":` + bob + `,"since":null}]}`
	found[corpus.LikesOfAllRow](s, "likes_of_all", strings.Join([]string{
		`{"slug":"ada","to":null,"all":[]}`,
		`{"slug":"ann","to":` + ada + `,` + all, `{"slug":"ann","to":` + sea + `,` + all, `{"slug":"ann","to":` + bob + `,` + all,
		`{"slug":"bob","to":null,"all":[]}`, `{"slug":"nova","to":null,"all":[]}`,
	}, "\n"))(corpus.LikesOfAll(s.ctx, s.g, corpus.LikesOfAllParams{}))
	found[corpus.LikesCollectedRow](s, "likes_collected", strings.Join([]string{
		`{"slug":"ada","all":[],"of":[],"n":0}`, `{"slug":"ann","all":[` + ada + `,` + bob + `,` + sea + `],"of":["ann"],"n":3}`,
		`{"slug":"bob","all":[],"of":[],"n":0}`, `{"slug":"nova","all":[],"of":[],"n":0}`,
	}, "\n"))(corpus.LikesCollected(s.ctx, s.g, corpus.LikesCollectedParams{}))
	s.wrote("like_named", 0, 2)(corpus.LikeNamed(s.ctx, s.g, corpus.LikeNamedParams{Person: "nova", Name: "Ann"}))
	found[corpus.LikedPlacesRow](s, "liked_places", `{"near":"the sea","n":2}`)(corpus.LikedPlaces(s.ctx, s.g, corpus.LikedPlacesParams{}))
	found[corpus.LikedOnceRow](s, "liked_once", `{"all":[`+strings.Join([]string{ada, `{"type":"Person","id":"ann"}`, bob, sea}, ",")+`],"n":4,"again":4}`)(corpus.LikedOnce(s.ctx, s.g, corpus.LikedOnceParams{}))
	if _, _, err := corpus.Like(s.ctx, s.g, corpus.LikeParams{Person: "ann", What: corpus.NamedID{Type: "Place", ID: "ann"}}); err == nil {
		s.t.Error("an edge leads to a place that does not exist")
	}
	for _, edge := range []corpus.ForgetParams{
		{Person: "ann", What: corpus.NamedID{Type: "Person", ID: "ada"}}, {Person: "ann", What: corpus.NamedID{Type: "Person", ID: "bob"}},
		{Person: "ann", What: corpus.NamedID{Type: "Place", ID: "bob"}}, {Person: "nova", What: corpus.NamedID{Type: "Place", ID: "bob"}},
		{Person: "nova", What: corpus.NamedID{Type: "Person", ID: "ann"}},
	} {
		s.wrote("forget", 0, 1)(corpus.Forget(s.ctx, s.g, edge))
	}
}

// TestInterfaceEndsOverREST calls a mutation and a read of edges to nodes of several types over REST.
func TestInterfaceEndsOverREST(t *testing.T) {
	server := httptest.NewServer(asTester(rest.Handler(map[string]*servedgraph.Graph{"corpus": served(t, 0)}, rest.Options{})))
	defer server.Close()
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	at := server.URL + "/graphs/corpus/queries/"
	for _, tt := range []struct {
		query, body, want string
		status            int
	}{
		{"like", `{"params":{"person":"ada","what":{"type":"Person","id":"ada"}}}`, `"rows":[{"to":{"type":"Person","id":"ada"}}]`, 200},
		{"likes", `{"params":{"person":"ada"}}`, `"rows":[{"of":"ada","to":{"type":"Person","id":"ada"},"type":"Person"`, 200},
		{"likes_of_all", `{}`, `"to":{"type":"Person","id":"ada"},"all":[{"to":{"type":"Person","id":"ada"},"since":null}]}`, 200},
		{"likes_collected", `{}`, `"all":[{"type":"Person","id":"ada"}],"of":["ada"],"n":1}`, 200},
		{"like", `{"params":{"person":"ada","what":{"type":"Sample","id":"ada"}}}`, `expected one of Person, Place`, 400},
		{"like", `{"params":{"person":"ada","what":"ada"}}`, `expected an object such as { type: enum(Person, Place), id: String }`, 400},
	} {
		resp, err := http.Post(at+tt.query, "application/json", strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		wantAnswer(t, resp, tt.query+" "+tt.body, tt.status, tt.want)
	}
}

// TestInterfaceEndsThroughAClient calls queries with the Go SDK's client. The structured content must fit the output schema
// of the tool, also where the end of an edge is null.
func TestInterfaceEndsThroughAClient(t *testing.T) {
	server := httptest.NewServer(asTester(transport.Handler(served(t, 1000), transport.Options{})))
	defer server.Close()
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "0"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: server.URL, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, tt := range []struct {
		tool   string
		params map[string]any
		want   string
	}{
		{"likes_of_all", nil, `,null,[]]`},
		{"like", map[string]any{"person": "ada", "what": map[string]any{"type": "Person", "id": "ada"}}, `"columns":["to"],"rows":[[{"type":"Person","id":"ada"}]]`},
		{"likes_of_all", nil, `["ada",{"type":"Person","id":"ada"},[{"to":`},
		{"likes_collected", nil, `[{"type":"Person","id":"ada"}],["ada"],1]`},
	} {
		arguments := map[string]any{}
		if tt.params != nil {
			arguments["params"] = tt.params
		}
		res, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: tt.tool, Arguments: arguments})
		if err != nil || res.IsError {
			t.Fatalf("%s: %+v, %v", tt.tool, res, err)
		}
		if err := outputSchema(t, client, tt.tool).Validate(res.StructuredContent); err != nil {
			t.Error(err)
		}
		if text := res.Content[0].(*mcp.TextContent).Text; !strings.Contains(text, tt.want) {
			t.Errorf("%s: found %s, expected %s", tt.tool, text, tt.want)
		}
	}
}
