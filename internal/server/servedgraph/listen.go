package servedgraph

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/restricted"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// listedProposals is the number of proposals in the answer of ReadProposals.
const listedProposals = 50

// Head returns the id of the commit at the head of a branch, or "" if the branch does not exist. If the branch
// belonged to a draft that has ended, the error is an *engine.DraftClosed. Head asks no policy: the caller needs
// the right to read the branch.
func (g *Graph) Head(ctx context.Context, branch tool.Branch) (string, error) {
	head, err := g.engine.Commits(ctx, branch.Name(), engine.CommitRange{Limit: 1})
	var missing *engine.NotFound
	switch {
	case errors.As(err, &missing):
		return "", nil
	case err != nil || len(head) == 0:
		return "", err
	}
	return head[0].ID, nil
}

// Resolve returns the branch that a name stands for. If the name is an alias of a draft, it is the branch of the
// actor's open draft, or main if the actor has none.
func (g *Graph) Resolve(ctx context.Context, actor *access.Actor, name tool.BranchName) (tool.Branch, error) {
	p := &branchResolver{g: g, actor: actor}
	if actor == nil || actor.ID == "" {
		return p.Branch(name), nil
	}
	draft, alias, err := p.alias(ctx, name)
	if err != nil || !alias {
		return p.Branch(name), err
	}
	d, err := p.open(ctx, draft)
	if err != nil || d == nil {
		return tool.Branch{}, err
	}
	return branchOf(d), nil
}

// ReadProposals returns the newest proposals that the actor may read, as a client.ProposalList.
func (g *Graph) ReadProposals(ctx context.Context, actor *access.Actor, enc encoding.Options) (*encoding.Answer, error) {
	return g.Do(ctx, actor, "proposals", operations.ListProposals(client.ProposalQuery{Limit: listedProposals}), enc)
}

// ProposalsState returns a digest of the versions of the proposals that the actor may read. It changes
// when one of them does. For an actor with rights to a part, each takes a comparison of two states, so the digest is of those on the first page of
// [Graph.ReadProposals].
func (g *Graph) ProposalsState(ctx context.Context, actor *access.Actor) (string, error) {
	seen := g.engine
	part, err := g.access.Restriction(ctx, actor)
	if err != nil {
		return "", err
	}
	if part != nil {
		if graph := part.Graph(nil, nil); graph != nil {
			seen = graph
		}
	}
	all, err := restricted.Whole(seen).Proposals(ctx, engine.ProposalRange{})
	if err != nil {
		return "", err
	}
	h := sha256.New()
	listed, unseen := 0, 0
	for i := range all {
		p := &all[i]
		if !g.access.Allowed(actor, access.ReadOn(tool.BranchNamed(p.Source))) || !g.access.Allowed(actor, access.ReadOn(tool.BranchNamed(p.Target))) {
			continue
		}
		if part != nil && (listed == listedProposals || unseen == operations.MaxUnseen) {
			break
		}
		shown, err := restricted.Shows(ctx, seen, p)
		switch {
		case err != nil:
			return "", err
		case !shown:
			unseen++
			continue
		}
		listed++
		h.Write(binary.BigEndian.AppendUint64([]byte(p.ID), p.Revision))
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}
