package operations

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/server/pagetoken"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// probedChanges is the number of changes that a full page reads at once to find out whether more follow.
const probedChanges = 100

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

// ListProposalChanges returns the call that lists a page of the changes of a proposal: what its merge changes
// on the target, or has changed there, and what the source has changed without an effect there. While there is no
// result of the merge, it lists what the source has changed since the merge base. The list has new and deleted nodes, then
// changed nodes, then edges. The argument `token` is the page token, or empty for the first page. A page token
// contains the ids of the compared commits, so that all pages compare the same commits. The answer is a
// *client.ProposalChanges.
func ListProposalChanges(id string, r engine.ChangeRange, token string) *Proposal {
	return &Proposal{log: []string{id}, run: func(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
		_, a, err := pageOfChanges(ctx, env, id, r, token)
		if err != nil {
			return nil, err
		}
		return &tool.Outcome{Value: a, Less: lessChanges}, nil
	}}
}

// lessChanges says how to get a smaller answer.
const lessChanges = "set a smaller limit"

// DigestedChanges is a page of the changes of a proposal with the digest that a decision about these changes names. It is empty if the
// proposal is not open, or if its branches cannot be compared.
type DigestedChanges struct {
	*client.ProposalChanges
	Digest string
}

// ListDigestedChanges is like [ListProposalChanges]. The answer of the call is a *DigestedChanges.
func ListDigestedChanges(id string, r engine.ChangeRange, token string) *Proposal {
	return &Proposal{log: []string{id}, run: func(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
		l, page, err := pageOfChanges(ctx, env, id, r, token)
		if err != nil {
			return nil, err
		}
		a := &DigestedChanges{ProposalChanges: page}
		if l.proposal.State == engine.ProposalOpen {
			switch c, err := env.Graph.Compare(ctx, l.source, l.target, engine.CompareOptions{Resolutions: l.proposal.Resolutions, MaxConflicts: 1}); {
			case err == nil:
				a.Digest = c.Digest
			case !errors.As(err, new(*engine.SchemasDiverge)) && !errors.As(err, new(*engine.BadArgument)):
				return nil, err
			}
		}
		return &tool.Outcome{Value: a, Less: lessChanges}, nil
	}}
}

// pageOfChanges returns a page of the changes of a proposal, and how it was read.
func pageOfChanges(ctx context.Context, env *tool.Env, id string, r engine.ChangeRange, token string) (*proposedChanges, *client.ProposalChanges, error) {
	if r.Limit <= 0 || r.Limit > maxChanges {
		r.Limit = maxChanges
	}
	r.Images, r.MaxBytes = true, maxChangeBytes
	p, err := readProposal(ctx, env, id)
	if err != nil {
		return nil, nil, err
	}
	if p.Query() != "" {
		return nil, nil, &engine.Conflict{Reason: fmt.Sprintf("proposal %s is about the query %s, and changes no entity", p.ID, queryName(p))}
	}
	l := &proposedChanges{graph: env.Graph, proposal: p}
	l.source, l.target = proposalTargets(p)
	if token != "" {
		if err := l.open(env, token, pagetoken.ProposalChanges, id); err != nil {
			return nil, nil, err
		}
	}
	if err := l.start(ctx); err != nil {
		return nil, nil, err
	}
	if err := l.read(ctx, r); err != nil {
		return nil, nil, err
	}
	a := &client.ProposalChanges{SourceCommitID: l.source.Commit, BaseCommitID: l.base, TargetCommitID: l.target.Commit, Compares: client.TargetToResult, Changes: []client.ProposedChange{}}
	if l.result == nil {
		a.Compares = client.BaseToSource
	}
	var more bool
	if a.Changes, more = l.wire(env); more {
		a.NextPageToken = new(l.seal(env, pagetoken.ProposalChanges, id, &l.list[len(a.Changes)-1]))
	}
	return l, a, nil
}

// proposedChange is a change in the list of a proposal.
type proposedChange struct {
	engine.EntityChange
	effect string // one of the values of client.ProposedChange.Effect
	phase  int    // the part of the list that has the change
}

// proposedChanges is a page of the changes of a proposal.
type proposedChanges struct {
	graph          engine.Graph
	proposal       *engine.Proposal
	source, target engine.Target         // the compared states; after start, commits
	base           string                // the id of the merge base
	result         engine.Preview        // the result of the merge; nil if there is none
	phase          int                   // the part in which the page starts
	after          engine.ChangePosition // the last change of the page before, in that part
	list           []proposedChange
	more           bool // changes follow after the list
}

// wire returns the changes of the page in the form that clients receive, and reports whether more follow.
func (l *proposedChanges) wire(env *tool.Env) (changes []client.ProposedChange, more bool) {
	list := make([]engine.EntityChange, len(l.list))
	for i := range l.list {
		list[i] = l.list[i].EntityChange
	}
	wired, more := wireChanges(env, list, l.more)
	changes = []client.ProposedChange{}
	for i, c := range wired {
		changes = append(changes, client.ProposedChange{EntityChange: c, Effect: l.list[i].effect})
	}
	return changes, more
}

// open sets the place where the page starts. The list is about the proposal, or the comparison, with the id. The error is a
// *tool.ArgumentError.
func (l *proposedChanges) open(env *tool.Env, token string, list pagetoken.List, id string) error {
	place, err := env.OpenPage(token, list)
	if err != nil {
		return err
	}
	if place.Branch != id {
		return tool.BadPageToken("belongs to the " + string(list) + " of " + place.Branch)
	}
	parts := strings.SplitN(place.After, "/", 4)
	if len(parts) < 4 {
		return tool.BadPageToken("comes from another version of the server")
	}
	if parts[1] != resolutionsDigest(l.proposal.Resolutions) {
		return tool.BadPageToken("comes from before another resolution of a conflict")
	}
	var ok bool
	l.source, l.target = engine.Target{Commit: place.Commit}, engine.Target{Commit: parts[0]}
	l.phase, err = strconv.Atoi(parts[2])
	if l.after, ok = parseChangePosition(parts[3]); !ok || err != nil || l.phase < 0 || l.phase >= len(changePhases) {
		return tool.BadPageToken("comes from another version of the server")
	}
	return nil
}

// resolutionsDigest returns a short digest of resolutions. It contains no slash.
func resolutionsDigest(all []engine.Resolution) string {
	var h engine.ChangeHash
	for i := range all {
		h.Resolve(&all[i])
	}
	_, digits, _ := strings.Cut(h.Sum(), ":")
	return digits[:16]
}

// seal returns the token of the page that follows after a change.
func (l *proposedChanges) seal(env *tool.Env, list pagetoken.List, id string, last *proposedChange) string {
	return env.SealPage(pagetoken.Place{List: list, Branch: id, Commit: l.source.Commit,
		After: strings.Join([]string{l.target.Commit, resolutionsDigest(l.proposal.Resolutions), strconv.Itoa(last.phase), positionText(last.Position())}, "/")})
}

// start finds the commits to compare, and the result of the merge. There is none if the merge has conflicts without a
// resolution, or if the two states cannot be merged. The result of a merge that was made is the state of its commit.
func (l *proposedChanges) start(ctx context.Context) error {
	c, err := l.graph.Compare(ctx, l.source, l.target, engine.CompareOptions{ListOnly: true})
	if err != nil {
		return err
	}
	l.source, l.target, l.base = engine.Target{Commit: c.Source.ID}, engine.Target{Commit: c.Target.ID}, c.Base.ID
	merged, resolutions := l.source, l.proposal.Resolutions
	if p := l.proposal; p.Merge != "" && l.source.Commit == p.Head && l.target.Commit == p.TargetHead {
		// The merge commit descends from the target, so that a merge of it into the target has its state as the result.
		merged, resolutions = engine.Target{Commit: p.Merge}, nil
	}
	l.result, err = l.graph.Preview(ctx, merged, l.target, resolutions)
	if errors.As(err, new(*engine.MergeConflicts)) || errors.As(err, new(*engine.SchemasDiverge)) || errors.As(err, new(*engine.BadArgument)) {
		l.result, err = nil, nil
	}
	return err
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
		for more := true; more; {
			full := len(l.list) >= r.Limit || bytes >= r.MaxBytes
			if part.Limit, part.MaxBytes = r.Limit-len(l.list), r.MaxBytes-bytes; full {
				part.Limit, part.MaxBytes, part.Images = probedChanges, 0, false // only to know whether the part has a change
			}
			var list []proposedChange
			var err error
			if list, part.After, more, err = l.next(ctx, part); err != nil {
				return err
			}
			if full && len(list) > 0 {
				l.more = true
				return nil
			}
			for k := range list {
				list[k].phase = i
				bytes += list[k].Bytes()
			}
			l.list = append(l.list, list...)
		}
	}
	return nil
}

// next returns changes of one part, in order, and the position up to which they are complete. It reports whether the part may
// have more. The list may be empty although there are more.
func (l *proposedChanges) next(ctx context.Context, part engine.ChangeRange) (list []proposedChange, end engine.ChangePosition, more bool, err error) {
	var own, merged []engine.EntityChange // what the source changed, and what the merge changes
	var ownMore, mergedMore bool
	if l.result != nil {
		if merged, mergedMore, err = l.result.Changes(ctx, part); err != nil {
			return nil, end, false, err
		}
	}
	// If the target is the merge base, the merge changes what the source changed.
	if l.result == nil || l.base != l.target.Commit {
		c, err := l.graph.Compare(ctx, l.source, l.target, engine.CompareOptions{Changes: &part, ListOnly: true})
		if err != nil {
			return nil, end, false, err
		}
		own, ownMore = c.List, c.More
	}
	for _, c := range merged {
		list = append(list, proposedChange{EntityChange: c, effect: client.EffectChanges})
	}
	for _, c := range own {
		p := proposedChange{EntityChange: c, effect: client.EffectUndecided}
		if l.result != nil {
			image, same, err := l.result.Entity(ctx, c.Position())
			if err != nil {
				return nil, end, false, err
			}
			if !same {
				continue // it is among the changes of the merge, maybe in another part
			}
			p.effect = effectOf(&c, image)
			p.Before, p.After = image, image
		}
		list = append(list, p)
	}
	slices.SortStableFunc(list, func(a, b proposedChange) int { return comparePositions(a.Position(), b.Position()) })
	// Beyond the end of a list that has more, the other list alone is not complete.
	for _, of := range []struct {
		list []engine.EntityChange
		more bool
	}{{own, ownMore}, {merged, mergedMore}} {
		if last := len(of.list) - 1; of.more && last >= 0 {
			if at := of.list[last].Position(); end.Entity == "" || comparePositions(at, end) < 0 {
				end = at
			}
		}
	}
	if end.Entity != "" {
		list = slices.DeleteFunc(list, func(c proposedChange) bool { return comparePositions(c.Position(), end) > 0 })
	}
	if most := part.Limit; len(list) > most {
		list, end, more = list[:most], list[most-1].Position(), true
	}
	return list, end, more || ownMore || mergedMore, nil
}

// comparePositions compares two places in a list of changes.
func comparePositions(a, b engine.ChangePosition) int {
	return cmp.Or(-strings.Compare(a.Entity, b.Entity), strings.Compare(a.Type, b.Type), strings.Compare(a.ID, b.ID))
}

// effectOf says why a change of the source changes nothing on the target, which has the entity as in `image`.
func effectOf(c *engine.EntityChange, image *engine.Image) string {
	if (c.After == nil) != (image == nil) {
		return client.EffectKept
	}
	if c.After == nil {
		return client.EffectThere
	}
	is := map[string]value.Value{}
	for _, p := range image.Properties {
		is[p.Name] = p.Value
	}
	was := map[string]value.Value{}
	if c.Before != nil {
		for _, p := range c.Before.Properties {
			was[p.Name] = p.Value
		}
	}
	for _, p := range c.After.Properties {
		if old, had := was[p.Name]; (!had || !value.Equal(old, p.Value)) && !value.Equal(is[p.Name], p.Value) {
			return client.EffectKept
		}
	}
	ends := func(i *engine.Image) [4]string { return [4]string{i.From, i.FromType, i.To, i.ToType} }
	if moved := c.Before == nil || ends(c.Before) != ends(c.After); moved && ends(c.After) != ends(image) {
		return client.EffectKept
	}
	return client.EffectThere
}
