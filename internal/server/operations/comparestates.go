package operations

import (
	"context"
	"strings"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/pagetoken"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// CompareStates is the call that lists what a merge of one state into another would change. It merges nothing. Its answer is a
// *client.StateComparison.
type CompareStates struct {
	Source, Target State
	Range          engine.ChangeRange
	Token          string // page token; empty for the first page
}

// State is a branch, or a commit if Commit is not empty.
type State struct {
	Branch tool.BranchName
	Commit string
}

// need returns the permission to read the state.
func (s State) need() tool.Need {
	if s.Commit != "" {
		return tool.Need{Action: tool.Read, Commit: s.Commit, Via: tool.AdHoc}
	}
	return tool.Need{Action: tool.Read, Branch: s.Branch, Via: tool.AdHoc}
}

// at returns the target of the state.
func (s State) at(env *tool.Env) engine.Target {
	if s.Commit != "" {
		return engine.Target{Commit: s.Commit}
	}
	return env.Branch(s.Branch).At()
}

// text returns the state as page tokens and the log name it.
func (s State) text() string {
	if s.Commit != "" {
		return "commit " + s.Commit
	}
	return "branch " + string(s.Branch)
}

// Needs returns the permissions to read both states.
func (c *CompareStates) Needs() []tool.Need { return []tool.Need{c.Source.need(), c.Target.need()} }

// LogArguments returns the arguments of the call for the log.
func (c *CompareStates) LogArguments() [][]byte {
	return [][]byte{[]byte(c.Source.text()), []byte(c.Target.text())}
}

// Run compares the states, and lists a page of the changes.
func (c *CompareStates) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	r := c.Range
	if r.Limit <= 0 || r.Limit > maxChanges {
		r.Limit = maxChanges
	}
	r.Images, r.MaxBytes = true, maxChangeBytes
	l := &proposedChanges{graph: env.Graph, proposal: &engine.Proposal{}, source: c.Source.at(env), target: c.Target.at(env)}
	id := strings.Join([]string{c.Source.text(), c.Target.text()}, " into ")
	if c.Token != "" {
		if err := l.open(env, c.Token, pagetoken.Comparison, id); err != nil {
			return nil, err
		}
	}
	if err := l.start(ctx); err != nil {
		return nil, err
	}
	if err := l.read(ctx, r); err != nil {
		return nil, err
	}
	whole, err := env.Graph.Compare(ctx, l.source, l.target, engine.CompareOptions{MaxConflicts: 1})
	if err != nil {
		return nil, err
	}
	a := &client.StateComparison{
		SourceCommitID: l.source.Commit, BaseCommitID: l.base, TargetCommitID: l.target.Commit, Compares: client.TargetToResult, ConflictCount: whole.ConflictCount,
		Nodes: client.ChangeCounts(whole.MergedNodes), Edges: client.ChangeCounts(whole.MergedEdges), Changes: []client.ProposedChange{},
	}
	if l.result == nil {
		a.Compares, a.Nodes, a.Edges = client.BaseToSource, client.ChangeCounts(whole.Nodes), client.ChangeCounts(whole.Edges)
	}
	var more bool
	if a.Changes, more = l.wire(env); more {
		a.NextPageToken = new(l.seal(env, pagetoken.Comparison, id, &l.list[len(a.Changes)-1]))
	}
	return &tool.Outcome{Value: a, Less: "set a smaller limit"}, nil
}
