package server

import (
	"slices"
	"testing"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// ownHandler is a query with a Go handler of its own.
type ownHandler struct{ *tool.Compiled }

// query returns a query with a tool of the name.
func query(name, toolName, description string) *tool.Compiled {
	return &tool.Compiled{
		Query: tool.QueryInfo{Name: name, Description: description}, Tool: tool.Descriptor{Name: toolName, Description: description},
		Encoded: plan.Encode(&plan.Query{Name: name, Read: &plan.Read{}}),
	}
}

func TestMerge(t *testing.T) {
	compiled := &tool.Catalog{Graph: "g", SourceDigest: "compiled", Queries: []tool.StoredQuery{
		query("same", "same", "d"), query("edited", "edited", "old"), query("renamed", "kept_tool", "d"), query("only", "only", "d"),
		ownHandler{query("own", "own", "d")}, ownHandler{query("own_alone", "own_alone", "d")}, ownHandler{query("own_tool", "taken", "d")},
	}}
	applied := &tool.Catalog{Graph: "g", SourceDigest: "applied", Queries: []tool.StoredQuery{
		query("new", "new", "d"), query("own", "own", "new"), query("edited", "edited", "new"), query("same", "same", "d"), query("is_renamed", "kept_tool", "d"), query("takes", "taken", "d"),
	}}
	m := merge(compiled, applied)
	var names []string
	for _, q := range m.catalog.Queries {
		name := q.Info().Name + " " + q.Info().Description
		if _, own := q.(ownHandler); own {
			name += " own"
		}
		names = append(names, name)
	}
	if want := []string{"new d", "own d own", "edited new", "same d", "is_renamed d", "own_tool d own", "own_alone d own", "only d"}; !slices.Equal(names, want) {
		t.Errorf("found the queries %q, expected %q", names, want)
	}
	if !slices.Equal(m.replaced, []string{"edited", "renamed"}) || !slices.Equal(m.own, []string{"own", "own_tool"}) || !slices.Equal(m.dropped, []string{"takes"}) || m.without != 2 || !slices.Equal(m.compiled, []string{"only"}) || m.catalog.SourceDigest != "applied" {
		t.Errorf("found %+v", m)
	}
	if m := merge(nil, applied); len(m.catalog.Queries) != len(applied.Queries) || m.replaced != nil || m.own != nil || m.dropped != nil || m.compiled != nil {
		t.Errorf("without compiled queries: %+v", m)
	}
}
