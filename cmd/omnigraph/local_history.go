package main

import (
	"context"
	"encoding/json"
	"errors"
	"math"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/server/service"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

func (l *local) Branches(ctx context.Context) (list []branchAnswer, err error) {
	_, err = l.served.Do(ctx, l.actor, "list_branches", &service.ListBranches{Answer: func(branches []engine.Branch, _ string) any {
		for _, b := range branches {
			list = append(list, branchOf(b))
		}
		return list
	}}, service.Encoding{})
	return list, err
}

func branchOf(b engine.Branch) branchAnswer {
	at := b.Head.Time.UnixMicro()
	return branchAnswer{Name: b.Name, GraphCommitID: &b.Head.ID, ActorID: orNull(b.Head.Actor), CreatedAt: &at}
}

func (l *local) CreateBranch(ctx context.Context, name string, from engine.Target) (*branchCreated, error) {
	a := &branchCreated{}
	return a, l.call(ctx, "create_branch", &service.CreateBranch{Name: name, From: from.Branch, Commit: from.Commit}, a)
}

func (l *local) DeleteBranch(ctx context.Context, name string) error {
	return l.call(ctx, "delete_branch", &service.DeleteBranch{Name: name}, &struct{}{})
}

func (l *local) Commits(ctx context.Context, branch string, r engine.CommitRange) (list []commitAnswer, err error) {
	err = l.do(ctx, tool.Grant{Action: tool.Read, Branch: branch, Via: tool.AdHoc}, func(ctx context.Context) error {
		commits, err := l.Graph.Commits(ctx, branch, r)
		for _, c := range commits {
			list = append(list, commitOf(c))
		}
		return err
	})
	return list, err
}

func (l *local) Commit(ctx context.Context, id string) (*commitAnswer, error) {
	grant := targetGrant(engine.Target{Commit: id}, tool.Read)
	a := &commitAnswer{}
	return a, l.do(ctx, grant, func(ctx context.Context) error {
		c, err := l.Graph.Commit(ctx, id)
		*a = commitOf(c)
		return err
	})
}

func commitOf(c engine.Commit) commitAnswer {
	a := commitAnswer{GraphCommitID: c.ID, GraphBranch: c.Branch, GraphManifestVersion: c.Seq, ActorID: orNull(c.Actor), CreatedAt: c.Time.UnixMicro()}
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
func (l *local) Merge(ctx context.Context, from, into string, remove bool, opts engine.MergeOptions) (*mergeAnswer, error) {
	m, gone := &service.MergeBranches{Source: from, Target: into, Options: opts}, &service.DeleteBranch{Name: from}
	a := &mergeAnswer{Source: from, Target: into, ActorID: orNull(l.actor.ID), DryRun: opts.DryRun}
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
	_, err := l.served.Do(ctx, l.actor, "merge", call, service.Encoding{})
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

func (l *local) Changes(ctx context.Context, commit string, r engine.ChangeRange) (*changesAnswer, error) {
	grant := targetGrant(engine.Target{Commit: commit}, tool.Read)
	a := &changesAnswer{Changes: []entityChange{}}
	return a, l.do(ctx, grant, func(ctx context.Context) error {
		c, err := l.Graph.Changes(ctx, commit, r)
		if err != nil {
			return err
		}
		a.GraphCommitID, a.Nodes, a.Edges, a.More = c.Commit.ID, changeCounts(c.Nodes), changeCounts(c.Edges), c.More
		for _, e := range c.List {
			change := entityChange{Kind: e.Kind.String(), EntityKind: e.Entity, TypeName: e.Type, ID: e.ID, From: e.From, To: e.To, Properties: []propertyChange{}}
			for _, p := range e.Properties {
				was, err := valueJSON(p.Old)
				if err != nil {
					return err
				}
				is, err := valueJSON(p.New)
				if err != nil {
					return err
				}
				change.Properties = append(change.Properties, propertyChange{p.Name, was, is})
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
		return service.JSON(elems)
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
			return service.JSON(value.Text(v))
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

func (l *local) Cleanup(ctx context.Context, opts engine.CleanupOptions) (*cleanupAnswer, error) {
	a := &cleanupAnswer{DryRun: opts.DryRun}
	return a, l.do(ctx, tool.Grant{Action: tool.Admin}, func(ctx context.Context) error {
		res, err := l.Graph.Cleanup(ctx, opts)
		if err != nil {
			return err
		}
		a.CommitsReclaimed, a.CommitsKept, a.FilesRemoved, a.BytesFreed = res.Commits, res.Kept, res.Segments, res.Bytes
		return nil
	})
}

func (l *local) Verify(ctx context.Context) (faults []service.StoredFault, err error) {
	err = l.do(ctx, tool.Grant{Action: tool.Admin}, func(ctx context.Context) (err error) {
		faults, err = service.StoredFaults(l.Graph.Verify(ctx))
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
