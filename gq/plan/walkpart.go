package plan

import "github.com/omnigraph-go/omnigraph/gq/value"

// WalkPart is a fact about a bound walk. It is null if the variable of the walk is optional and null.
//
// The nodes and types describe one shortest walk between the ends, both ends included. If there are
// several shortest walks, it is the one whose sequence of types and ids comes first: the types are
// compared by name, then the ids, from the first node on.
type WalkPart struct {
	Var  VarID // the variable of the walk
	Fact WalkFact
	// From and To are the ends of the walk in the order in which the query writes them.
	From, To VarID
}

// expr implements Expr.
func (WalkPart) expr() {}

// WalkFact selects a fact about a walk. Encoded plans contain the numbers.
type WalkFact uint8

// The facts about a walk.
const (
	WalkHops  WalkFact = 0 // the number of its edges, an I32
	WalkNodes WalkFact = 1 // the ids of its nodes, a list of Strings
	WalkTypes WalkFact = 2 // the types of its nodes, a list of Strings
)

// walkFacts has a row for each WalkFact.
var walkFacts = [...]struct {
	name string // as a query writes it
	typ  value.Type
}{
	WalkHops:  {"hops", value.Of(value.I32)},
	WalkNodes: {"nodes", value.Type{Kind: value.String, List: true}},
	WalkTypes: {"types", value.Type{Kind: value.String, List: true}},
}

// String returns the name of the fact as a query writes it.
func (f WalkFact) String() string { return walkFacts[f].name }

// Valid reports whether the number identifies a fact.
func (f WalkFact) Valid() bool { return int(f) < len(walkFacts) }

// Type returns the type of the fact's values.
func (f WalkFact) Type() value.Type { return walkFacts[f].typ }

// WalkFactNames returns the names of the facts about a walk.
func WalkFactNames() []string {
	names := make([]string, len(walkFacts))
	for i, row := range walkFacts {
		names[i] = row.name
	}
	return names
}

// WalkFactNamed returns the fact with the given name. It reports false if there is none.
func WalkFactNamed(name string) (WalkFact, bool) {
	for i, row := range walkFacts {
		if row.name == name {
			return WalkFact(i), true
		}
	}
	return 0, false
}
