package operations

import (
	"context"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/restricted"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// RunChecks returns the call that runs the checks of the graph on the head of a branch. The answer is a
// *client.ChecksAnswer.
func RunChecks(branch tool.BranchName) *Look {
	return &Look{Branch: branch, Whole: true, Read: func(ctx context.Context, env *tool.Env, c engine.Commit) (any, error) {
		a := &client.ChecksAnswer{Branch: env.Branch(branch).Name(), GraphCommitID: c.ID, Checks: []client.CheckResult{}}
		if env.Checks != nil {
			outcomes := env.Checks.Run(ctx, checkedCommit(env, restricted.Whole(env.Graph), c.ID, ""))
			if rights := restricted.Digest(env.Graph); rights != "" {
				outcomes = ownRows(outcomes, env.Checks.Run(ctx, checkedCommit(env, env.Graph, c.ID, rights)))
			}
			a.Checks = checkResults(env, outcomes, env.Branch(branch))
		}
		return a, nil
	}}
}

// ownRows returns outcomes with the rows that the caller may see, from the outcomes of checks under the rights of the caller.
func ownRows(outcomes, own []tool.CheckOutcome) []tool.CheckOutcome {
	seen := make([]tool.CheckOutcome, len(outcomes))
	for i, o := range outcomes {
		seen[i] = own[i]
		seen[i].Result, seen[i].Reason, seen[i].Detail = o.Result, o.Reason, ""
	}
	return seen
}

// checkedCommit returns the state of a commit for checks. The argument `rights` is the digest of the rights under which the graph is
// read.
func checkedCommit(env *tool.Env, g engine.Graph, commit, rights string) tool.CheckedState {
	return tool.CheckedState{Key: commit + "/" + rights, Open: func(context.Context) (func(context.Context, *plan.Query) (engine.Result, error), error) {
		return func(ctx context.Context, q *plan.Query) (engine.Result, error) {
			seen := restricted.Plan(g, q)
			if seen == nil {
				return nil, &engine.NotFound{What: "stored query", Name: q.Name}
			}
			return g.Query(ctx, seen, noArguments(q), engine.Target{Commit: commit, Now: env.Now})
		}, nil
	}}
}

// checkedMerge returns the state that the merge of a compared proposal would commit, for checks.
func (s *comparedProposal) checkedMerge() tool.CheckedState {
	return s.checkedMergeOn(restricted.Whole(s.env.Graph), "")
}

// checkedMergeOn is like checkedMerge, on a graph with the rights that have a digest.
func (s *comparedProposal) checkedMergeOn(g engine.Graph, rights string) tool.CheckedState {
	source, target, resolutions := s.comparison.Source.ID, s.comparison.Target.ID, s.proposal.Resolutions
	var h engine.ChangeHash
	for i := range resolutions {
		h.Resolve(&resolutions[i])
	}
	return tool.CheckedState{
		Key: source + "/" + target + "/" + h.Sum() + "/" + rights,
		Open: func(ctx context.Context) (func(context.Context, *plan.Query) (engine.Result, error), error) {
			p, err := g.Preview(ctx, engine.Target{Commit: source}, engine.Target{Commit: target}, resolutions)
			if err != nil {
				return nil, err
			}
			return func(ctx context.Context, q *plan.Query) (engine.Result, error) {
				seen := restricted.PlanOn(g, q, targetOf(s.proposal))
				if seen == nil {
					return nil, &engine.NotFound{What: "stored query", Name: q.Name}
				}
				return p.Query(ctx, seen, noArguments(q), s.env.Now)
			}, nil
		},
	}
}

// noArguments returns the arguments of a call that leaves out every parameter.
func noArguments(q *plan.Query) engine.Args { return make(engine.Args, len(q.Params)) }

// runChecks runs the checks on the result of the merge. It sets the outcomes of an open proposal;
// those of another proposal stay empty. Without a result of the merge, all checks are unfinished.
func (s *comparedProposal) runChecks(ctx context.Context) {
	if s.env.Checks == nil || s.proposal.State != engine.ProposalOpen {
		return
	}
	reason := ""
	switch {
	case s.fault != nil:
		reason = "the branches cannot be compared"
	case s.comparison.ConflictCount > 0:
		reason = "the merge has conflicts; resolve them first"
	default:
		s.outcomes = s.env.Checks.Run(ctx, s.checkedMerge())
		if rights := restricted.DigestOn(s.env.Graph, targetOf(s.proposal)); rights != "" {
			s.outcomes = ownRows(s.outcomes, s.env.Checks.Run(ctx, s.checkedMergeOn(s.env.Graph, rights)))
		}
		return
	}
	s.outcomes = s.env.Checks.Unrun(reason)
}

// checkResults converts outcomes for the caller. The caller sees the name of a check and its rows only if
// the caller may invoke the query and read on the branch what it names.
func checkResults(env *tool.Env, outcomes []tool.CheckOutcome, branch tool.Branch) []client.CheckResult {
	all := make([]client.CheckResult, len(outcomes))
	for i, o := range outcomes {
		info := o.Query.Info()
		w := &all[i]
		w.Title, w.Outcome = info.MustBeEmpty, checkWords[o.Result]
		invokes := env.Require(tool.Grant{Action: tool.InvokeQuery, Query: info.Name}) == nil && restricted.PlanOn(env.Graph, o.Query.Plan(), branch) != nil
		if o.Reason != "" {
			reason := o.Reason
			if invokes && o.Detail != "" {
				reason += ": " + o.Detail
			}
			w.Reason = &reason
		}
		if !invokes {
			continue
		}
		w.Query, w.MoreRows = info.Name, o.More
		rows := o.Rows
		switch {
		case env.StringIntegers:
			rows = o.Exact
		case env.SafeIntegers:
			rows = o.Safe
		}
		for _, row := range rows {
			w.Rows = append(w.Rows, client.Row(row))
		}
	}
	return all
}

// checkWords are the values of client.CheckResult.Outcome.
var checkWords = map[tool.CheckResult]string{tool.CheckPassed: client.CheckPassed, tool.CheckFailed: client.CheckFailed, tool.CheckUnfinished: client.CheckUnfinished}
