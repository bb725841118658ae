package rest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
)

// propose makes a branch if it does not exist, and opens a proposal to merge it into main.
func (b *broadcast) propose(branch string) *engine.Proposal {
	b.Helper()
	if _, err := b.g.CreateBranch(b.Context(), branch, engine.Target{}); err != nil && !errors.As(err, new(*engine.Conflict)) {
		b.Fatal(err)
	}
	p, err := b.g.PutProposal(b.Context(), engine.Proposal{Source: branch, Target: "main", Title: "from " + branch, Author: "ann",
		Events: []engine.ProposalEvent{{Kind: engine.EventOpened, Actor: "ann"}}})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// step adds events to a proposal.
func (b *broadcast) step(p *engine.Proposal, events ...engine.ProposalEvent) {
	b.Helper()
	p.Events = append(p.Events, events...)
	if events[len(events)-1].Kind == engine.EventClosed {
		p.State = engine.ProposalClosed
	}
	now, err := b.g.PutProposal(b.Context(), *p)
	if err != nil {
		b.Fatal(err)
	}
	*p = *now
}

// events returns the page of the next event, which must have one.
func (s *stream) events() (page client.ProposalFeed, id string) {
	s.Helper()
	e, ok := s.next()
	if err := json.Unmarshal([]byte(e.data), &page); !ok || err != nil || e.name != client.FeedProposals {
		s.Fatalf("got %+v, %v, want a page", e, err)
	}
	return page, e.id
}

// eventTexts describes the events of a page: the source, the kind, the state, and what else they have.
func eventTexts(page *client.ProposalFeed) (list []string) {
	for _, e := range page.Events {
		text := fmt.Sprintf("%s %s %s", e.Source, e.Kind, e.State)
		if e.Comment != "" {
			text += fmt.Sprintf(" %q", e.Comment)
		}
		if e.Digest != "" {
			text += " digest"
		}
		if e.MergeCommitID != nil {
			text += " commit"
		}
		list = append(list, text)
	}
	return list
}

// TestProposalFeed takes two proposals through their lives over REST, and reads their events in pages of each
// size.
func TestProposalFeed(t *testing.T) {
	ctx, g := t.Context(), peopleServed(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	start, err := g.ProposalFeed(ctx, client.ProposalFeedQuery{})
	if must(err); len(start.Events) > 0 || !start.CaughtUp {
		t.Fatalf("without a proposal: %+v", start)
	}
	change := func(branch string, age int) {
		t.Helper()
		_, err := g.Mutate(ctx, client.MutateBody{Query: fmt.Sprintf(`query m() { update Person set { age: %d } where name = "zoe" }`, age), Branch: branch})
		must(err)
	}
	_, err = g.Mutate(ctx, client.MutateBody{Query: `query m() { insert Person { name: "zoe", age: 1 } }`})
	must(err)
	for i, branch := range []string{"try", "other"} {
		_, err := g.CreateBranch(ctx, client.BranchBody{Name: branch})
		must(err)
		change(branch, 50+i)
	}
	change("", 60)
	p, err := g.OpenProposal(ctx, client.ProposalBody{Source: "try", Title: "Zoe is 50"})
	must(err)
	o, err := g.OpenProposal(ctx, client.ProposalBody{Source: "other", Title: "Zoe is 51"})
	must(err)
	_, err = g.ReviewProposal(ctx, p.ID, client.ProposalReviewBody{Decision: client.DecisionComment, Comment: "hm"})
	must(err)
	p, err = g.ReviewProposal(ctx, p.ID, client.ProposalReviewBody{Decision: client.DecisionRequest, Digest: p.Digest, Comment: "no"})
	must(err)
	_, err = g.ChangeProposal(ctx, p.ID, client.ProposalChangeBody{Title: new("Zoe is really 50")})
	must(err)
	c := p.Conflicts[0]
	take := []client.ConflictResolution{{EntityKind: c.EntityKind, TypeName: c.TypeName, ID: c.ID, Property: c.Property, Take: client.TakeTheirs}}
	p, err = g.ChangeProposal(ctx, p.ID, client.ProposalChangeBody{Resolutions: take, Comment: "it is 50"})
	must(err)
	if last := p.Events[len(p.Events)-1]; last.Kind != "resolved" || last.Digest != p.Digest {
		t.Errorf("the event of the resolution is %+v, want the digest %s", last, p.Digest)
	}
	_, err = g.CloseProposal(ctx, o.ID, client.ProposalCloseBody{Comment: "too late"})
	must(err)
	_, err = g.ChangeProposal(ctx, p.ID, client.ProposalChangeBody{Description: new("why"), Resolutions: take, Comment: "both"})
	must(err)
	p, err = g.MergeProposal(ctx, p.ID, client.ProposalMergeBody{})
	must(err)
	want := []string{"try opened open", "other opened open", `try commented open "hm"`, `try changes_requested open "no" digest`, "try changed open",
		`try resolved open "it is 50" digest`, `other closed closed "too late"`, `try changed open "both"`, "try resolved open digest", "try merged merged digest commit"}
	for limit := range len(want) + 2 {
		var got []string
		at := client.ProposalFeedQuery{Cursor: start.Cursor, Limit: limit}
		for done := false; !done; {
			page, err := g.ProposalFeed(ctx, at)
			if must(err); limit > 0 && len(page.Events) > limit {
				t.Fatalf("a page with the limit %d has %d events", limit, len(page.Events))
			}
			for _, e := range page.Events {
				if e.ActorID == nil || e.Target != "main" || e.CreatedAt == 0 || e.ProposalID != p.ID && e.ProposalID != o.ID {
					t.Errorf("the event is %+v", e)
				}
			}
			got, at.Cursor, done = append(got, eventTexts(page)...), page.Cursor, page.CaughtUp
		}
		if !slices.Equal(got, want) {
			t.Errorf("with the limit %d the events are\n%s\nwant\n%s", limit, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	latest, err := g.ProposalFeed(ctx, client.ProposalFeedQuery{Start: client.StartLatest})
	if must(err); len(latest.Events) > 0 || !latest.CaughtUp {
		t.Errorf("the latest page is %+v", latest)
	}
	for at, want := range map[client.ProposalFeedQuery]int{
		{Cursor: "none"}: 404,
		{Cursor: latest.Cursor, Start: client.StartLatest}: 400,
		{Start: "never"}: 400,
	} {
		_, err := g.ProposalFeed(ctx, at)
		var refused *client.Error
		if !errors.As(err, &refused) || refused.Status != want {
			t.Errorf("%+v: %v, want the status %d", at, err, want)
		}
	}
}

// TestProposalStream reads a stream of events of proposals. It disconnects, resumes with the id of an event, and
// must get the events of those proposals that the policy lets it read.
func TestProposalStream(t *testing.T) {
	b := broadcasting(t)
	s := b.stream("/proposals/events?start=latest", "", 200)
	page, id := s.events()
	if len(page.Events) > 0 || !page.CaughtUp || id != "event:"+page.Cursor {
		t.Fatalf("the first event %s has %+v", id, page)
	}
	open, secret := b.propose("open"), b.propose("secret")
	var got []string
	for len(got) < 2 {
		page, id = s.events()
		got = append(got, eventTexts(&page)...)
	}
	if want := []string{"open opened open", "secret opened open"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	// The policy hides a branch while the stream goes on.
	b.hidden.Store("secret", true)
	b.step(secret, engine.ProposalEvent{Kind: engine.EventCommented, Text: "hidden"})
	b.step(open, engine.ProposalEvent{Kind: engine.EventApproved, Actor: "bob", Digest: "sha256:1"})
	page, late := s.events()
	if got, want := eventTexts(&page), []string{"open approved open digest"}; !slices.Equal(got, want) {
		t.Errorf("with a hidden branch: %q, want %q", got, want)
	}
	s.resp.Body.Close()
	b.step(open, engine.ProposalEvent{Kind: engine.EventClosed, Actor: "bob"})
	for _, tt := range []struct {
		name, last string
		hidden     bool
		want       []string
	}{
		{"after the last event", late, true, []string{"open closed closed"}},
		{"after an earlier event", id, true, []string{"open approved open digest", "open closed closed"}},
		{"with the permission", id, false, []string{`secret commented open "hidden"`, "open approved open digest", "open closed closed"}},
	} {
		b.hidden.Delete("secret")
		if tt.hidden {
			b.hidden.Store("secret", true)
		}
		// The start is that of the first request, as a browser sends it.
		s := b.stream("/proposals/events?start=latest", tt.last, 200)
		if page, _ := s.events(); !slices.Equal(eventTexts(&page), tt.want) || !page.CaughtUp {
			t.Errorf("%s: %q, want %q", tt.name, eventTexts(&page), tt.want)
		}
		s.resp.Body.Close()
	}
	for _, bad := range []string{"nope", "event:", "commit:x"} {
		b.stream("/proposals/events", bad, 400)
	}
	b.stream("/proposals/events", "event:nope", 404)
}

// TestProposalStreamEnds checks the last event of a stream for each reason.
func TestProposalStreamEnds(t *testing.T) {
	t.Run("stop", func(t *testing.T) {
		b := broadcasting(t)
		s := b.stream("/proposals/events", "", 200)
		page, _ := s.events()
		b.stop()
		var e client.FeedEnd
		if err := json.Unmarshal([]byte(s.ended(client.FeedEnded)), &e); err != nil || e.Reason != client.FeedStopping || e.Cursor == nil || *e.Cursor != page.Cursor {
			t.Errorf("the stream ends with %+v, %v, want the cursor %s", e, err, page.Cursor)
		}
	})
	t.Run("expiry", func(t *testing.T) {
		b := broadcasting(t)
		b.expire(clock.Now().Add(300 * time.Millisecond))
		s := b.stream("/proposals/events", "", 200)
		s.events()
		var e client.FeedEnd
		if err := json.Unmarshal([]byte(s.ended(client.FeedEnded)), &e); err != nil || e.Reason != client.FeedTokenExpired {
			t.Errorf("the stream ends with %+v, %v", e, err)
		}
	})
	t.Run("denial", func(t *testing.T) {
		b := broadcasting(t)
		s := b.stream("/proposals/events", "", 200)
		s.events()
		b.denied.Store(true)
		b.propose("secret")
		var e client.Envelope
		if err := json.Unmarshal([]byte(s.ended(client.FeedFault)), &e); err != nil || e.Code != client.CodeForbidden {
			t.Errorf("the stream ends with %+v, %v", e, err)
		}
		b.stream("/proposals/events", "", 403)
	})
	t.Run("gap", func(t *testing.T) {
		b := broadcasting(t)
		s := b.stream("/proposals/events", "", 200)
		first, _ := s.events()
		s.resp.Body.Close()
		p := b.propose("old")
		b.step(p, engine.ProposalEvent{Kind: engine.EventClosed})
		if _, err := b.g.Cleanup(t.Context(), engine.CleanupOptions{ProposalKeep: time.Nanosecond}); err != nil {
			t.Fatal(err)
		}
		var e client.Envelope
		s = b.stream("/proposals/events?cursor="+first.Cursor, "", 410)
		if err := json.NewDecoder(s.lines).Decode(&e); err != nil || e.ProposalFeedGap == nil || e.ProposalFeedGap.OldestCursor != p.Events[1].ID {
			t.Errorf("the refusal is %+v, %v, want the oldest cursor %s", e, err, p.Events[1].ID)
		}
		b.propose("new")
		for _, query := range []string{"?cursor=" + p.Events[1].ID, ""} {
			s := b.stream("/proposals/events"+query, "", 200)
			if page, _ := s.events(); !slices.Equal(eventTexts(&page), []string{"new opened open"}) {
				t.Errorf("%q: after the gap the stream has %q", query, eventTexts(&page))
			}
			s.resp.Body.Close()
		}
	})
}

// TestSlowProposalSubscribers opens streams over far more comments than the connections can hold, and reads
// nothing. Each stream must keep no more than about one event in memory.
func TestSlowProposalSubscribers(t *testing.T) {
	b := broadcasting(t)
	const proposals, comments, size, subscribers = 32, 5, 200_000, 8 // 32 MB
	for i := range proposals {
		p := b.propose(fmt.Sprint("b", i))
		var events []engine.ProposalEvent
		for range comments {
			events = append(events, engine.ProposalEvent{Kind: engine.EventCommented, Text: strings.Repeat("x", size)})
		}
		b.step(p, events...)
	}
	before := heap()
	var streams []*stream
	for range subscribers {
		streams = append(streams, b.stream("/proposals/events?limit=1000", "", 200))
	}
	staysBounded(t, before, subscribers)
	n := 0
	for done := false; !done; {
		page, _ := streams[0].events()
		n += len(page.Events)
		done = page.CaughtUp
	}
	if want := proposals * (comments + 1); n != want {
		t.Errorf("the slow subscriber received %d events, want %d", n, want)
	}
}

// TestFollowProposals follows the feed of proposals with the client while the server ends the stream.
func TestFollowProposals(t *testing.T) {
	b := broadcasting(t)
	c, err := client.New(b.url)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	b.expire(clock.Now().Add(400 * time.Millisecond)) // ends the first stream
	p := b.propose("a")
	var got []string
	for page, err := range c.Graph("people").FollowProposals(ctx, client.ProposalFeedQuery{Limit: 2}) {
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, eventTexts(page)...); len(got) == 5 {
			break
		}
		switch len(got) {
		case 1:
			time.Sleep(500 * time.Millisecond) // until the token has expired
			b.expire(time.Time{})
			b.step(p, engine.ProposalEvent{Kind: engine.EventCommented, Text: "1"}, engine.ProposalEvent{Kind: engine.EventCommented, Text: "2"},
				engine.ProposalEvent{Kind: engine.EventCommented, Text: "3"})
		case 4:
			b.step(p, engine.ProposalEvent{Kind: engine.EventClosed, Text: "4"})
		}
	}
	if want := []string{"a opened open", `a commented open "1"`, `a commented open "2"`, `a commented open "3"`, `a closed closed "4"`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestIsSubscription checks which requests count as streams.
func TestIsSubscription(t *testing.T) {
	for _, tt := range []struct {
		method, path, accept string
		want                 bool
	}{
		{"GET", "/graphs/code/changes", "text/event-stream", true},
		{"GET", "/graphs/code/proposals/events", "text/event-stream", true},
		{"GET", "/graphs/code/proposals/events", "application/json", false},
		{"GET", "/graphs/code/proposals/events", "", false},
		{"POST", "/graphs/code/proposals/events", "text/event-stream", false},
		{"GET", "/graphs/code/proposals/01K9/events", "text/event-stream", false},
		{"GET", "/graphs/code/proposals/changes", "text/event-stream", false},
		{"GET", "/graphs//proposals/events", "text/event-stream", false},
		{"GET", "/graphs/proposals/events", "text/event-stream", false},
		{"GET", "/other/code/proposals/events", "text/event-stream", false},
		{"GET", "/graphs/code/commits/01K9/changes", "text/event-stream", false},
	} {
		r, err := http.NewRequestWithContext(t.Context(), tt.method, "http://localhost"+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if tt.accept != "" {
			r.Header.Set("Accept", tt.accept)
		}
		if got := rest.IsSubscription(r); got != tt.want {
			t.Errorf("%s %s, Accept %q: got %t, want %t", tt.method, tt.path, tt.accept, got, tt.want)
		}
	}
}
