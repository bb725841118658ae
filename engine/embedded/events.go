package embedded

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
)

// nameEvents gives each new event of a proposal an id. An event is new unless the stored version `was` has
// its id; `was` is nil for a new proposal. REQUIRES: branches.naming is locked until the record of the
// proposal has its place in the log, so that the ids ascend in the order of the log.
func nameEvents(p, was *engine.Proposal, next func() string) {
	stored := func(id string) bool {
		return was != nil && slices.ContainsFunc(was.Events, func(e engine.ProposalEvent) bool { return e.ID == id })
	}
	p.Events = slices.Clone(p.Events)
	for i := range p.Events {
		if !stored(p.Events[i].ID) {
			p.Events[i].ID = next()
		}
	}
}

// lastEvent returns the greatest id of the events of a proposal, "" if it has none.
func lastEvent(p *engine.Proposal) (last string) {
	if p == nil {
		return ""
	}
	for i := range p.Events {
		last = max(last, p.Events[i].ID)
	}
	return last
}

// latestEvent returns the greatest id of the events that the graph ever had, "" if it had none.
func (l *proposals) latestEvent() string {
	latest := l.reclaimed
	for _, p := range l.sorted {
		latest = max(latest, lastEvent(p.last))
	}
	return latest
}

// shownUntil returns the id of the first event whose record may not be durable yet, or "" if all are
// durable. Readers see only the events before it. Records become durable in the order of the log, but
// visible may report them in another order.
func (l *proposals) shownUntil() (until string) {
	for i := range l.sorted {
		p := &l.sorted[i]
		seen := p.visible()
		if seen == p.last {
			continue
		}
		after := lastEvent(seen)
		for j := range p.last.Events {
			if id := p.last.Events[j].ID; id > after && (until == "" || id < until) {
				until = id
			}
		}
	}
	return until
}

// eventOf is an event with the version of its proposal that readers see.
type eventOf struct {
	*engine.ProposalEvent
	of *engine.Proposal
}

// shownEvents lists the events that readers see, in any order, and the last event that a cleanup removed:
// NoEvent for none.
func (l *branches) shownEvents() (shown []eventOf, reclaimed string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	until := l.proposals.shownUntil()
	for i := range l.proposals.sorted {
		p := l.proposals.sorted[i].visible()
		if p == nil {
			continue
		}
		for j := range p.Events {
			if e := &p.Events[j]; until == "" || e.ID < until {
				shown = append(shown, eventOf{e, p})
			}
		}
	}
	return shown, cmp.Or(l.proposals.reclaimed, engine.NoEvent)
}

// shownLatest returns the last event that readers see, or the last one that a cleanup removed if that is
// later.
func (l *branches) shownLatest() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	latest, until := cmp.Or(l.proposals.reclaimed, engine.NoEvent), l.proposals.shownUntil()
	for i := range l.proposals.sorted {
		p := l.proposals.sorted[i].visible()
		if p == nil {
			continue
		}
		for j := range p.Events {
			if id := p.Events[j].ID; until == "" || id < until {
				latest = max(latest, id)
			}
		}
	}
	return latest
}

// ProposalEvents lists the events of all proposals in the order in which they were stored.
func (g *Graph) ProposalEvents(ctx context.Context, r engine.EventRange) (*engine.EventPage, error) {
	if err := g.enter(ctx); err != nil {
		return nil, err
	}
	defer g.calls.Leave()
	if r.Latest {
		return &engine.EventPage{Latest: g.branches.shownLatest()}, nil
	}
	return g.branches.eventsIn(r)
}

// eventsIn lists the events of a range.
func (l *branches) eventsIn(r engine.EventRange) (*engine.EventPage, error) {
	shown, reclaimed := l.shownEvents()
	out, after := &engine.EventPage{Latest: reclaimed}, cmp.Or(r.After, reclaimed)
	found := after == reclaimed || after == engine.NoEvent
	for _, e := range shown {
		out.Latest = max(out.Latest, e.ID)
		found = found || e.ID == after
	}
	switch {
	case len(after) == len(reclaimed) && after < reclaimed:
		return nil, &engine.EventsReclaimed{After: after, Oldest: reclaimed}
	case !found:
		return nil, &engine.NotFound{What: "proposal event", Name: after}
	}
	shown = slices.DeleteFunc(shown, func(e eventOf) bool { return e.ID <= after })
	slices.SortFunc(shown, func(a, b eventOf) int { return strings.Compare(a.ID, b.ID) })
	if r.Limit > 0 && len(shown) > r.Limit {
		shown, out.More = shown[:r.Limit], true
	}
	for _, e := range shown {
		out.List = append(out.List, engine.StoredEvent{ProposalEvent: *e.ProposalEvent, Proposal: unshared(e.of)})
	}
	return out, nil
}
