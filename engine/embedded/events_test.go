package embedded

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/clock/clocktest"
	"github.com/omnigraph-go/omnigraph/internal/storage/fs"
	"github.com/omnigraph-go/omnigraph/internal/storage/object"
)

// eventReader is a subscriber of the events of proposals. It keeps its cursor and the texts of the events
// that it got.
type eventReader struct {
	cursor string
	got    []string
}

// read reads the events after the cursor, in pages of two.
func (r *eventReader) read(g interface {
	ProposalEvents(context.Context, engine.EventRange) (*engine.EventPage, error)
}) error {
	for {
		page, err := g.ProposalEvents(context.Background(), engine.EventRange{After: r.cursor, Limit: 2})
		if err != nil {
			return err
		}
		for _, e := range page.List {
			if e.ID <= r.cursor {
				return fmt.Errorf("event %s follows %s", e.ID, r.cursor)
			}
			r.cursor, r.got = e.ID, append(r.got, e.Text)
		}
		if !page.More {
			if r.cursor = max(r.cursor, page.Latest); r.cursor != page.Latest {
				return fmt.Errorf("the latest event is %s, but the last one is %s", page.Latest, r.cursor)
			}
			return nil
		}
	}
}

// proposed makes a branch with a commit and opens a proposal from it. The text of the event is the name
// of the branch.
func proposed(t *testing.T, g *Graph, branch string) *engine.Proposal {
	t.Helper()
	ctx := context.Background()
	must1(g.CreateBranch(ctx, branch, engine.Target{}))
	must(t, insert(branch, "first of "+branch, 1).do(g))
	return must1(g.PutProposal(ctx, engine.Proposal{Source: branch, Target: "main", Title: branch,
		Events: []engine.ProposalEvent{{Kind: engine.EventOpened, Text: branch}}}))
}

// noted adds an event to a proposal.
func noted(t *testing.T, g *Graph, p *engine.Proposal, kind engine.ProposalEventKind, text string) {
	t.Helper()
	p.Events = append(p.Events, engine.ProposalEvent{Kind: kind, Text: text})
	if kind == engine.EventClosed {
		p.State = engine.ProposalClosed
	}
	now, err := g.PutProposal(context.Background(), *p)
	must(t, err)
	*p = *now
}

// mergedNow merges a proposal.
func mergedNow(t *testing.T, g *Graph, p *engine.Proposal, text string) {
	t.Helper()
	done := *p
	done.Events = append(slices.Clone(p.Events), engine.ProposalEvent{Kind: engine.EventMerged, Text: text})
	if _, err := g.Merge(context.Background(), p.Source, p.Target, engine.MergeOptions{Proposal: &done}); err != nil {
		t.Fatal(err)
	}
}

// TestEventsOfManyWriters reads the events of proposals while several writers add some. The reader must
// get each event once.
func TestEventsOfManyWriters(t *testing.T) {
	const writers, events = 6, 150
	g := create(t, fs.NewMem(), Options{})
	defer g.Close()
	var all []*engine.Proposal
	for w := range writers {
		all = append(all, proposed(t, g, fmt.Sprint("w", w)))
	}
	var reader eventReader
	must(t, reader.read(g))
	reader.got = nil
	var writing sync.WaitGroup
	for w, p := range all {
		writing.Go(func() {
			for i := range events - 1 {
				noted(t, g, p, engine.EventCommented, fmt.Sprintf("%d %d", w, i))
			}
			mergedNow(t, g, p, fmt.Sprintf("%d %d", w, events-1))
		})
	}
	done := make(chan struct{})
	go func() { writing.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		must(t, reader.read(g))
	}
	next := make([]int, writers)
	for _, text := range reader.got {
		var w, i int
		if _, err := fmt.Sscan(text, &w, &i); err != nil || next[w] != i {
			t.Fatalf("event %q, want number %d of the writer", text, next[w])
		}
		next[w]++
	}
	if len(reader.got) != writers*events {
		t.Errorf("the reader got %d events, want %d", len(reader.got), writers*events)
	}
}

// TestEventsAfterKill kills the process after each of several events, once more with a checkpoint before the
// kill, and with a clock that was set back. The reader goes on with its cursor, and must get each
// acknowledged event once.
func TestEventsAfterKill(t *testing.T) {
	memory := fs.NewMem()
	now := clocktest.Start
	opts := Options{Now: func() time.Time { return now }}
	g := create(t, memory, opts)
	var reader eventReader
	must(t, reader.read(g))
	if reader.cursor != engine.NoEvent {
		t.Errorf("before the first event, the latest is %s", reader.cursor)
	}
	var want []string
	var p *engine.Proposal
	for i := range 12 {
		switch text := fmt.Sprint("p", i); i % 4 {
		case 0:
			p = proposed(t, g, text)
			want = append(want, text)
		case 3:
			mergedNow(t, g, p, text)
			want = append(want, text)
		default:
			noted(t, g, p, engine.EventCommented, text)
			want = append(want, text)
		}
		if i%3 == 1 {
			must(t, reader.read(g))
		}
		if i%2 == 1 {
			must(t, g.checkpoints.make(t.Context()))
		}
		killed := g
		memory = memory.Crash(uint64(i))
		now = now.Add(-time.Hour)
		var err error
		g, err = Open(t.Context(), memory, dir, opts)
		must(t, err)
		_ = killed.Close() // ends its goroutines; its files are not those of the new graph
	}
	defer g.Close()
	must(t, reader.read(g))
	if !slices.Equal(reader.got, want) {
		t.Errorf("the reader got %q, want %q", reader.got, want)
	}
	var whole eventReader
	must(t, whole.read(g))
	if !slices.Equal(whole.got, want) {
		t.Errorf("the graph has %q, want %q", whole.got, want)
	}
}

// TestEventsReclaimed cleans up a graph with an open and a closed proposal. A cursor before an event that the
// cleanup removed must get an error. The error stays after a reopen.
func TestEventsReclaimed(t *testing.T) {
	ctx := t.Context()
	memory, now := fs.NewMem(), clocktest.Start
	opts := Options{Now: func() time.Time { return now }}
	g := create(t, memory, opts)
	open, gone := proposed(t, g, "open"), proposed(t, g, "gone")
	noted(t, g, gone, engine.EventClosed, "close")
	noted(t, g, open, engine.EventCommented, "late")
	closing, late := gone.Events[1].ID, open.Events[1].ID
	now = now.Add(engine.ProposalKeep + time.Hour)
	_, err := g.Cleanup(ctx, engine.CleanupOptions{DryRun: true})
	must(t, err)
	if all := must1(g.ProposalEvents(ctx, engine.EventRange{})); len(all.List) != 4 {
		t.Errorf("after a dry run there are %d events, want 4", len(all.List))
	}
	_, err = g.Cleanup(ctx, engine.CleanupOptions{})
	must(t, err)
	check := func(what string) {
		t.Helper()
		for after, want := range map[string]string{
			"":                           "late",
			closing:                      "late",
			late:                         "",
			engine.NoEvent:               "reclaimed",
			open.Events[0].ID:            "reclaimed",
			gone.Events[0].ID:            "reclaimed",
			"7ZZZZZZZZZZZZZZZZZZZZZZZZZ": "not found",
			"none":                       "not found",
			"0":                          "not found",
		} {
			page, err := g.ProposalEvents(ctx, engine.EventRange{After: after})
			got := ""
			var reclaimed *engine.EventsReclaimed
			switch {
			case errors.As(err, &reclaimed):
				if got = "reclaimed"; reclaimed.Oldest != closing || reclaimed.After != after {
					t.Errorf("%s, after %q: %+v, want %s", what, after, reclaimed, closing)
				}
			case errors.As(err, new(*engine.NotFound)):
				got = "not found"
			case err != nil:
				t.Fatal(err)
			default:
				for _, e := range page.List {
					got = strings.TrimSpace(got + " " + e.Text)
				}
				if page.Latest != late {
					t.Errorf("%s, after %q: the latest is %s, want %s", what, after, page.Latest, late)
				}
			}
			if got != want {
				t.Errorf("%s, after %q: got %q, want %q", what, after, got, want)
			}
		}
	}
	check("after the cleanup")
	must(t, g.Close())
	g, err = Open(ctx, memory, dir, opts)
	must(t, err)
	check("after a reopen")

	// The removed event may be the last one. New events come after it.
	noted(t, g, open, engine.EventClosed, "end")
	end := open.Events[2].ID
	now = now.Add(engine.ProposalKeep + time.Hour)
	_, err = g.Cleanup(ctx, engine.CleanupOptions{})
	must(t, err)
	must(t, g.Close())
	now = clocktest.Start // the clock was set back
	g, err = Open(ctx, memory, dir, opts)
	must(t, err)
	defer g.Close()
	if page := must1(g.ProposalEvents(ctx, engine.EventRange{Latest: true})); page.Latest != end || page.List != nil {
		t.Errorf("without an event: %+v, want the latest %s", page, end)
	}
	reader := eventReader{cursor: end}
	must(t, reader.read(g))
	proposed(t, g, "new")
	must(t, reader.read(g))
	if !slices.Equal(reader.got, []string{"new"}) {
		t.Errorf("after the cleanup the reader got %q", reader.got)
	}
}

// TestEventsOfRestoredGraph restores a past state, which has no proposals. A cursor of the original gets an
// error, and new events have new ids. A whole copy has the same events.
func TestEventsOfRestoredGraph(t *testing.T) {
	memory := fs.NewMem()
	g := create(t, memory, crashOptions)
	p := proposed(t, g, "one")
	noted(t, g, p, engine.EventCommented, "two")
	head := must1(g.Snapshot(t.Context(), engine.Target{})).Commit.ID
	var before eventReader
	must(t, before.read(g))
	for commit, want := range map[string]string{"": "one two", head: ""} {
		v := viewDir(t, memory)
		copied, err := v.CopyToDir(t.Context(), fs.NewMem(), dir, crashOptions, commit)
		must(t, err)
		must(t, v.Close())
		var reader eventReader
		must(t, reader.read(copied))
		if got := strings.Join(reader.got, " "); got != want || reader.cursor != before.cursor {
			t.Errorf("the copy at %q has %q up to %s, want %q up to %s", commit, got, reader.cursor, want, before.cursor)
		}
		_, err = copied.ProposalEvents(t.Context(), engine.EventRange{After: p.Events[0].ID})
		if restored := commit != ""; errors.As(err, new(*engine.EventsReclaimed)) != restored {
			t.Errorf("the copy at %q: an old cursor: %v", commit, err)
		}
		proposed(t, copied, "later")
		reader.got = nil
		if must(t, reader.read(copied)); !slices.Equal(reader.got, []string{"later"}) {
			t.Errorf("the copy at %q: the reader got %q", commit, reader.got)
		}
		must(t, copied.Close())
	}
	must(t, g.Close())
}

// TestEventsOnFollower moves a reader between the writer of a graph in shared storage and its followers, over a
// takeover and a cleanup. The reader must get each event once.
func TestEventsOnFollower(t *testing.T) {
	ctx := t.Context()
	memory, now := &object.Memory{}, clocktest.Start
	opts := Options{Now: func() time.Time { return now }}
	first := createShared(t, placeIn(memory), opts)
	f, other := follow(t, placeIn(memory), opts), follow(t, placeIn(memory), opts)
	var reader eventReader
	read := func(what string, g interface {
		ProposalEvents(context.Context, engine.EventRange) (*engine.EventPage, error)
	}, want ...string) {
		t.Helper()
		if err := reader.read(g); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if !slices.Equal(reader.got, want) {
			t.Fatalf("%s: got %q, want %q", what, reader.got, want)
		}
		reader.got = nil
	}
	p := proposed(t, first, "one")
	read("the writer", first, "one")
	read("a follower that does not have the event of the cursor yet", f)
	noted(t, first, p, engine.EventApproved, "two")
	read("a follower that has not read on", f)
	must(t, f.CatchUp(ctx))
	read("a follower that has read on", f, "two")
	if _, err := other.ProposalEvents(ctx, engine.EventRange{After: "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"}); !errors.As(err, new(*engine.NotFound)) {
		t.Errorf("an event that does not exist: %v", err)
	}
	now = now.Add(-time.Hour) // the clock of the next writer is late
	second, err := f.TakeOver(ctx)
	must(t, err)
	defer second.Close()
	lost := *p
	lost.Events = append(slices.Clone(p.Events), engine.ProposalEvent{Kind: engine.EventCommented, Text: "lost"})
	if _, err := first.PutProposal(ctx, lost); err == nil {
		t.Error("the former writer took an event")
	}
	read("the former writer", first)
	mergedNow(t, second, p, "three")
	read("the new writer", second, "three")
	read("the other follower", other)
	var whole eventReader
	if must(t, whole.read(other)); !slices.Equal(whole.got, []string{"one", "two", "three"}) {
		t.Errorf("the other follower has %q", whole.got)
	}
	now = now.Add(2 * engine.ProposalKeep)
	_, err = second.Cleanup(ctx, engine.CleanupOptions{})
	must(t, err)
	must(t, other.CatchUp(ctx))
	read("after the cleanup", other)
	if _, err := other.ProposalEvents(ctx, engine.EventRange{After: p.Events[0].ID}); !errors.As(err, new(*engine.EventsReclaimed)) {
		t.Errorf("an old cursor after the cleanup: %v", err)
	}
}
