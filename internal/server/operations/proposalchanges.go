package operations

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/pagetoken"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// changePhase selects a part of the changes of a proposal.
type changePhase struct {
	entity string
	kinds  []engine.ChangeKind
}

// changePhases are the parts of the list of the changes of a proposal, in the order of the list. Within a part, the
// changes are in the order of their positions. The index of a part is in page tokens.
var changePhases = [...]changePhase{
	{client.KindNode, []engine.ChangeKind{engine.Inserted, engine.Deleted}},
	{client.KindNode, []engine.ChangeKind{engine.Updated}},
	{client.KindEdge, []engine.ChangeKind{engine.Inserted, engine.Updated, engine.Deleted}},
}

// phaseOf returns the index of the part that has a change.
func phaseOf(c *engine.EntityChange) int {
	return slices.IndexFunc(changePhases[:], func(p changePhase) bool { return p.entity == c.Entity && slices.Contains(p.kinds, c.Kind) })
}

// within returns the range of those changes of r that belong to the part. ok is false if there can be none.
func (p changePhase) within(r engine.ChangeRange) (part engine.ChangeRange, ok bool) {
	if len(r.Entities) > 0 && !slices.Contains(r.Entities, p.entity) {
		return r, false
	}
	kinds := p.kinds
	if len(r.Kinds) > 0 {
		kinds = slices.DeleteFunc(slices.Clone(kinds), func(k engine.ChangeKind) bool { return !slices.Contains(r.Kinds, k) })
	}
	r.Entities, r.Kinds = []string{p.entity}, kinds
	return r, len(kinds) > 0
}

// ListProposalChanges returns the call that lists a page of the changes of a proposal: what the source
// has changed since the merge base. The list has new and deleted nodes, then changed nodes, then edges. The argument
// `token` is the page token, or empty for the first page. A page token contains the ids of the
// compared commits, so that all pages compare the same commits. The answer is a
// *client.ProposalChanges.
func ListProposalChanges(id string, r engine.ChangeRange, token string) *Proposal {
	if r.Limit <= 0 || r.Limit > maxChanges {
		r.Limit = maxChanges
	}
	r.Images, r.MaxBytes = true, maxChangeBytes
	return &Proposal{log: []string{id}, run: func(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
		p, err := readProposal(ctx, env, id)
		if err != nil {
			return nil, err
		}
		l := &proposedChanges{graph: env.Graph}
		l.source, l.target = proposalTargets(p)
		if token != "" {
			if err := l.open(env, token, id); err != nil {
				return nil, err
			}
		}
		if err := l.read(ctx, r); err != nil {
			return nil, err
		}
		a := &client.ProposalChanges{SourceCommitID: l.source.Commit, BaseCommitID: l.base}
		var more bool
		if a.Changes, more = wireChanges(env, l.list, l.more); more {
			a.NextPageToken = new(l.seal(env, id, &l.list[len(a.Changes)-1]))
		}
		return &tool.Outcome{Value: a, Less: "set a smaller limit"}, nil
	}}
}

// proposedChanges is a page of the changes of a proposal.
type proposedChanges struct {
	graph          engine.Graph
	source, target engine.Target         // the compared states; once read, commits
	phase          int                   // the part in which the page starts
	after          engine.ChangePosition // the last change of the page before, in that part
	base           string                // the id of the merge base
	list           []engine.EntityChange
	more           bool // changes follow after the list
}

// open sets the place where the page starts. The error is a *tool.ArgumentError.
func (l *proposedChanges) open(env *tool.Env, token, id string) error {
	place, err := env.OpenPage(token, pagetoken.ProposalChanges)
	if err != nil {
		return err
	}
	if place.Branch != id {
		return tool.BadPageToken("belongs to the proposal " + place.Branch)
	}
	target, rest, _ := strings.Cut(place.After, "/")
	phase, position, _ := strings.Cut(rest, "/")
	var ok bool
	l.source, l.target = engine.Target{Commit: place.Commit}, engine.Target{Commit: target}
	l.phase, err = strconv.Atoi(phase)
	if l.after, ok = parseChangePosition(position); !ok || err != nil || l.phase < 0 || l.phase >= len(changePhases) {
		return tool.BadPageToken("comes from another version of the server")
	}
	return nil
}

// seal returns the token of the page that follows after a change.
func (l *proposedChanges) seal(env *tool.Env, id string, last *engine.EntityChange) string {
	return env.SealPage(pagetoken.Place{List: pagetoken.ProposalChanges, Branch: id, Commit: l.source.Commit,
		After: l.target.Commit + "/" + strconv.Itoa(phaseOf(last)) + "/" + positionText(last.Position())})
}

// read reads the changes of the page, and finds out whether more follow.
func (l *proposedChanges) read(ctx context.Context, r engine.ChangeRange) error {
	bytes := 0
	for i := l.phase; i < len(changePhases); i++ {
		part, ok := changePhases[i].within(r)
		if !ok {
			continue
		}
		if i == l.phase {
			part.After = l.after
		}
		full := len(l.list) >= r.Limit || bytes >= r.MaxBytes
		if part.Limit, part.MaxBytes = r.Limit-len(l.list), r.MaxBytes-bytes; full {
			part.Limit, part.MaxBytes, part.Images = 1, 0, false // only to know whether the part has a change
		}
		c, err := l.graph.Compare(ctx, l.source, l.target, engine.CompareOptions{Changes: &part, ListOnly: true})
		if err != nil {
			return err
		}
		// All parts and all pages compare the same commits.
		l.source, l.target, l.base = engine.Target{Commit: c.Source.ID}, engine.Target{Commit: c.Target.ID}, c.Base.ID
		if full {
			if l.more = len(c.List) > 0; l.more {
				return nil
			}
			continue
		}
		for k := range c.List {
			bytes += c.List[k].Bytes()
		}
		if l.list = append(l.list, c.List...); c.More {
			l.more = true
			return nil
		}
	}
	return nil
}
