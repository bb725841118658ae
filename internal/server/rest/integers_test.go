package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph/servedtest"
)

// TestIntegers checks the forms of 64-bit integers in each kind of answer that has values: numbers without the
// header, and strings with it.
func TestIntegers(t *testing.T) {
	const header = "Omnigraph-Integers: string"
	c := servedtest.Config(t)
	writer := servedtest.Writer
	text := `{"query":"query q() { match { $p: Person { name: \"ada\" } } return { $p.big, $p.age, collect($p) as all, count($p) as n } }"}`
	inserted := `{"query":"query m() { $p = insert Person { name: \"zoe\", big: 9007199254740997 } return { $p.big as big } }"}`
	both := func(q request, number, quoted string) (list []request) {
		q.actor, q.status = writer, http.StatusOK
		for _, form := range []struct{ name, send, want, lacks string }{{", as numbers", "", number, quoted}, {", as strings", header, quoted, number}} {
			one := q
			one.name, one.send, one.want, one.lacks, one.header = q.name+form.name, form.send, form.want, form.lacks, "Vary: Omnigraph-Integers"
			list = append(list, one)
		}
		return list
	}
	var all []request
	for _, k := range []struct {
		q              request
		number, quoted string
	}{
		{request{name: "a text", method: "POST", path: "/query", body: text}, `"p.big":9007199254740993,"p.age":36,`, `"p.big":"9007199254740993","p.age":36,`},
		{request{name: "a member of an object", method: "POST", path: "/query", body: text}, `"big":9007199254740993,"score"`, `"big":"9007199254740993","score"`},
		{request{name: "a count", method: "POST", path: "/query", body: text}, `"n":1`, `"n":"1"`},
		{request{name: "a stored query", method: "POST", path: "/queries/everyone"}, `"p.big":9007199254740991`, `"p.big":"9007199254740991"`},
		{request{name: "the old route", method: "POST", path: "/read", body: text}, `"n":1`, `"n":"1"`},
		{request{name: "a mutation", method: "POST", path: "/mutate", body: inserted}, `"rows":[{"big":9007199254740997}]`, `"rows":[{"big":"9007199254740997"}]`},
		{request{name: "an export", method: "POST", path: "/export", body: `{}`}, `"big":9007199254740997`, `"big":"9007199254740997"`},
		{request{name: "a baseline", method: "POST", path: "/changes/baseline", body: `{}`}, `"big":9007199254740997`, `"big":"9007199254740997"`},
		{request{name: "the feed", method: "GET", path: "/changes"}, `"big":9007199254740997`, `"big":"9007199254740997"`},
		{request{name: "a history", method: "GET", path: "/node/history?type=Person&id=zoe"}, `"big":9007199254740997`, `"big":"9007199254740997"`},
		{request{name: "the changes of a commit", method: "GET", path: "/commits/COMMIT/changes"}, `"big":9007199254740997`, `"big":"9007199254740997"`},
	} {
		all = append(all, both(k.q, k.number, k.quoted)...)
		if k.q.name == "a mutation" { // the second one replaced the node by an equal one
			all = append(all, request{name: "insert again", actor: writer, method: "POST", path: "/mutate", status: 200, body: strings.ReplaceAll(inserted, "zoe", "yan")})
		}
	}
	all = append(all,
		request{name: "another form", actor: writer, method: "POST", path: "/query", send: "Omnigraph-Integers: number", body: text, status: 400, want: `header Omnigraph-Integers: found \"number\", expected one of string`},
		request{name: "an answer without values", actor: writer, method: "GET", path: "/branches", send: header, status: 200, want: `"main"`, header: "Vary: "},
	)
	steps(t, c, rest.Options{}, all)
}

// TestStringIntegersLoad checks that a load takes the lines of an export with strings.
func TestStringIntegersLoad(t *testing.T) {
	line := `{"type":"Person","data":{"name":"max","big":"-9223372036854775808"}}`
	steps(t, servedtest.Config(t), rest.Options{}, []request{
		{name: "load", actor: servedtest.Writer, method: "POST", path: "/load/ndjson", media: ndjson, body: line, status: 200},
		{name: "export", actor: servedtest.Writer, method: "POST", path: "/export", body: `{}`, send: "Omnigraph-Integers: string", status: 200, want: `"big":"-9223372036854775808"`},
	})
}
