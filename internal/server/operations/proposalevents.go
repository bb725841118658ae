package operations

import (
	"context"
	"errors"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/restricted"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

const (
	defaultEvents = 100  // number of events of proposals on a page if the request states no limit
	maxEvents     = 1000 // maximum number of events on a page, and of events that a page looks at
)

// EventsRange selects a page of the feed of proposals.
type EventsRange struct {
	Cursor   string // the last event that the subscriber has; empty for none
	Latest   bool   // without a cursor, start after the last event
	Limit    int    // maximum number of events; 0 for defaultEvents
	MaxBytes int    // limits the comments of the page, which always has at least one event; 0 for maxChangeBytes
}

// ReadProposalEvents returns the call that lists a page of the events of proposals. The page contains the
// events of those proposals that the caller may read. The answer is a *client.ProposalFeed. If a cleanup
// removed events after the cursor, the error is a *wireerror.EventGap. If the graph never had the event of
// the cursor, the error is an *engine.NotFound.
func ReadProposalEvents(r EventsRange) *Proposal {
	if r.Limit <= 0 {
		r.Limit = defaultEvents
	}
	if r.MaxBytes <= 0 {
		r.MaxBytes = maxChangeBytes
	}
	r.Limit = min(r.Limit, maxEvents)
	return &Proposal{needs: []tool.Need{access.ToRead("")}, run: func(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
		feed, err := proposalEvents(ctx, env, r)
		var reclaimed *engine.EventsReclaimed
		switch {
		case errors.As(err, &reclaimed):
			return nil, &wireerror.EventGap{Oldest: reclaimed.Oldest}
		case err != nil:
			return nil, err
		}
		return &tool.Outcome{Value: feed, Less: "set a smaller limit"}, nil
	}}
}

// proposalEvents reads a page of the feed of proposals.
func proposalEvents(ctx context.Context, env *tool.Env, r EventsRange) (*client.ProposalFeed, error) {
	page, err := restricted.Whole(env.Graph).ProposalEvents(ctx, engine.EventRange{After: r.Cursor, Latest: r.Latest && r.Cursor == "", Limit: maxEvents})
	if err != nil {
		return nil, err
	}
	feed := &client.ProposalFeed{Events: []client.ProposalFeedEvent{}}
	type pair struct{ source, target tool.Branch }
	readable := map[pair]bool{}
	unseen := map[string]bool{} // the ids of proposals that the caller may not see whole
	bytes := 0
	for i := range page.List {
		e := &page.List[i]
		at := pair{sourceOf(&e.Proposal), targetOf(&e.Proposal)}
		may, known := readable[at]
		if !known {
			may = env.Require(access.ReadOn(at.source), access.ReadOn(at.target)) == nil
			readable[at] = may
		}
		if may {
			if may, err = restricted.Shows(ctx, env.Graph, &e.Proposal); err != nil {
				return nil, err
			}
			if !may {
				unseen[e.Proposal.ID] = true
			}
		}
		if len(unseen) > MaxUnseen {
			return feed, nil
		}
		if may {
			n := len(feed.Events)
			if bytes += len(e.Text); n == r.Limit || n > 0 && bytes > r.MaxBytes {
				return feed, nil
			}
			feed.Events = append(feed.Events, feedEvent(e))
		}
		feed.Cursor = e.ID
	}
	if !page.More {
		feed.Cursor, feed.CaughtUp = page.Latest, true
	}
	return feed, nil
}

// feedEvent returns the wire form of an event of the feed of proposals.
func feedEvent(e *engine.StoredEvent) client.ProposalFeedEvent {
	p := &e.Proposal
	w := client.ProposalFeedEvent{ID: e.ID, ProposalID: p.ID, Kind: e.Kind.String(), State: e.State().String(), Source: p.Source, Target: p.Target, Title: p.Title,
		ActorID: encoding.ActorID(e.Actor), Agents: encoding.Agents(e.Actor), CreatedAt: e.Time.UnixMicro(), Comment: e.Text, Digest: e.Digest, On: wirePlace(e.On)}
	if e.Kind == engine.EventMerged {
		w.MergeCommitID = encoding.OrNil(p.Merge)
	}
	return w
}
