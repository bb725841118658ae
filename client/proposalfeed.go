package client

import (
	"context"
	"iter"
	"net/url"
)

// ProposalFeed is a page of the events of all proposals between branches that the caller may read.
type ProposalFeed struct {
	Events   []ProposalFeedEvent `json:"events" jsonschema_description:"The events after the cursor of the request, the oldest first."`
	CaughtUp bool                `json:"caught_up" jsonschema_description:"The page ends with the last event."`
	Cursor   string              `json:"cursor" jsonschema_description:"Send it as cursor to continue after this page. It stays valid until a cleanup removes a proposal with a later event."`
}

// ProposalFeedEvent is an event of a proposal, such as an approval or the merge.
type ProposalFeedEvent struct {
	ID            string       `json:"id" jsonschema_description:"The id of the event. It is also a cursor."`
	ProposalID    string       `json:"proposal_id"` // id of the proposal
	Kind          string       `json:"kind" jsonschema:"enum=opened,enum=changed,enum=commented,enum=approved,enum=changes_requested,enum=merged,enum=closed,enum=resolved"`
	State         string       `json:"state" jsonschema:"enum=open,enum=merged,enum=closed" jsonschema_description:"The state of the proposal right after the event."`
	Source        string       `json:"source"` // the branch with the changes
	Target        string       `json:"target"` // the branch that gets the changes
	Title         string       `json:"title" jsonschema_description:"The title of the proposal now, which may be later than the event."`
	ActorID       *string      `json:"actor_id"` // the actor who caused the event; null if not known
	Agents        []string     `json:"agents,omitempty" jsonschema_description:"The agents that acted for the actor, the current one first."`
	CreatedAt     int64        `json:"created_at" jsonschema_description:"In Unix microseconds."`
	Comment       string       `json:"comment"`
	Digest        string       `json:"digest" jsonschema_description:"The digest that the actor saw or, for resolved, the new digest; empty for an event without one."`
	On            *EntityPlace `json:"on" jsonschema_description:"The entity that the comment is about; null for the whole proposal."`
	MergeCommitID *string      `json:"merge_commit_id" jsonschema_description:"The commit of the merge; null unless the kind is merged."`
}

// ProposalFeedQuery selects a page of the events of proposals.
type ProposalFeedQuery struct {
	Cursor string // the Cursor of the previous page, or the ID of an event
	Start  string // where a feed without a cursor starts, StartEarliest or StartLatest; StartEarliest if it is empty
	Limit  int    // the maximum number of events; 0 lists 100
}

// values returns the query string of a request for a page.
func (q *ProposalFeedQuery) values() url.Values {
	v := url.Values{}
	setText(v, "cursor", q.Cursor)
	setText(v, "start", q.Start)
	setNumber(v, "limit", q.Limit)
	return v
}

// FeedProposals is the name of an event of a stream of the feed of proposals. Its data is a ProposalFeed.
// The other events of such a stream are [FeedFault] and [FeedEnded].
const FeedProposals = "proposals"

// ProposalFeed lists a page of the events of proposals. If a cleanup removed later events, the error matches
// [ErrGone] and has a ProposalFeedGap. Then read a page with [StartLatest], list the proposals with
// [Graph.AllProposals], and continue from the cursor of that page.
func (g *Graph) ProposalFeed(ctx context.Context, page ProposalFeedQuery) (*ProposalFeed, error) {
	return ask[ProposalFeed](ctx, g.c, reading(g.path+"/proposals/events", page.values()))
}

// FollowProposals returns the events of proposals, and goes on when there are new ones. Like [Graph.Follow], it
// connects again when the server or the connection ends the stream. To continue in another process, store
// the Cursor of each page after its events are handled.
func (g *Graph) FollowProposals(ctx context.Context, from ProposalFeedQuery) iter.Seq2[*ProposalFeed, error] {
	return func(yield func(*ProposalFeed, error) bool) {
		at := from
		follow(ctx, g, FeedProposals, func() *request { return reading(g.path+"/proposals/events", at.values()) }, func(page *ProposalFeed) {
			at.Cursor, at.Start = page.Cursor, ""
		})(yield)
	}
}
