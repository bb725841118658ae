// Package servedtest makes small served graphs for tests of the packages that use servedgraph.
package servedtest

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/naive"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Seed is the data of a new graph.
const Seed = `{"type":"Person","data":{"name":"ada","age":36,"big":9007199254740993,"score":0.5,"born":"1815-12-10","seen":"2024-05-01T12:30:00Z","tags":["x","\"y\""]}}
{"type":"Person","data":{"name":"bob","age":41,"big":9007199254740991}}
{"type":"Person","data":{"name":"cyd"}}
{"edge":"Knows","from":"ada","to":"bob"}
`

// SeedAgain is data that a merge accepts any number of times.
const SeedAgain = `{"type":"Person","data":{"name":"bob","age":42}}
{"edge":"Knows","from":"ada","to":"bob","data":{"id":"again"}}
`

// The actors. Writer may do everything. Reader may read. Bot may only run the stored query
// find_person. Drafter may do everything except on main. The actor named Nobody has no
// permissions.
var (
	Writer  = &access.Actor{ID: "act-writer", Source: "test"}
	Reader  = &access.Actor{ID: "act-reader", Source: "test"}
	Bot     = &access.Actor{ID: "act-bot", Source: "test"}
	Drafter = &access.Actor{ID: "act-drafter", Source: "test"}
	Looker  = &access.Actor{ID: "act-looker", Source: "test"} // may invoke every query, and change nothing
	Nobody  = &access.Actor{ID: "act-nobody", Source: "test"}
)

// Config returns the configuration of a served graph over the reference engine. The graph
// contains Seed, the stored queries of [Catalog] and the given built-in tools.
func Config(t testing.TB, builtins ...tool.Tool) servedgraph.Config {
	t.Helper()
	g := naive.New(Source, Schema(t), naive.Sound)
	t.Cleanup(func() { g.Close() })
	if _, err := g.Load(context.Background(), strings.NewReader(Seed), engine.LoadOptions{Mode: engine.Append}); err != nil {
		t.Fatal(err)
	}
	return servedgraph.Config{
		ID: "people", Graph: g, Catalog: Catalog(t), Builtins: builtins, Authorizer: Policy{}, Version: "1.2.3",
		Logger: slog.New(slog.DiscardHandler),
	}
}

// Graph returns the served graph for a configuration.
func Graph(t testing.TB, c servedgraph.Config) *servedgraph.Graph {
	t.Helper()
	g, err := servedgraph.NewGraph(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Policy is an authorizer for the actors of this package.
type Policy struct{}

// Allowed decides by the actor's id.
func (Policy) Allowed(a *access.Actor, g tool.Grant) bool {
	switch a.ID {
	case Writer.ID:
		return true
	case Reader.ID:
		// The stored mutations are tools of the reader, because it may run them on one branch.
		return g.Action == tool.Read || g.Action == tool.InvokeQuery || g.Action == tool.Change && g.Via == tool.Stored && g.Branch.Name() == release
	case Looker.ID:
		return g.Action == tool.Read || g.Action == tool.InvokeQuery
	case Bot.ID:
		return g.Query == "find_person" && (g.Action == tool.InvokeQuery || g.Action == tool.Read && g.Via == tool.Stored)
	case Drafter.ID:
		return !g.Branch.IsMain() || !g.Action.Row().Branch()
	}
	return false
}

// Branches returns the name of one branch, which does not exist.
func (Policy) Branches() []string { return []string{release} }

const release = "release"

// BranchClass returns a separate class for every branch.
func (Policy) BranchClass(name string) string { return name }

// Protection implements access.Authorizer.
func (Policy) Protection(tool.Branch) *tool.Protection { return nil }

// InGroup implements access.Authorizer.
func (Policy) InGroup(*access.Actor, string) bool { return false }

// Owns implements access.Authorizer.
func (Policy) Owns(string, string) bool { return false }
