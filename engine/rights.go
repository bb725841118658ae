package engine

import (
	"fmt"
	"slices"

	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// Rights say which entities and properties of a graph a call may read, or which it may change. A nil *Rights
// allows everything.
//
// A read under Rights answers what it would answer on a copy of the graph from which everything that they hide
// has been removed: an entity that is not allowed, an edge with an end that is not allowed, and a property that is hidden.
type Rights struct {
	// Digest identifies the rights: two Rights with the same digest allow the same, the arguments of their filters included.
	Digest string
	Nodes  map[string]*TypeRights // by name of a node type; a type without an entry is unrestricted
	Edges  map[string]*TypeRights // by name of an edge type; a type without an entry is unrestricted
}

// TypeRights say what is allowed of the entities of one type.
type TypeRights struct {
	None       bool     // nothing of the type is allowed; the other fields do not matter
	Properties []string // the properties that are not allowed, sorted
	// An entity is allowed if it passes one filter of each list of Any, and if it passes each filter of All. There is a list
	// for each actor of a call whom the rules restrict: an agent gets what both it and its subject may have.
	Any [][]*RowFilter
	All []*RowFilter
}

// RowFilter is a condition on entities of one type. It is evaluated on a whole state of a graph, without Rights.
type RowFilter struct {
	Name string // the name in the policy, for explanations
	// Entities is a read with one column, the ids of the entities that pass the filter. Among is the same with one
	// parameter more, the last one: a list of ids, to which the rows are confined.
	Entities, Among *plan.Query
	Args            Args // the arguments of Entities
}

// Hides reports whether the rights hide a property of the entities of a type.
func (t *TypeRights) Hides(property string) bool {
	return t != nil && slices.Contains(t.Properties, property)
}

// NotAllowed says that a write would change an entity that the caller may not change, or that it rests on something that
// the caller may not see. It says no more than the caller may know.
type NotAllowed struct {
	Entity string // "node" or "edge"
	Type   string // name of the type; empty if the write is not allowed as a whole
	ID     string // id of the entity; empty if the caller must not see it
	// Property is the property that the caller may not change, or "" if it may not change the entity.
	Property string
	Reason   string // why, as the end of a sentence, such as "it has edges that you may not see"; may be empty
}

// Error implements error.
func (e *NotAllowed) Error() string {
	if e.Type == "" {
		return "you may not do this: " + e.Reason
	}
	what := e.Entity + " of type " + e.Type
	if e.ID != "" {
		what = fmt.Sprintf("%s %s %q", e.Type, e.Entity, e.ID)
	}
	if e.Property != "" {
		what = fmt.Sprintf("property %s of the %s", e.Property, what)
	}
	if e.Reason != "" {
		return fmt.Sprintf("you may not change the %s: %s", what, e.Reason)
	}
	return "you may not change the " + what
}

// Retryable implements [Error].
func (*NotAllowed) Retryable() bool { return false }
