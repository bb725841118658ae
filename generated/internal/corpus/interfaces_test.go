package corpus_test

import (
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/generated/internal/corpus"
)

// runInterfaces runs the queries with variables over interfaces. It adds a place with the name and the id of persons.
func runInterfaces(s *session) {
	at := engine.Target{}
	place := `{"type":"Place","data":{"id":"bob","name":"Ann","near":"the sea"}}`
	if _, err := s.stored.Load(s.ctx, strings.NewReader(place), engine.LoadOptions{}); err != nil {
		s.t.Fatal(err)
	}
	found[corpus.NamedRow](s, "named", strings.Join([]string{
		`{"n":{"id":"ann","name":"Ann","type":"Person"},"type":"Person"}`, `{"n":{"id":"bob","name":"Ann","type":"Place"},"type":"Place"}`,
	}, "\n"))(corpus.Named(s.ctx, s.g, corpus.NamedParams{Name: "Ann"}, at))
	same := func(slug, nodes, n string) string {
		return `{"slug":"` + slug + `","same":[` + nodes + `],"each":[` + nodes + `],"n":` + n + `}`
	}
	found[corpus.NamedListsRow](s, "named_lists", strings.Join([]string{
		same("ada", `{"id":"ada","name":"Ada","type":"Person"}`, "1"),
		same("ann", `{"id":"ann","name":"Ann","type":"Person"},{"id":"bob","name":"Ann","type":"Place"}`, "2"),
		same("bob", `{"id":"bob","name":"Bob","type":"Person"}`, "1"),
		same("nova", `{"id":"nova","name":"Nova","type":"Person"}`, "1"),
	}, "\n"))(corpus.NamedLists(s.ctx, s.g, corpus.NamedListsParams{}, at))
	found[corpus.NamedPeopleRow](s, "named_people", strings.Join([]string{
		`{"id":"ada","age":36,"type":"Person"}`, `{"id":"ann","age":2,"type":"Person"}`, `{"id":"bob","age":25,"type":"Person"}`, `{"id":"nova","age":1,"type":"Person"}`,
		`{"id":"bob","age":null,"type":"Place"}`,
	}, "\n"))(corpus.NamedPeople(s.ctx, s.g, corpus.NamedPeopleParams{}, at))
}
