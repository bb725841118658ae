package access

import (
	"errors"
	"slices"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// This file decides what the answer to a write contains for an actor that may write to a
// branch but not read it. docs/policy.md has the same decisions as a table.
//
// The rule: the answer says whether the write was made. It may repeat what the caller sent
// and what the schema says. It contains no stored value, no id that the caller did not
// send, and no commit that the call did not make.

// ReadOn returns the permission to read a branch, which lets an actor see everything on it.
func ReadOn(branch tool.Branch) tool.Grant {
	return tool.Grant{Action: tool.Read, Branch: branch, Via: tool.AdHoc}
}

// ToRead returns the need of a call that reads a branch, for its result or for what the result discloses.
func ToRead(branch tool.BranchName) tool.Need {
	return tool.Need{Action: tool.Read, Branch: branch, Via: tool.AdHoc}
}

// ReadsTargets reports whether the actor may read every branch that the grants let a call
// write to. It is true if the grants allow no writes.
func (c *Control) ReadsTargets(actor *Actor, grants []tool.Grant) bool {
	for _, grant := range grants {
		if grant.Action.Row().NeedsRead && !c.Allowed(actor, ReadOn(grant.Branch)) {
			return false
		}
	}
	return true
}

// MayRead reports whether the actor may run its own queries on each branch that the grants allow a
// call to read.
func (c *Control) MayRead(actor *Actor, grants []tool.Grant) bool {
	for _, grant := range grants {
		if grant.Action == tool.Read && !c.Allowed(actor, ReadOn(grant.Branch)) {
			return false
		}
	}
	return true
}

// WantsRead returns the permissions that a write by the caller needs in addition to the permission
// to write. A dry run also needs the permission to read: it compares the graph with text that the
// caller sends, and so discloses data without leaving a trace.
func WantsRead(branch tool.BranchName, dryRun bool) []tool.Need {
	if !dryRun {
		return nil
	}
	return []tool.Need{ToRead(branch)}
}

// Withheld changes err, the error of a write with the given grants, for an actor that may not read
// the branch. The returned error has the same status, code and members, but no stored data. The
// argument `computes` says that the write is a mutation that computes with stored values.
func Withheld(grants []tool.Grant, computes bool, err error) error {
	from := fromCaller
	switch {
	case slices.ContainsFunc(grants, func(g tool.Grant) bool { return g.Action == tool.SchemaApply }):
		from = fromGraph
	case computes:
		from = fromBoth
	}
	return withheld(err, from)
}

// origin says where the values come from that a write checks.
type origin int

const (
	fromCaller origin = iota // the caller sent them
	fromBoth                 // a stored mutation computed them from what the caller sent and from stored values
	fromGraph                // the write applies a schema, and they are stored
)

// withheld does the work of [Withheld].
func withheld(err error, from origin) error {
	var (
		stale  *engine.PreconditionFailed
		load   *engine.LoadErrors
		many   *engine.ConstraintViolations
		one    *engine.ConstraintViolation
		taken  *engine.KeyConflict
		denied *engine.NotAllowed
	)
	switch {
	case err == nil, errors.As(err, new(*engine.Indeterminate)):
		return err
	case errors.As(err, &stale):
		return &engine.PreconditionFailed{Expected: stale.Expected}
	case errors.As(err, &load):
		short := &engine.LoadErrors{Lines: make([]engine.LineError, len(load.Lines)), More: load.More}
		for i, l := range load.Lines {
			l.Err = withheld(l.Err, from)
			short.Lines[i] = l
		}
		return short
	case errors.As(err, &many):
		short := &engine.ConstraintViolations{More: many.More}
		seen := map[engine.ConstraintViolation]bool{}
		for _, v := range many.Violations {
			if kept := withheldViolation(v, fromGraph); !seen[*kept] {
				seen[*kept] = true
				short.Violations = append(short.Violations, kept)
			}
		}
		return short
	case errors.As(err, &taken) && taken.Line > 0 && taken.Entity == "edge": // the id may be that of an edge that the load found by its ends
		return &engine.KeyConflict{Entity: taken.Entity, Type: taken.Type, Line: taken.Line}
	case errors.As(err, &taken) && taken.Moved:
		return &engine.KeyConflict{Entity: taken.Entity, Type: taken.Type, ID: taken.ID, Moved: true}
	case from == fromBoth && errors.As(err, &taken):
		return &engine.KeyConflict{Entity: taken.Entity, Type: taken.Type, Keyed: taken.Keyed}
	case errors.As(err, &one):
		return withheldViolation(one, from)
	case errors.As(err, &denied) && denied.Type != "": // a condition may have found the entity, and what is stored decides
		return &engine.NotAllowed{Entity: denied.Entity, Type: denied.Type}
	}
	return err
}

// singleEntityRules are the rules about the values of a single entity. An actor that may not read
// can break them only with values that it sent, so the detail may repeat them. The exception is a
// mutation that computes with stored values.
var singleEntityRules = map[string]bool{"required": true, "type": true, "range": true, "check": true, "enum": true, "key": true}

// withheldViolation keeps the rule and the values that the caller sent. It drops the id,
// because a stored update finds entities that the caller did not name.
func withheldViolation(v *engine.ConstraintViolation, from origin) *engine.ConstraintViolation {
	short := &engine.ConstraintViolation{Entity: v.Entity, Type: v.Type, Property: v.Property, Rule: v.Rule, Detail: v.Detail}
	switch {
	case from == fromGraph:
		short.Detail = "stored data breaks the rule"
	case from == fromBoth && singleEntityRules[v.Rule]:
		short.Detail = "a value that the query computes breaks the rule"
	case from == fromBoth && v.Rule == "endpoint" && v.ID == "":
		short.Detail = "the node at this end of the edge does not exist"
	case singleEntityRules[v.Rule], v.Rule == "endpoint" && v.ID == "": // the endpoint that the caller sent
	case v.Rule == "unique":
		short.Detail = "another entity has the same values"
	case v.Rule == "valid": // one of the two values may be a stored one
		short.Detail = "the entity would end before it begins to be valid"
	case v.Rule == "cardinality":
		short.Detail = "a node would have too few or too many edges of this type"
	case v.Rule == "endpoint":
		short.Detail = "the write would remove a node that an edge joins"
	default:
		short.Detail = "the write breaks the rule"
	}
	return short
}
