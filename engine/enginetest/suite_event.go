package enginetest

import (
	"fmt"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// events lists the events of proposals in a range, each as its kind, the source and the state.
func (s *session) events(r engine.EventRange) (*engine.EventPage, string) {
	s.Helper()
	page, err := s.graph.ProposalEvents(s.ctx, r)
	if err != nil {
		s.Fatalf("events %+v: %v", r, err)
	}
	var all []string
	for _, e := range page.List {
		all = append(all, fmt.Sprintf("%s %s %s", e.Proposal.Source, e.Kind, e.State()))
	}
	return page, strings.Join(all, ", ")
}

// eventCases returns the cases of the events of all proposals.
func eventCases() []testCase {
	return writeCases("proposal events", map[string]func(s *session){
		"none": func(s *session) {
			for _, after := range []string{"", engine.NoEvent} {
				if page, got := s.events(engine.EventRange{After: after}); got != "" || page.More || page.Latest != engine.NoEvent {
					s.Errorf("after %q: %+v", after, page)
				}
			}
		},
		"order": func(s *session) {
			s.fork("side", "")
			s.on("side", s.change().update("Person", set{"age": 41}, "name", plan.Eq, "ann"))
			s.fork("other", "")
			side, other := s.propose("side"), s.propose("other")
			side.Events = append(side.Events, engine.ProposalEvent{Kind: engine.EventChanged, Actor: "ann"},
				engine.ProposalEvent{Kind: engine.EventResolved, Actor: "ann", Digest: "sha256:1"})
			side, err := s.graph.PutProposal(s.ctx, *side)
			if err != nil {
				s.Fatalf("change: %v", err)
			}
			other.State = engine.ProposalClosed
			other.Events = append(other.Events, engine.ProposalEvent{Kind: engine.EventClosed, Actor: "bob"})
			if _, err := s.graph.PutProposal(s.ctx, *other); err != nil {
				s.Fatalf("close: %v", err)
			}
			side.Events = append(side.Events, engine.ProposalEvent{Kind: engine.EventMerged, Actor: "bob"})
			if _, err := s.graph.Merge(s.ctx, "side", "main", engine.MergeOptions{Proposal: side}); err != nil {
				s.Fatalf("merge: %v", err)
			}
			all := []string{"side opened open", "other opened open", "side changed open", "side resolved open", "other closed closed", "side merged merged"}
			whole, got := s.events(engine.EventRange{})
			if want := strings.Join(all, ", "); got != want {
				s.Fatalf("the events are\n%s\nwant\n%s", got, want)
			}
			if e := whole.List[3]; e.Actor != "ann" || e.Digest != "sha256:1" || e.Time.IsZero() || e.Proposal.State != engine.ProposalMerged || e.Proposal.Merge == "" {
				s.Errorf("the event is %+v", e)
			}
			last := whole.List[len(all)-1].ID
			for i, e := range whole.List {
				if i > 0 && e.ID <= whole.List[i-1].ID {
					s.Errorf("event %s comes after %s", e.ID, whole.List[i-1].ID)
				}
				rest := all[i+1:]
				for limit := range len(rest) + 2 {
					page, got := s.events(engine.EventRange{After: e.ID, Limit: limit})
					n := len(rest)
					if limit > 0 {
						n = min(n, limit)
					}
					if want := strings.Join(rest[:n], ", "); got != want || page.More != (n < len(rest)) || page.Latest != last {
						s.Errorf("after event %d, limit %d: %q, more %t, latest %s; want %q", i, limit, got, page.More, page.Latest, want)
					}
				}
			}
			if page, got := s.events(engine.EventRange{Latest: true}); got != "" || page.Latest != last || page.More {
				s.Errorf("the latest event alone is %+v", page)
			}
		},
		"ids": func(s *session) {
			s.fork("side", "")
			p, err := s.graph.PutProposal(s.ctx, engine.Proposal{Source: "side", Target: "main", Title: "a title",
				Events: []engine.ProposalEvent{{ID: "not an id", Kind: engine.EventOpened}}})
			if err != nil {
				s.Fatalf("propose: %v", err)
			}
			opened := p.Events[0].ID
			p.Events = append(p.Events, engine.ProposalEvent{ID: engine.NoEvent, Kind: engine.EventCommented})
			if p, err = s.graph.PutProposal(s.ctx, *p); err != nil {
				s.Fatalf("comment: %v", err)
			}
			if p.Events[0].ID != opened || p.Events[1].ID <= opened {
				s.Errorf("the events have the ids %s and %s; the first was %s", p.Events[0].ID, p.Events[1].ID, opened)
			}
			if _, got := s.events(engine.EventRange{After: opened}); got != "side commented open" {
				s.Errorf("after the first event: %s", got)
			}
		},
		"unknown": func(s *session) {
			s.fork("side", "")
			s.propose("side")
			for _, after := range []string{"nothing", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "0"} {
				_, err := s.graph.ProposalEvents(s.ctx, engine.EventRange{After: after})
				expectError[*engine.NotFound](s, err)
			}
		},
	})
}
