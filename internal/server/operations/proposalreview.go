package operations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// ReviewProposal returns the call that approves an open proposal, asks for changes, or adds a
// comment. To approve or ask for changes, the caller needs proposal_review on the target, and must
// state the digest of the proposal that the caller saw.
func ReviewProposal(id string, b client.ProposalReviewBody) *Proposal {
	step := map[string]Step{client.DecisionApprove: StepApprove, client.DecisionRequest: StepRequest, client.DecisionComment: StepComment}[b.Decision]
	return changing(id, step, []string{b.Decision, b.Digest, b.Comment}, func(ctx context.Context, env *tool.Env, p *engine.Proposal) error {
		e := event(env, engine.EventCommented, b.Comment)
		kind, ok := map[string]engine.ProposalEventKind{client.DecisionApprove: engine.EventApproved, client.DecisionRequest: engine.EventRejected, client.DecisionComment: engine.EventCommented}[b.Decision]
		switch {
		case !ok:
			return &tool.ArgumentError{Path: "decision", Detail: fmt.Sprintf("found %q, expected approve, request_changes or comment", b.Decision)}
		case kind == engine.EventCommented:
			if err := mayEdit(env, p); err != nil {
				return err
			}
			if strings.TrimSpace(b.Comment) == "" {
				return &tool.ArgumentError{Path: "comment", Detail: "found an empty text, expected a comment"}
			}
		default:
			if err := env.Require(tool.Grant{Action: tool.ProposalReview, Branch: targetOf(p)}); err != nil {
				return err
			}
			if b.On != nil {
				return &tool.ArgumentError{Path: "on", Detail: "found with the decision " + b.Decision + ", which is about the whole proposal", Help: "send a comment about the entity first"}
			}
			if b.Digest == "" {
				return &tool.ArgumentError{Path: "digest", Detail: "missing, expected the digest of the changes that you saw", Help: "read the proposal and send its digest"}
			}
			s := compareProposal(ctx, env, p)
			if s.fault != nil {
				return s.fault
			}
			if err := s.checkDigest(b.Digest); err != nil {
				return err
			}
			if kind == engine.EventApproved {
				if err := checkApprover(ctx, s); err != nil {
					return err
				}
			}
			e.Kind, e.Digest = kind, s.comparison.Digest
		}
		if b.On != nil {
			e.On = engine.ChangePosition{Entity: b.On.EntityKind, Type: b.On.TypeName, ID: b.On.ID}
		}
		p.Events = append(p.Events, e)
		return nil
	})
}

// checkApprover returns an *engine.Conflict if the caller may not approve the proposal because of its
// contributors: the caller or an agent of it is one of them or, if the protection of the target forbids that, owns one.
func checkApprover(ctx context.Context, s *comparedProposal) error {
	p := s.proposal
	for _, actor := range participants(s.env.Actor) {
		if slices.Contains(participants(p.Author), actor) {
			return &engine.Conflict{Reason: fmt.Sprintf("%s opened proposal %s, so another actor must approve it", name(actor), p.ID)}
		}
	}
	contributors, err := s.readContributors(ctx)
	if err != nil {
		return err
	}
	if actor := s.contributor(s.env.Actor); actor != nil {
		return &engine.Conflict{Reason: fmt.Sprintf("%s committed to branch %s, so another actor must approve proposal %s", name(*actor), contributors[*actor], p.ID)}
	}
	if owner, owned := s.ownedBy(s.env.Actor); owned != "" {
		return &engine.Conflict{Reason: fmt.Sprintf("%s owns %s, who contributed to proposal %s, so another actor must approve it: the protection of branch %s says owner_approves: false",
			name(owner), owned, p.ID, p.Target)}
	}
	return nil
}

// participants returns the actor and the agents in the name of an actor. What one of them wrote with or through another is the work of
// both, so neither may approve it, alone or through others.
func participants(name string) []string {
	actor, agents := engine.SplitActor(name)
	return append([]string{actor}, agents...)
}

// contributor returns the first participant of an approval that contributed to the proposal, or nil. REQUIRES: readContributors has
// succeeded.
func (s *comparedProposal) contributor(approver string) *string {
	for _, actor := range participants(approver) {
		if _, ok := s.contributors[actor]; ok {
			return &actor
		}
	}
	return nil
}

// ownedBy returns a participant of an approval and a contributor of which one owns the other, the owner first, if the protection of
// the target forbids the approvals of owners. Otherwise it returns "". REQUIRES: readContributors has succeeded.
func (s *comparedProposal) ownedBy(approver string) (owner, owned string) {
	if need := s.protection(); need == nil || !need.NoOwners {
		return "", ""
	}
	for _, c := range slices.Sorted(maps.Keys(s.contributors)) {
		for _, actor := range participants(approver) {
			if s.env.Owns(actor, c) {
				return actor, c
			}
			if s.env.Owns(c, actor) {
				return c, actor
			}
		}
	}
	return "", ""
}

// readContributors returns the actors that opened the proposal or made a commit that the proposal would
// merge, on any branch, each with the branch of one of these commits, and their agents. The branch is empty for the author
// without a commit. The commits are the ancestors of the source that are not ancestors of the merge base.
func (s *comparedProposal) readContributors(ctx context.Context) (map[string]string, error) {
	if s.contributors != nil {
		return s.contributors, nil
	}
	found := map[string]string{}
	note := func(name, branch string) {
		for _, actor := range participants(name) {
			found[actor] = branch
		}
	}
	note(s.proposal.Author, "")
	merged := map[string]bool{} // the reached commits; true for an ancestor of the merge base
	var waiting []string        // reached commits, sorted; the loop has not visited them
	left := 0                   // number of waiting commits that are not ancestors of the merge base
	reach := func(id string, isMerged bool) {
		was, reached := merged[id]
		switch {
		case !reached:
			i, _ := slices.BinarySearch(waiting, id)
			waiting = slices.Insert(waiting, i, id)
			if !isMerged {
				left++
			}
		case isMerged && !was:
			left--
		}
		merged[id] = was || isMerged
	}
	reach(s.comparison.Base.ID, true)
	reach(s.comparison.Source.ID, false)
	// The id of a commit is greater than the ids of its ancestors. So the loop visits a commit after all
	// its reached descendants.
	for left > 0 {
		id := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		c, err := s.env.Graph.Commit(ctx, id)
		if err != nil {
			return nil, err
		}
		if !merged[id] {
			left--
			note(c.Actor, c.Branch)
		}
		for _, parent := range c.Parents {
			reach(parent, merged[id])
		}
	}
	s.contributors = found
	return found, nil
}

// name returns the text for an actor in a sentence.
func name(actor string) string {
	if actor == "" {
		return "an actor without a name"
	}
	return actor
}

// readResolutions converts the resolutions of a request to the engine's type. It reads each value
// as a value of the property's type on the target branch, and for the end of an edge as a node there. The error is a *tool.ArgumentError.
func readResolutions(ctx context.Context, g engine.Graph, target tool.Branch, all []client.ConflictResolution) ([]engine.Resolution, error) {
	if len(all) == 0 {
		return nil, nil
	}
	schema, err := g.Schema(ctx, target.At())
	if err != nil {
		return nil, err
	}
	list := make([]engine.Resolution, len(all))
	for i := range all {
		if list[i], err = readResolution(schema.Catalog, &all[i]); err != nil {
			var bad *tool.ArgumentError
			if errors.As(err, &bad) {
				return nil, bad.Under(fmt.Sprintf("resolutions[%d]", i))
			}
			return nil, err
		}
	}
	return list, nil
}

// readResolution converts one resolution.
func readResolution(s *catalog.Schema, w *client.ConflictResolution) (engine.Resolution, error) {
	r := engine.Resolution{ConflictPlace: engine.ConflictPlace{Entity: w.EntityKind, Type: w.TypeName, ID: w.ID, Property: w.Property}}
	bad := func(path, format string, args ...any) (engine.Resolution, error) {
		return r, &tool.ArgumentError{Path: path, Detail: fmt.Sprintf(format, args...)}
	}
	var ok bool
	if r.Take, ok = engine.ParseMergeSide(w.Take); !ok {
		return bad("take", "found %q, expected ours, theirs or value", w.Take)
	}
	var props []*catalog.Property
	switch {
	case w.EntityKind == plan.Node.String() && s.Node(w.TypeName) != nil:
		props = s.Node(w.TypeName).Properties
	case w.EntityKind == plan.Edge.String() && s.Edge(w.TypeName) != nil:
		r.Type, props = s.Edge(w.TypeName).Name, s.Edge(w.TypeName).Properties
	default:
		return r, &tool.ArgumentError{
			Path: "type_name", Detail: fmt.Sprintf("found the %s type %q, which the schema does not have", w.EntityKind, w.TypeName),
			Help: diag.DidYouMean(w.TypeName, typeNames(s, w.EntityKind)),
		}
	}
	end := w.EntityKind == plan.Edge.String() && (w.Property == "from" || w.Property == "to")
	at := slices.IndexFunc(props, func(p *catalog.Property) bool { return p.Name == w.Property })
	if at < 0 && !end && (w.Property != "" || r.Take == engine.TakeValue) {
		var names []string
		for _, p := range props {
			names = append(names, p.Name)
		}
		return r, &tool.ArgumentError{
			Path: "property", Detail: fmt.Sprintf("found %q, which type %s does not have", w.Property, w.TypeName),
			Help: diag.DidYouMean(w.Property, names),
		}
	}
	if r.Take != engine.TakeValue {
		if len(w.Value) > 0 {
			return bad("value", "found with take: %s, which takes no value", w.Take)
		}
		return r, nil
	}
	typ := endType(s, w)
	if at >= 0 {
		typ = props[at].Type
	}
	raw := orNullText(w.Value)
	if text := ""; json.Unmarshal([]byte(raw), &text) == nil && (text != "" && (typ.List || typ.Kind == value.Vector) || typ.Fields != nil && json.Valid([]byte(text))) {
		raw = text // in the call of a tool, a list or an object is a text that contains JSON
	}
	o := arguments.Members([]byte(`{"value":` + raw + `}`))
	r.Value = o.Value("value", typ)
	return r, o.Done()
}

// endType returns the type of the value of a resolution for an end of an edge type: a string, or a record of
// the node's type and id if the end is an interface.
func endType(s *catalog.Schema, w *client.ConflictResolution) value.Type {
	e, to := s.Edge(w.TypeName), w.Property == "to"
	if e == nil {
		return value.Of(value.String)
	}
	if _, isInterface := e.End(to); !isInterface {
		return value.Of(value.String)
	}
	var types []string
	for _, n := range s.EndsAt(e, to) {
		types = append(types, n.Name)
	}
	return plan.NodeType(types)
}

// typeNames returns the names of the node types or of the edge types.
func typeNames(s *catalog.Schema, kind string) []string {
	var names []string
	if kind == plan.Edge.String() {
		for _, e := range s.Edges {
			names = append(names, e.Name)
		}
		return names
	}
	for _, n := range s.Nodes {
		names = append(names, n.Name)
	}
	return names
}

// orNullText returns the JSON text in `raw`, or "null" if `raw` is empty.
func orNullText(raw []byte) string {
	if len(raw) == 0 {
		return "null"
	}
	return string(raw)
}

// MakeReviewKey is the call that makes a review key of the caller. Its answer is a client.ReviewKey.
type MakeReviewKey struct {
	Make func() (text string, expires time.Time, err error)
}

// Needs returns nothing: the key gives no right, and each decision asks for its own.
func (*MakeReviewKey) Needs() []tool.Need { return nil }

// Run makes the key.
func (c *MakeReviewKey) Run(context.Context, *tool.Env) (*tool.Outcome, error) {
	text, expires, err := c.Make()
	if err != nil {
		return nil, err
	}
	return &tool.Outcome{Value: &client.ReviewKey{ReviewKey: text, ExpiresAt: expires.UnixMicro()}}, nil
}

// LogArguments returns the arguments of the call for the log.
func (*MakeReviewKey) LogArguments() [][]byte { return [][]byte{} }

// RevokeReviewKeys is the call that ends the review keys of the caller. Its answer is a client.ReviewKeysRevoked.
type RevokeReviewKeys struct {
	Revoke func() (int, error)
}

// Needs returns nothing: every caller may take back what it was given.
func (*RevokeReviewKeys) Needs() []tool.Need { return nil }

// Run ends the keys.
func (c *RevokeReviewKeys) Run(context.Context, *tool.Env) (*tool.Outcome, error) {
	n, err := c.Revoke()
	if err != nil {
		return nil, err
	}
	return &tool.Outcome{Value: &client.ReviewKeysRevoked{Revoked: n}}, nil
}

// LogArguments returns the arguments of the call for the log.
func (*RevokeReviewKeys) LogArguments() [][]byte { return [][]byte{} }

// Refused is a decision that no valid review key signed. It ends with Err, so that the audit trail has a record of the attempt.
type Refused struct {
	Err error
	Log []string // the proposal and the decision
}

// Needs returns nothing.
func (*Refused) Needs() []tool.Need { return nil }

// Run returns the error.
func (c *Refused) Run(context.Context, *tool.Env) (*tool.Outcome, error) { return nil, c.Err }

// LogArguments returns the arguments of the call for the log.
func (c *Refused) LogArguments() [][]byte {
	var all [][]byte
	for _, text := range c.Log {
		all = append(all, []byte(text))
	}
	return all
}
