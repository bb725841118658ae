package rest

import (
	"context"
	"strings"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// proposalFeed lists the events of proposals after a cursor, as one page or as a stream of events.
func (x *exchange) proposalFeed() error {
	r := operations.EventsRange{Cursor: x.query.Get("cursor"), Latest: x.query.Get("start") == client.StartLatest, Limit: x.number("limit", 0)}
	if r.Cursor != "" && x.query.Has("start") {
		return errCursorAndStart
	}
	if !IsSubscription(x.r) {
		return x.answer(operations.ReadProposalEvents(r), encoding.Options{})
	}
	if id := x.r.Header.Get(headerLastEvent); id != "" {
		cursor, ok := strings.CutPrefix(id, idOfEvent)
		if !ok || cursor == "" {
			return errLastEvent
		}
		r.Cursor, r.Latest = cursor, false
	}
	r.MaxBytes = maxEventBytes
	return x.sendPages(&eventPages{exchange: x, at: r})
}

// errCursorAndStart refuses a request with two places where a feed starts.
var errCursorAndStart = &tool.ArgumentError{Path: "start", Detail: "found together with cursor, expected only one of them", Help: "each of them says where the feed starts"}

// errLastEvent refuses a header Last-Event-ID.
var errLastEvent = &tool.ArgumentError{Path: "header " + headerLastEvent, Detail: "it is not the id of an event of this feed", Help: "send the id of the last event unchanged, or send cursor instead"}

// eventPages is the pager of the feed of proposals.
type eventPages struct {
	*exchange
	at operations.EventsRange // selects the next page
}

// event implements pager.
func (p *eventPages) event() string { return client.FeedProposals }

// read implements pager.
func (p *eventPages) read() (feedPage, error) {
	call := &readingEvents{Proposal: operations.ReadProposalEvents(p.at)}
	answer, err := p.do(call, encoding.Options{})
	if err != nil {
		return feedPage{}, err
	}
	p.at.Cursor = call.page.Cursor
	return feedPage{answer, len(call.page.Events) > 0, call.page.CaughtUp}, nil
}

// await implements pager.
func (p *eventPages) await(ctx context.Context) error {
	return p.g.AwaitProposalEvent(ctx, p.at.Cursor)
}

// cursor implements pager.
func (p *eventPages) cursor() string { return p.at.Cursor }

// eventID implements pager.
func (p *eventPages) eventID() string { return idOfEvent + p.at.Cursor }

// readingEvents is a call that reads a page of the feed of proposals and keeps the page.
type readingEvents struct {
	*operations.Proposal
	page *client.ProposalFeed
}

// Run implements [tool.Call].
func (c *readingEvents) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	out, err := c.Proposal.Run(ctx, env)
	if err == nil {
		c.page, _ = out.Value.(*client.ProposalFeed)
	}
	return out, err
}
