package policy

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/omnigraph-go/omnigraph/server/tool"
)

func TestCallers(t *testing.T) {
	const head = "version: 1\ngroups: {readers: [act-ada, act-grace], writers: [act-ci]}\nrules:\n"
	invoke := tool.Grant{Action: tool.InvokeQuery, Query: "find"}
	read := tool.Grant{Action: tool.Read, Query: "find", Via: tool.Stored}
	for _, test := range []struct {
		name, rules string
		want        Callers
	}{
		{"a group", "  - {id: a, allow: {actors: {group: readers}, actions: [read, invoke_query]}}\n", Callers{Groups: []string{"readers"}}},
		{"an actor", "  - {id: a, allow: {actors: {ids: [act-ci, act-new]}, actions: [read, invoke_query]}}\n", Callers{Actors: []string{"act-ci", "act-new"}}},
		{"one of the grants", "  - {id: a, allow: {actors: {group: readers}, actions: [invoke_query]}}\n", Callers{}},
		{"a member of a group alone", "  - {id: a, allow: {actors: {ids: [act-ada]}, actions: [read, invoke_query]}}\n", Callers{Actors: []string{"act-ada"}}},
		{"every actor", "  - {id: a, allow: {actors: any, actions: [read, invoke_query]}}\n", Callers{Any: true}},
		{"every actor but one", "  - {id: a, allow: {actors: any, actions: [read, invoke_query]}}\n  - {id: b, deny: {actors: {ids: [act-ada]}, actions: [invoke_query]}}\n",
			Callers{Any: true, Except: []string{"act-ada"}}},
		{"another query", "  - {id: a, allow: {actors: {group: readers}, actions: [read]}}\n  - {id: b, allow: {actors: {group: readers}, actions: [invoke_query], queries: [other]}}\n", Callers{}},
		{"ad hoc alone", "  - {id: a, allow: {actors: {group: readers}, actions: [invoke_query]}}\n  - {id: b, allow: {actors: {group: readers}, actions: [read], via: adhoc}}\n", Callers{}},
		{"no actor", "  - {id: a, deny: {actors: any, actions: [read]}}\n", Callers{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := Compile("policy.yaml", []byte(head+test.rules), Options{Graph: "g", AnyQuery: true})
			if err != nil {
				t.Fatal(err)
			}
			got := p.Callers(invoke, read)
			if diff := gocmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
