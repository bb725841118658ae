package rest_test

import (
	"testing"

	"github.com/omnigraph-go/omnigraph/server/builtin"
	"github.com/omnigraph-go/omnigraph/server/rest"
	"github.com/omnigraph-go/omnigraph/server/service"
	"github.com/omnigraph-go/omnigraph/server/service/servicetest"
)

// TestLargeAnswer holds that an answer past its size is refused and not cut, while one
// that the caller bounds by its rows is cut.
func TestLargeAnswer(t *testing.T) {
	c := servicetest.Config(t, builtin.All("1")...)
	h := rest.Handler(map[string]*service.Graph{"people": servicetest.Graph(t, c)}, rest.Options{MaxAnswer: 150, Server: servicetest.Policy{}})
	const product = `"query":"query q() { match { $a: Person $b: Person $c: Person $d: Person } return { $a.name as name } }"`
	for _, q := range []request{
		{name: "too large", actor: servicetest.Reader, method: "POST", path: "/query", body: `{` + product + `}`, status: 413, want: `"resource_limit":{"resource":"bytes","limit":150`},
		{name: "too large for its rows, too", actor: servicetest.Reader, method: "POST", path: "/query", body: `{` + product + `,"max_rows":1000}`, status: 413, want: `"resource":"bytes"`},
		{name: "cut by its rows", actor: servicetest.Reader, method: "POST", path: "/query", body: `{` + product + `,"max_rows":1}`, status: 200, want: `"row_count":`},
	} {
		t.Run(q.name, func(t *testing.T) { q.run(t, c, h) })
	}
}
