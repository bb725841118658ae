package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
)

// ProposalSummary describes a proposal in a list.
type ProposalSummary struct {
	ID        string   `json:"id"` // identifies the proposal
	Revision  int64    `json:"revision" jsonschema_description:"Counts the stored versions of the proposal, from 1."`
	State     string   `json:"state" jsonschema:"enum=open,enum=merged,enum=closed"`
	QueryName string   `json:"query_name,omitempty" jsonschema_description:"The query that the proposal is about. Such a proposal has no source, and its target is main."`
	Source    string   `json:"source"` // the branch with the changes
	Target    string   `json:"target"` // the branch that gets the changes
	Title     string   `json:"title"`
	ActorID   *string  `json:"actor_id" jsonschema_description:"The actor who opened the proposal; null if not known."`
	Agents    []string `json:"agents,omitempty" jsonschema_description:"The agents that acted for the actor, the current one first."`
	CreatedAt int64    `json:"created_at" jsonschema_description:"In Unix microseconds."`
	UpdatedAt int64    `json:"updated_at" jsonschema_description:"The time of the last event, in Unix microseconds."`
}

// ProposalAnswer describes a proposal, and what a merge of it would do.
type ProposalAnswer struct {
	ProposalSummary
	Description   string               `json:"description"`
	MergeCommitID *string              `json:"merge_commit_id" jsonschema_description:"The commit on the target; null unless the proposal is merged."`
	Resolutions   []ProposalResolution `json:"resolutions" jsonschema_description:"How the merge resolves conflicts."`
	Events        []ProposalEvent      `json:"events" jsonschema_description:"What happened to the proposal, oldest first."`

	SourceCommitID string       `json:"source_commit_id" jsonschema_description:"The compared commit of the source: its head, or for a proposal that is merged or closed, its last one."`
	TargetCommitID string       `json:"target_commit_id" jsonschema_description:"The compared commit of the target."`
	BaseCommitID   string       `json:"base_commit_id" jsonschema_description:"The merge base of the two commits."`
	Digest         string       `json:"digest" jsonschema_description:"Identifies the changes and the resolutions. An approval counts for one digest. Empty if the branches cannot be compared; then the commits are those of the last event."`
	Nodes          ChangeCounts `json:"nodes" jsonschema_description:"Numbers of nodes that the merge changes on the target, or has changed there. While there are conflicts without a resolution: that the source has changed since the merge base."`
	Edges          ChangeCounts `json:"edges" jsonschema_description:"The same for edges."`

	Conflicts     []ProposalConflict `json:"conflicts" jsonschema_description:"The first conflicts without a resolution: at most a hundred, and at most 8 MiB of values."`
	ConflictCount int                `json:"conflict_count" jsonschema_description:"The number of all conflicts without a resolution."`

	Query *ProposedQuery `json:"query,omitempty" jsonschema_description:"The proposed query, for a proposal that is about one."`

	Checks []CheckResult `json:"checks" jsonschema_description:"The outcomes of the graph's checks on the result of the merge, in the order of their queries. Empty if the proposal is not open."`

	ApprovedBy  []string `json:"approved_by" jsonschema_description:"The actors whose approval counts for the digest."`
	RequestedBy []string `json:"changes_requested_by" jsonschema_description:"The actors who asked for changes to this digest."`
	Blockers    []string `json:"blockers" jsonschema_description:"What must happen before the merge, as sentences. Empty if the proposal can be merged or is not open."`

	Notes []string `json:"notes,omitempty" jsonschema_description:"About a digest that the request sent as null: the step then ran whatever the digest was."`
}

// ChangeCounts are numbers of changed entities, by kind of change.
type ChangeCounts struct {
	Inserted int64 `json:"inserted"`
	Updated  int64 `json:"updated"`
	Deleted  int64 `json:"deleted"`
}

// ProposalEvent is something that happened to a proposal, such as an approval or the merge.
type ProposalEvent struct {
	Kind      string       `json:"kind" jsonschema:"enum=opened,enum=changed,enum=commented,enum=approved,enum=changes_requested,enum=merged,enum=closed,enum=resolved"`
	ActorID   *string      `json:"actor_id"` // the actor who caused the event; null if not known
	Agents    []string     `json:"agents,omitempty" jsonschema_description:"The agents that acted for the actor, the current one first."`
	CreatedAt int64        `json:"created_at" jsonschema_description:"In Unix microseconds."`
	Comment   string       `json:"comment"`
	Digest    string       `json:"digest" jsonschema_description:"The digest that the actor saw; empty for a step without one."`
	On        *EntityPlace `json:"on" jsonschema_description:"The entity that the comment is about; null for the whole proposal."`
}

// EntityPlace identifies an entity.
type EntityPlace struct {
	EntityKind string `json:"entity_kind" jsonschema:"enum=node,enum=edge"`
	TypeName   string `json:"type_name"` // name of the type
	ID         string `json:"id"`
}

// CommentPlace identifies the entity that a comment is about.
type CommentPlace struct {
	EntityKind string `json:"entity_kind" jsonschema:"enum=node,enum=edge"`
	TypeName   string `json:"type_name"` // name of the type
	ID         string `json:"id"`
}

// ProposalConflict is one conflict between the source and the target of a proposal.
type ProposalConflict struct {
	Kind       string       `json:"kind"`        // such as `divergent_update`
	EntityKind string       `json:"entity_kind"` // node or edge
	TypeName   string       `json:"type_name"`   // name of the type
	ID         string       `json:"id"`
	Property   string       `json:"property" jsonschema_description:"Empty if the conflict is about the whole entity."`
	Message    string       `json:"message"`
	Edges      int          `json:"edges,omitempty" jsonschema_description:"For delete_vs_update of a node: the number of edges that the deletion took with it. They stay if a resolution keeps the node, except those that the other side changed, which are conflicts of their own, and those whose other end is deleted too."`
	Resolvable bool         `json:"resolvable" jsonschema_description:"A resolution can resolve the conflict. Otherwise, change one of the branches."`
	Base       *EntityImage `json:"base" jsonschema_description:"The property, or the whole entity, in the merge base; null if the entity does not exist there."`
	Ours       *EntityImage `json:"ours" jsonschema_description:"The same in the target."`
	Theirs     *EntityImage `json:"theirs" jsonschema_description:"The same in the source."`
}

// ProposalResolution is a stored resolution of a conflict.
type ProposalResolution struct {
	EntityKind string          `json:"entity_kind" jsonschema:"enum=node,enum=edge"`
	TypeName   string          `json:"type_name"` // name of the type
	ID         string          `json:"id"`
	Property   string          `json:"property" jsonschema_description:"Empty if the conflict is about the whole entity."`
	Take       string          `json:"take" jsonschema:"enum=ours,enum=theirs,enum=value" jsonschema_description:"ours keeps the target, theirs takes the source, value sets the property to value."`
	Value      json.RawMessage `json:"value" jsonschema_description:"The value; null for ours and theirs, and for no value."`
}

// ConflictResolution says how the merge of a proposal resolves one conflict.
type ConflictResolution struct {
	EntityKind string          `json:"entity_kind" jsonschema:"enum=node,enum=edge"`
	TypeName   string          `json:"type_name"` // name of the type
	ID         string          `json:"id"`
	Property   string          `json:"property,omitempty" jsonschema_description:"Left out for a conflict about the whole entity."`
	Take       string          `json:"take" jsonschema:"enum=ours,enum=theirs,enum=value" jsonschema_description:"ours keeps the target, theirs takes the source, value sets the property to value."`
	Value      json.RawMessage `json:"value,omitempty" jsonschema_description:"For take: value. Null removes the value."`
}

// The values of ConflictResolution.Take.
const (
	TakeOurs   = "ours"
	TakeTheirs = "theirs"
	TakeValue  = "value"
)

// ReviewKeysRevoked says how many review keys of the caller ended.
type ReviewKeysRevoked struct {
	Revoked int `json:"revoked" jsonschema_description:"Number of keys that were good until now."`
}

// ReviewKey lets a person sign decisions about proposals in an app that works over the connection of an agent.
type ReviewKey struct {
	ReviewKey string `json:"review_key" jsonschema_description:"The key: a secret of the person. The server shows it once."`
	ExpiresAt int64  `json:"expires_at" jsonschema_description:"In Unix microseconds. The end of the server ends the key too."`
}

// ProposalList is a page of proposals, newest first.
type ProposalList struct {
	Proposals     []ProposalSummary `json:"proposals" jsonschema_description:"The newest first."`
	NextPageToken string            `json:"next_page_token,omitempty" jsonschema_description:"There are older proposals; send it as page_token to list them."`
}

// ProposalBody is the body of a request to open a proposal.
type ProposalBody struct {
	Source      string `json:"source" jsonschema_description:"The branch with the changes."`
	Target      string `json:"target,omitempty" jsonschema_description:"The branch that gets the changes; the default is main."`
	Title       string `json:"title" jsonschema:"minLength=1,maxLength=200"`
	Description string `json:"description,omitempty" jsonschema_description:"Why the changes are good, for the reviewer."`
}

// ProposalChangeBody is the body of a request to change a proposal. Members that are left out
// change nothing.
type ProposalChangeBody struct {
	Title       *string              `json:"title,omitempty" jsonschema:"minLength=1,maxLength=200"`
	Description *string              `json:"description,omitempty"`
	Resolutions []ConflictResolution `json:"resolutions,omitempty" jsonschema_description:"Each replaces the earlier resolution of the same conflict."`
	Digest      string               `json:"digest,omitempty" jsonschema_description:"Change the proposal only if this is its digest. Otherwise the answer is 409, and nothing changes."`
	Comment     string               `json:"comment,omitempty"`
}

// ProposalReviewBody is the body of a review.
type ProposalReviewBody struct {
	Decision string        `json:"decision" jsonschema:"enum=approve,enum=request_changes,enum=comment"`
	Digest   string        `json:"digest,omitempty" jsonschema_description:"The digest of the proposal that the reviewer saw. approve and request_changes need it. If the digest is another one by now, the answer is 409."`
	Comment  string        `json:"comment,omitempty"`
	On       *CommentPlace `json:"on,omitempty" jsonschema_description:"For comment: the entity that the comment is about."`
}

// The values of ProposalReviewBody.Decision.
const (
	DecisionApprove = "approve"
	DecisionRequest = "request_changes"
	DecisionComment = "comment"
)

// ProposalCloseBody is the body of a request to close a proposal.
type ProposalCloseBody struct {
	Comment string `json:"comment,omitempty"`
}

// ProposalMergeBody is the body of a request to merge a proposal.
type ProposalMergeBody struct {
	Digest  string `json:"digest,omitempty" jsonschema_description:"Merge only if this is the digest of the proposal; otherwise the answer is 409."`
	Comment string `json:"comment,omitempty"`
	Message string `json:"message,omitempty" jsonschema:"maxLength=1024" jsonschema_description:"Of the commit; the default is the title of the proposal."`
}

// ProposalChanges is a page of the changes of a proposal: what its merge would change on the target, with the
// stored resolutions, and what the source has changed without an effect on the target.
type ProposalChanges struct {
	SourceCommitID string           `json:"source_commit_id"` // the commit of the source in the comparison
	BaseCommitID   string           `json:"base_commit_id"`   // the merge base
	TargetCommitID string           `json:"target_commit_id" jsonschema_description:"The head of the target in the comparison. before is the state of this commit."`
	Compares       string           `json:"compares" jsonschema:"enum=target_to_result,enum=base_to_source" jsonschema_description:"target_to_result: before is the target, and after the result of the merge. base_to_source: there is no result yet, because of conflicts or of the schemas; before is the merge base, and after the source."`
	Changes        []ProposedChange `json:"changes" jsonschema_description:"New and deleted nodes, then changed nodes, then edges, each by the name of the type and by id."`
	NextPageToken  *string          `json:"next_page_token" jsonschema_description:"There are more changes; send it as page_token to list them. The pages compare the same commits. Null on the last page."`
}

// The values of ProposalChanges.Compares.
const (
	TargetToResult = "target_to_result"
	BaseToSource   = "base_to_source"
)

// StateComparison is a page of what a merge of one state into another would change.
type StateComparison struct {
	SourceCommitID string           `json:"source_commit_id"` // the compared commit of the source
	BaseCommitID   string           `json:"base_commit_id"`   // the merge base
	TargetCommitID string           `json:"target_commit_id"` // the compared commit of the target
	Compares       string           `json:"compares" jsonschema:"enum=target_to_result,enum=base_to_source" jsonschema_description:"target_to_result: before is the target, and after the result of a merge. base_to_source: a merge has no result, because of conflicts or of the schemas; before is the merge base, and after the source."`
	Nodes          ChangeCounts     `json:"nodes"` // all changes of nodes, not only those of the page
	Edges          ChangeCounts     `json:"edges"` // all changes of edges
	ConflictCount  int              `json:"conflict_count"`
	Changes        []ProposedChange `json:"changes" jsonschema_description:"New and deleted nodes, then changed nodes, then edges, each by the name of the type and by id."`
	NextPageToken  *string          `json:"next_page_token" jsonschema_description:"There are more changes; send it as page_token to list them. The pages compare the same commits. Null on the last page."`
}

// CompareQuery names the states to compare, each by a branch or by a commit, and selects changes.
type CompareQuery struct {
	Source, SourceCommit string // the state whose changes are listed; main if both are empty
	Target, TargetCommit string // the state that a merge would change; main if both are empty
	ChangeQuery
}

// Compare lists a page of what a merge of one state into another would change. It changes nothing.
func (g *Graph) Compare(ctx context.Context, c CompareQuery) (*StateComparison, error) {
	q := reading(g.path+"/compare", c.values())
	setText(q.query, "source", c.Source)
	setText(q.query, "source_commit", c.SourceCommit)
	setText(q.query, "target", c.Target)
	setText(q.query, "target_commit", c.TargetCommit)
	return ask[StateComparison](ctx, g.c, q)
}

// ProposedChange is a change of an entity in a proposal, or in a comparison.
type ProposedChange struct {
	EntityChange
	Effect string `json:"effect" jsonschema:"enum=changes,enum=already_there,enum=kept,enum=undecided" jsonschema_description:"changes: the merge changes the target. already_there: the target already has what the source changed. kept: a resolution keeps the target, so the change of the source is lost. undecided: there is no result yet. For already_there and kept, op is what the source did, and before and after are both the state of the target."`
}

// The values of ProposedChange.Effect.
const (
	EffectChanges   = "changes"
	EffectThere     = "already_there"
	EffectKept      = "kept"
	EffectUndecided = "undecided"
)

// ProposalQuery selects proposals. An empty field excludes none.
type ProposalQuery struct {
	State     string // only proposals in this state: open, merged or closed
	Source    string // only proposals with this source branch
	Target    string // only proposals with this target branch
	Author    string // only proposals that this actor opened
	Reviewer  string // only proposals that this actor approved or asked to change
	Limit     int    // the maximum number of proposals on a page; 0 lists 100
	PageToken string // the NextPageToken of the previous page; empty for the first
}

// Proposals lists a page of the proposals between branches that the caller may read.
func (g *Graph) Proposals(ctx context.Context, page ProposalQuery) (*ProposalList, error) {
	query := url.Values{}
	for name, value := range map[string]string{"state": page.State, "source": page.Source, "target": page.Target, "author": page.Author,
		"reviewer": page.Reviewer, "page_token": page.PageToken} {
		setText(query, name, value)
	}
	setNumber(query, "limit", page.Limit)
	return ask[ProposalList](ctx, g.c, reading(g.path+"/proposals", query))
}

// AllProposals returns all selected proposals, newest first.
func (g *Graph) AllProposals(ctx context.Context, all ProposalQuery) iter.Seq2[ProposalSummary, error] {
	return func(yield func(ProposalSummary, error) bool) {
		page := all
		for {
			list, err := g.Proposals(ctx, page)
			if err != nil {
				yield(ProposalSummary{}, err)
				return
			}
			for _, p := range list.Proposals {
				if !yield(p, nil) {
					return
				}
			}
			if list.NextPageToken == "" {
				return
			}
			if list.NextPageToken == page.PageToken {
				yield(ProposalSummary{}, ErrNoProgress)
				return
			}
			page.PageToken = list.NextPageToken
		}
	}
}

// Proposal returns a proposal, and what a merge of it would do.
func (g *Graph) Proposal(ctx context.Context, id string) (*ProposalAnswer, error) {
	return ask[ProposalAnswer](ctx, g.c, reading(g.proposal(id, ""), nil))
}

// ProposalChanges lists a page of what the merge of a proposal changes on the target: new and deleted nodes, then
// changed nodes, then edges.
func (g *Graph) ProposalChanges(ctx context.Context, id string, page ChangeQuery) (*ProposalChanges, error) {
	return ask[ProposalChanges](ctx, g.c, reading(g.proposal(id, "/changes"), page.values()))
}

// OpenProposal opens a proposal. If the request fails, the client does not send it again by itself,
// because the first request may have opened the proposal.
func (g *Graph) OpenProposal(ctx context.Context, body ProposalBody) (*ProposalAnswer, error) {
	return postProposal(ctx, g, g.path+"/proposals", body)
}

// ChangeProposal changes the title, the description or the resolutions of an open proposal.
func (g *Graph) ChangeProposal(ctx context.Context, id string, body ProposalChangeBody) (*ProposalAnswer, error) {
	return postProposal(ctx, g, g.proposal(id, ""), body)
}

// ReviewProposal approves an open proposal, asks for changes, or adds a comment.
func (g *Graph) ReviewProposal(ctx context.Context, id string, body ProposalReviewBody) (*ProposalAnswer, error) {
	return postProposal(ctx, g, g.proposal(id, "/review"), body)
}

// CloseProposal closes an open proposal without a merge.
func (g *Graph) CloseProposal(ctx context.Context, id string, body ProposalCloseBody) (*ProposalAnswer, error) {
	return postProposal(ctx, g, g.proposal(id, "/close"), body)
}

// MergeProposal merges an open proposal. If the proposal has been merged already, MergeProposal
// changes nothing and returns the proposal.
func (g *Graph) MergeProposal(ctx context.Context, id string, body ProposalMergeBody) (*ProposalAnswer, error) {
	return postProposal(ctx, g, g.proposal(id, "/merge"), body)
}

// proposal returns the path of a route about one proposal.
func (g *Graph) proposal(id, route string) string {
	return g.path + "/proposals/" + segment(id) + route
}

// postProposal sends a request that changes a proposal.
func postProposal(ctx context.Context, g *Graph, path string, body any) (*ProposalAnswer, error) {
	q, err := posting(path, body)
	if err != nil {
		return nil, err
	}
	return ask[ProposalAnswer](ctx, g.c, q)
}

// MakeReviewKey makes a review key of the caller, who must not be an agent that acts for another.
func (g *Graph) MakeReviewKey(ctx context.Context) (*ReviewKey, error) {
	return ask[ReviewKey](ctx, g.c, &request{method: http.MethodPost, path: g.path + "/review-keys", header: http.Header{}, repeats: true})
}

// RevokeReviewKeys ends the review keys of the caller, who must not be an agent that acts for another.
func (g *Graph) RevokeReviewKeys(ctx context.Context) (*ReviewKeysRevoked, error) {
	return ask[ReviewKeysRevoked](ctx, g.c, &request{method: http.MethodDelete, path: g.path + "/review-keys", header: http.Header{}})
}
