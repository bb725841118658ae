package plan

import "github.com/omnigraph-go/omnigraph/gq/value"

// Origin is a fact about the commit that last changed an entity, or made it. It is null if the commit is not known or lacks the
// fact, and if the variable is optional and null.
type Origin struct {
	Var  VarID // the variable of a node or an edge
	Fact OriginFact
}

// expr implements Expr.
func (Origin) expr() {}

// OriginFact selects a fact about the origin of an entity. Encoded plans contain the numbers.
type OriginFact uint8

// The facts about an origin. Those before OriginMadeBy are about the last change.
const (
	OriginActor    OriginFact = 0 // the actor, with the agents that acted for it, a String
	OriginAt       OriginFact = 1 // the time of the commit, a DateTime
	OriginProposal OriginFact = 2 // the id of the proposal that brought the commit to the branch that is read, a String
	OriginSource   OriginFact = 3 // the source whose records a load brought, a String
	OriginTool     OriginFact = 4 // the tool, the stored query or the verb, a String
	OriginMadeBy   OriginFact = 5 // the actor of the commit that made the entity, a String
	OriginMadeAt   OriginFact = 6 // the time of that commit, a DateTime
)

// originFacts has a row for each OriginFact.
var originFacts = [...]struct {
	name string // as a query writes it
	kind value.Kind
}{
	OriginActor:    {"actor", value.String},
	OriginAt:       {"at", value.DateTime},
	OriginProposal: {"proposal", value.String},
	OriginSource:   {"source", value.String},
	OriginTool:     {"tool", value.String},
	OriginMadeBy:   {"made_by", value.String},
	OriginMadeAt:   {"made_at", value.DateTime},
}

// String returns the name of the fact as a query writes it.
func (f OriginFact) String() string { return originFacts[f].name }

// Valid reports whether the number identifies a fact.
func (f OriginFact) Valid() bool { return int(f) < len(originFacts) }

// Type returns the type of the fact's values.
func (f OriginFact) Type() value.Type { return value.Of(originFacts[f].kind).Optional() }

// Made reports whether the fact is about the commit that made the entity.
func (f OriginFact) Made() bool { return f == OriginMadeBy || f == OriginMadeAt }

// OriginFacts lists the facts about an origin.
func OriginFacts() []OriginFact {
	facts := make([]OriginFact, len(originFacts))
	for i := range facts {
		facts[i] = OriginFact(i)
	}
	return facts
}

// OriginFactNames returns the names of the facts about an origin.
func OriginFactNames() []string {
	names := make([]string, len(originFacts))
	for i, row := range originFacts {
		names[i] = row.name
	}
	return names
}

// OriginFactNamed returns the fact with the given name. It reports false if there is none.
func OriginFactNamed(name string) (OriginFact, bool) {
	for i, row := range originFacts {
		if row.name == name {
			return OriginFact(i), true
		}
	}
	return 0, false
}

// WalkOrigins calls visit for every Origin of a query, with its variable.
func (q *Query) WalkOrigins(visit func(v *Var, o Origin)) {
	if q.Read != nil {
		q.Read.walkOrigins(visit)
	}
	if q.Mutation != nil {
		q.Mutation.Walk(func(st Statement) {
			if each, ok := st.(ForEach); ok && each.Read != nil {
				each.Read.walkOrigins(visit)
			}
		})
	}
}

// walkOrigins is Query.WalkOrigins for a read.
func (r *Read) walkOrigins(visit func(v *Var, o Origin)) {
	in := func(e Expr) {
		if o, ok := e.(Origin); ok {
			visit(&r.Vars[o.Var], o)
		}
	}
	WalkClauses(r.Match, in)
	WalkClauses(r.Having, in)
	for _, c := range r.Columns {
		WalkExpr(c.Expr, in)
	}
	for _, o := range r.Order {
		WalkExpr(o.Expr, in)
	}
}
