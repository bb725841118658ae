package main

import (
	"context"
	"encoding/json"
	"errors"
	"math"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

func (l *local) Branches(ctx context.Context) (list []client.BranchHead, err error) {
	_, err = l.served.Do(ctx, l.actor, "list_branches", &operations.ListBranches{Answer: func(branches []engine.Branch, _ string) any {
		for _, b := range branches {
			list = append(list, branchOf(b))
		}
		return list
	}}, encoding.Options{})
	return list, err
}

func branchOf(b engine.Branch) client.BranchHead {
	return client.BranchHead{Name: b.Name, GraphCommitID: b.Head.ID, ActorID: orNull(b.Head.Actor), CreatedAt: b.Head.Time.UnixMicro()}
}

func (l *local) CreateBranch(ctx context.Context, name string, from engine.Target) (*client.BranchCreated, error) {
	a := &client.BranchCreated{}
	return a, l.call(ctx, "create_branch", &operations.CreateBranch{Name: name, From: from.Branch, Commit: from.Commit}, a)
}

func (l *local) DeleteBranch(ctx context.Context, name string) error {
	return l.call(ctx, "delete_branch", &operations.DeleteBranch{Name: name}, &struct{}{})
}

func (l *local) Commits(ctx context.Context, branch string, r engine.CommitRange) (list []client.CommitAnswer, err error) {
	err = l.do(ctx, tool.Grant{Action: tool.Read, Branch: branch, Via: tool.AdHoc}, func(ctx context.Context) error {
		commits, err := l.Graph.Commits(ctx, branch, r)
		for _, c := range commits {
			list = append(list, commitOf(c))
		}
		return err
	})
	return list, err
}

func (l *local) Commit(ctx context.Context, id string) (*client.CommitAnswer, error) {
	grant := targetGrant(engine.Target{Commit: id}, tool.Read)
	a := &client.CommitAnswer{}
	return a, l.do(ctx, grant, func(ctx context.Context) error {
		c, err := l.Graph.Commit(ctx, id)
		*a = commitOf(c)
		return err
	})
}

func commitOf(c engine.Commit) client.CommitAnswer {
	a := client.CommitAnswer{GraphCommitID: c.ID, GraphBranch: c.Branch, GraphManifestVersion: c.Seq, ActorID: orNull(c.Actor), CreatedAt: c.Time.UnixMicro()}
	if len(c.Parents) > 0 {
		a.ParentCommitID = &c.Parents[0]
	}
	if len(c.Parents) > 1 {
		a.MergedParentCommitID = &c.Parents[1]
	}
	return a
}

// Merge checks all permissions first. So an actor that may not delete the branch is refused before
// the branch is merged.
func (l *local) Merge(ctx context.Context, from, into string, remove bool, opts engine.MergeOptions) (*client.MergeAnswer, error) {
	m, gone := &operations.MergeBranches{Source: from, Target: into, Options: opts}, &operations.DeleteBranch{Name: from}
	a := &client.MergeAnswer{Source: from, Target: into, ActorID: orNull(l.actor.ID), DryRun: opts.DryRun}
	call := &operation{m.Grants(), func(ctx context.Context, env *tool.Env) error {
		res, merged, err := m.MergeAway(ctx, env)
		if err != nil {
			return err
		}
		gone = merged
		a.Outcome, a.AffectedNodes, a.AffectedEdges, a.Commit = res.Outcome.String(), res.Nodes, res.Edges, commitID(res.Commit)
		return nil
	}}
	if remove {
		call.grants = append(call.grants, gone.Grants()...)
	}
	_, err := l.served.Do(ctx, l.actor, "merge", call, encoding.Options{})
	var conflicts *engine.MergeConflicts
	switch {
	case errors.As(err, &conflicts):
		return nil, conflictsOf(conflicts)
	case err != nil:
		return nil, err
	}
	if remove && !opts.DryRun {
		if err := gone.Done(l.call(ctx, "delete_branch", gone, &struct{}{})); err != nil {
			a.BranchDeleteError = orNull(err.Error())
		} else {
			a.BranchDeleted = true
		}
	}
	return a, nil
}

func (l *local) Changes(ctx context.Context, commit string, r engine.ChangeRange) (*client.ChangesAnswer, error) {
	grant := targetGrant(engine.Target{Commit: commit}, tool.Read)
	a := &client.ChangesAnswer{Changes: []client.EntityChange{}}
	return a, l.do(ctx, grant, func(ctx context.Context) error {
		c, err := l.Graph.Changes(ctx, commit, r)
		if err != nil {
			return err
		}
		a.GraphCommitID, a.Nodes, a.Edges, a.More = c.Commit.ID, client.ChangeCounts(c.Nodes), client.ChangeCounts(c.Edges), c.More
		for _, e := range c.List {
			change := client.EntityChange{Kind: e.Kind.String(), EntityKind: e.Entity, TypeName: e.Type, ID: e.ID, From: e.From, To: e.To, Properties: []client.PropertyChange{}}
			for _, p := range e.Properties {
				was, err := valueJSON(p.Old)
				if err != nil {
					return err
				}
				is, err := valueJSON(p.New)
				if err != nil {
					return err
				}
				change.Properties = append(change.Properties, client.PropertyChange{Name: p.Name, Old: was, New: is})
			}
			a.Changes = append(a.Changes, change)
		}
		return nil
	})
}

// valueJSON encodes a value in the form that the envelope of a read uses.
func valueJSON(v value.Value) (json.RawMessage, error) {
	switch {
	case v.IsNull():
		return json.RawMessage("null"), nil
	case v.IsList():
		elems := make([]json.RawMessage, len(v.Elems()))
		for i, e := range v.Elems() {
			var err error
			if elems[i], err = valueJSON(e); err != nil {
				return nil, err
			}
		}
		return encoding.JSON(elems)
	}
	switch v.Kind().Storage() {
	case value.InFloat32:
		return floatJSON(nil, v.Float(), 32), nil
	case value.InFloat64:
		return floatJSON(nil, v.Float(), 64), nil
	case value.InVector:
		list := []byte{'['}
		for i, f := range v.Vector() {
			if i > 0 {
				list = append(list, ',')
			}
			list = floatJSON(list, float64(f), 32)
		}
		return append(list, ']'), nil
	default:
		if v.Kind().JSON() == value.JSONText {
			return encoding.JSON(value.Text(v))
		}
		return value.AppendText(nil, v), nil
	}
}

// floatJSON appends a number, or a name such as "NaN" if JSON has no number for it.
func floatJSON(dst []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(dst, `"-Infinity"`...)
	}
	return value.AppendFloat(dst, f, bits)
}

func (l *local) Cleanup(ctx context.Context, opts engine.CleanupOptions) (*client.CleanedUp, error) {
	a := &client.CleanedUp{DryRun: opts.DryRun}
	return a, l.do(ctx, tool.Grant{Action: tool.Admin}, func(ctx context.Context) error {
		res, err := l.Graph.Cleanup(ctx, opts)
		if err != nil {
			return err
		}
		a.CommitsReclaimed, a.CommitsKept, a.FilesRemoved, a.BytesFreed = res.Commits, res.Kept, res.Segments, res.Bytes
		return nil
	})
}

func (l *local) Verify(ctx context.Context) (faults []operations.StoredFault, err error) {
	err = l.do(ctx, tool.Grant{Action: tool.Admin}, func(ctx context.Context) (err error) {
		faults, err = operations.StoredFaults(l.Graph.Verify(ctx))
		return err
	})
	return faults, err
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
