package operations

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

const (
	// defaultHistory is the number of commits that a request looks at if it states no limit. For
	// each commit, the engine has to restore the state from that of the commit before it.
	defaultHistory = 100

	// maxHistory is the maximum number of commits that one request looks at.
	maxHistory = 1000
)

// LookNodeHistory returns the call that lists the commits of a branch that changed a node. The call
// looks at the `limit` newest commits with a sequence number below `before`; if `before` is 0, it
// starts at the head. Its answer is a client.NodeHistory. If the schema of the head lacks the type,
// the error is an *engine.NotFound.
func LookNodeHistory(branch tool.BranchName, typ, id string, before uint64, limit int) *Look {
	if limit <= 0 {
		limit = defaultHistory
	}
	limit = min(limit, maxHistory)
	return &Look{Branch: branch, Entities: []string{id}, Read: func(ctx context.Context, env *tool.Env, head engine.Commit) (any, error) {
		schema, err := env.Graph.Schema(ctx, engine.Target{Commit: head.ID})
		if err != nil {
			return nil, err
		}
		if schema.Catalog.Node(typ) == nil {
			return nil, &engine.NotFound{What: "node type", Name: typ}
		}
		// The answer states `head` as its commit, so the history must not contain newer commits,
		// even if the branch has changed since.
		if before == 0 || before > head.Seq {
			before = head.Seq + 1
		}
		// The page needs one commit more than it shows, for the state before its oldest commit.
		commits, err := env.Graph.Commits(ctx, env.Branch(branch).Name(), engine.CommitRange{Before: before, Limit: limit + 1})
		if err != nil {
			return nil, err
		}
		h := nodeHistory{graph: env.Graph, values: encoding.ValuesIn(env), typ: typ, id: id, plans: map[string]*plan.Query{}}
		return h.page(ctx, commits, limit)
	}}
}

// nodeHistory reads the states of one node at different commits.
type nodeHistory struct {
	graph   engine.Graph
	values  encoding.Options // how the answer writes values
	typ, id string
	plans   map[string]*plan.Query // by digest of the schema; nil for a schema without the type
}

// page compares the states of the node in a list of commits, the newest first. If there are more than
// `limit` commits, the last one only gives the state before the others. The page has the newest
// versions that fit into maxChangeBytes, and at least one if there is one.
func (h *nodeHistory) page(ctx context.Context, commits []engine.Commit, limit int) (*client.NodeHistory, error) {
	a := &client.NodeHistory{Versions: []client.NodeVersion{}}
	var before *nodeState
	known := false // whether `before` is the state before the next commit
	var marks []versionMark
	bytes, cut := 0, false // bytes of a.Versions; whether versions were left out
	// The oldest comes first, because the engine restores a state fast from the one before it.
	for i, c := range slices.Backward(commits) {
		state, err := h.state(ctx, c)
		if missing := (*engine.NotFound)(nil); errors.As(err, &missing) && missing.Reclaimed {
			known, a.Reclaimed = false, true
			continue
		}
		if err != nil {
			return nil, err
		}
		if i < limit && (known || c.Seq == 1) {
			a.Examined++
			if v, changed := versionOf(c, before, state); changed {
				m := versionMark{seq: c.Seq, skipped: a.Examined - 1, bytes: valueBytes(v.Before) + valueBytes(v.After)}
				a.Versions, marks, bytes = append(a.Versions, v), append(marks, m), bytes+m.bytes
			}
			for ; bytes > maxChangeBytes && len(marks) > 1; cut = true {
				bytes -= marks[0].bytes
				a.Versions, marks = slices.Delete(a.Versions, 0, 1), marks[1:]
			}
		}
		before, known = state, true
	}
	slices.Reverse(a.Versions)
	switch {
	case cut:
		// The next page continues below the oldest version of this one, and reports reclaimed states.
		a.NextBefore, a.Examined, a.Reclaimed = &marks[0].seq, a.Examined-marks[0].skipped, false
	case len(commits) > limit && !a.Reclaimed:
		a.NextBefore = &commits[limit-1].Seq
	}
	return a, nil
}

// versionMark is what the bound of a page needs to know about a version.
type versionMark struct {
	seq     uint64 // sequence number of the commit
	skipped int    // number of examined commits that are older
	bytes   int    // size of the values before and after, as JSON
}

// valueBytes returns the size of the values of an image as JSON; 0 for nil.
func valueBytes(i *client.EntityImage) (n int) {
	if i != nil {
		for _, v := range i.Properties {
			n += len(v)
		}
	}
	return n
}

// nodeState is a node at a commit.
type nodeState struct {
	shown *client.EntityImage // as the answer writes it
	// values are the properties with all integers as numbers. If a migration widens a property from I32 to
	// I64, the two forms are equal, although the answer may write an I64 as a string.
	values map[string]json.RawMessage
}

// versionOf describes what a commit changed, and reports whether it changed anything.
func versionOf(c engine.Commit, before, after *nodeState) (v client.NodeVersion, changed bool) {
	v = client.NodeVersion{Commit: encoding.Commit(c)}
	if before != nil {
		v.Before = before.shown
	}
	if after != nil {
		v.After = after.shown
	}
	switch {
	case before == nil && after == nil:
		return v, false
	case before == nil:
		v.Op = client.OpInsert
	case after == nil:
		v.Op = client.OpDelete
	case sameValues(before.values, after.values) && sameValues(after.values, before.values):
		return v, false
	default:
		v.Op = client.OpUpdate
	}
	return v, true
}

// sameValues reports whether each value of `a` is also in `b`. If `b` lacks a property, its value
// counts as null. So a change of the schema that adds or drops a property counts as a change only
// for nodes that have a value of that property.
func sameValues(a, b map[string]json.RawMessage) bool {
	for name, v := range a {
		if w, ok := b[name]; ok && !bytes.Equal(v, w) || !ok && string(v) != "null" {
			return false
		}
	}
	return true
}

// state returns the node at a commit, or nil if it does not exist there.
func (h *nodeHistory) state(ctx context.Context, c engine.Commit) (*nodeState, error) {
	at := engine.Target{Commit: c.ID}
	q, compiled := h.plans[c.Schema]
	if !compiled {
		schema, err := h.graph.Schema(ctx, at)
		if err != nil {
			return nil, err
		}
		q = nodePlan(schema.Catalog, h.typ)
		h.plans[c.Schema] = q
	}
	if q == nil {
		return nil, nil
	}
	result, err := h.graph.Query(ctx, q, engine.Args{value.OfString(h.id)}, at)
	if err != nil {
		return nil, err
	}
	defer result.Close()
	for {
		b, err := result.Next(ctx)
		if err != nil || b == nil {
			return nil, err
		}
		if b.Len == 0 {
			continue
		}
		state := &nodeState{shown: &client.EntityImage{Properties: map[string]json.RawMessage{}}, values: map[string]json.RawMessage{}}
		for i, column := range q.Read.Columns {
			if column.Name == idColumn {
				continue
			}
			v := b.Columns[i].Value(0)
			state.shown.Properties[column.Name] = encoding.ValueJSON(v, h.values)
			state.values[column.Name] = encoding.ValueJSON(v, encoding.Options{})
		}
		return state, nil
	}
}

// idColumn is the name of the column with the id of the node. No property can have this name,
// because it is not valid as the name of a property.
const idColumn = "@id"

// nodePlan returns a plan that reads one node of the type, with all properties except Blobs. The
// only argument of the plan is the id of the node. nodePlan returns nil if the schema lacks the
// type.
func nodePlan(s *catalog.Schema, typ string) *plan.Query {
	t := s.Node(typ)
	if t == nil {
		return nil
	}
	use := plan.Use{Entity: plan.Node, Type: t.Name}
	q := &plan.Query{
		Name: "node", Params: []plan.Param{{Name: "id", Type: value.Of(value.String)}}, Uses: []plan.Use{use},
		Read: &plan.Read{
			Limit: plan.NoLimit,
			Vars:  []plan.Var{{Name: "n", Entity: plan.Node, Type: t.Name}},
			Match: []plan.Clause{
				plan.Bind{Var: 0},
				plan.Filter{Cond: plan.Compare{Op: plan.Eq, Left: plan.ID{Var: 0}, Right: plan.ParamRef{Index: 0}, Unless: plan.NoParam}},
			},
			Ties:    []plan.VarID{0},
			Columns: []plan.Column{{Name: idColumn, Expr: plan.ID{Var: 0}, Type: value.Of(value.String)}},
		},
	}
	for _, p := range t.Properties {
		if p.Type.Kind == value.Blob {
			continue
		}
		property := use
		property.Property, property.Value = p.Name, p.Type
		q.Uses = append(q.Uses, property)
		q.Read.Columns = append(q.Read.Columns, plan.Column{Name: p.Name, Expr: plan.Prop{Var: 0, Name: p.Name, Type: p.Type}, Type: p.Type})
	}
	return q
}
