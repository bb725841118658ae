package naive

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
)

// shut returns a *engine.DraftClosed if a branch belongs to a draft that has ended.
func (g *Graph) shut(branch string) error {
	id, ok := engine.DraftID(branch)
	if d := g.drafts[id]; ok && d != nil && d.State != engine.DraftOpen {
		return &engine.DraftClosed{Draft: *d}
	}
	return nil
}

// Drafts lists the drafts by id.
func (g *Graph) Drafts(ctx context.Context, r engine.DraftRange) ([]engine.Draft, error) {
	if _, _, err := g.at(ctx, engine.Target{}); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []engine.Draft
	for _, id := range slices.Sorted(maps.Keys(g.drafts)) {
		d := g.drafts[id]
		if r.ID != "" && d.ID != r.ID || r.Owner != "" && d.Owner != r.Owner || r.State != 0 && d.State != r.State {
			continue
		}
		if r.Key != "" {
			l := g.lines[d.Branch()]
			if l == nil {
				continue
			}
			if _, ok := l.outcomes[[2]string{d.Owner, r.Key}]; !ok {
				continue
			}
		}
		found := g.filled(*d)
		found.MainAhead = 0
		list = append(list, found)
	}
	return list, nil
}

// Draft returns a draft.
func (g *Graph) Draft(ctx context.Context, id string) (*engine.Draft, error) {
	if _, _, err := g.at(ctx, engine.Target{}); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	d, ok := g.drafts[id]
	if !ok {
		return nil, &engine.NotFound{What: "draft", Name: id}
	}
	found := g.filled(*d)
	return &found, nil
}

// filled sets the fields of an open draft that depend on the heads of its branch and of main.
func (g *Graph) filled(d engine.Draft) engine.Draft {
	if d.State != engine.DraftOpen {
		return d
	}
	head := g.lines[d.Branch()].head
	d.Head, d.Written = head.ID, d.Made
	if head.Branch == d.Branch() && head.Time.After(d.Made) {
		d.Written = head.Time
	}
	has := g.ancestors(head.ID, map[string]bool{})
	for _, c := range g.past(g.lines[engine.MainBranch].head) {
		if !has[c.ID] || g.fault == DraftBehindLost && c.Time.After(d.Made) {
			d.MainAhead++
		}
	}
	return d
}

// OpenDraft returns the open draft with an owner and a name, or makes it.
func (g *Graph) OpenDraft(ctx context.Context, n engine.NewDraft) (*engine.Draft, bool, error) {
	if err := engine.CheckDraftName(n.Name); err != nil {
		return nil, false, err
	}
	if _, _, err := g.at(ctx, engine.Target{}); err != nil {
		return nil, false, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	open := 0
	for _, d := range g.drafts {
		if d.Owner == n.Owner && d.State == engine.DraftOpen {
			if open++; d.Name == n.Name {
				found := g.filled(*d)
				return &found, false, nil
			}
		}
	}
	main := g.lines[engine.MainBranch]
	from := moment{main.head, main.state}
	missing := &engine.PreconditionFailed{Expected: n.Commit, Actual: main.head.ID}
	if n.Commit != "" && !slices.ContainsFunc(g.past(main.head), func(c engine.Commit) bool { return c.ID == n.Commit }) {
		return nil, false, missing
	}
	if n.Max > 0 && open >= n.Max {
		return nil, false, &engine.TooLarge{Resource: "open drafts of one actor", Limit: int64(n.Max), Actual: int64(open) + 1}
	}
	if n.Commit != "" {
		if g.gone[n.Commit] || g.goneBase(n.Commit) != "" {
			return nil, false, missing
		}
		from = g.commits[n.Commit]
	}
	d := engine.Draft{ID: g.newID(), Owner: n.Owner, Name: n.Name, State: engine.DraftOpen, Made: now()}
	g.drafts[d.ID] = &d
	g.lines[d.Branch()] = &line{name: d.Branch(), head: from.commit, state: from.state, outcomes: map[[2]string]outcome{}}
	made := g.filled(d)
	return &made, true, nil
}

// EndDraft ends a draft.
func (g *Graph) EndDraft(ctx context.Context, id string, end engine.DraftEnd) error {
	if !end.Unused && end.State != engine.DraftDeleted && end.State != engine.DraftExpired {
		return &engine.BadArgument{Param: "state", Detail: "only a merge makes a draft merged"}
	}
	if _, _, err := g.at(ctx, engine.Target{}); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	d, ok := g.drafts[id]
	if !ok {
		return &engine.NotFound{What: "draft", Name: id}
	}
	l, err := g.line(d.Branch())
	if err != nil {
		return err
	}
	switch {
	case end.IfHead != "" && end.IfHead != l.head.ID:
		return &engine.PreconditionFailed{Expected: end.IfHead, Actual: l.head.ID}
	case end.Unused && l.head.Branch == l.name:
		return &engine.Conflict{Reason: "the draft has commits"}
	}
	if err := g.openProposal(l.name); err != nil && g.fault != DraftUnguarded {
		return err
	}
	if end.Unused {
		delete(g.drafts, id)
		delete(g.lines, l.name)
		return nil
	}
	g.end(d, end.State, end.By, "")
	return nil
}

// end ends a draft. Its branch stays while it has the outcome of a write with an idempotency key.
func (g *Graph) end(d *engine.Draft, state engine.DraftState, by, merge string) {
	if g.fault == MergeKeepsDraft && state == engine.DraftMerged {
		return
	}
	d.State, d.By, d.Merge, d.Ended = state, by, merge, now()
	if g.fault == DraftForgotten {
		delete(g.drafts, d.ID)
	}
	if l := g.lines[d.Branch()]; len(l.outcomes) == 0 || g.fault == DraftKeyLost {
		delete(g.lines, d.Branch())
	}
}

// lineToWrite is like line, but with an idempotency key it also returns the branch of a draft that
// has ended, for a repeated write.
func (g *Graph) lineToWrite(name, key string) (l *line, closed, err error) {
	l, err = g.line(name)
	if shut := g.shut(name); shut != nil && key != "" && g.lines[name] != nil {
		return g.lines[name], shut, nil
	}
	return l, nil, err
}

// mayRepeat reports whether an error is that of the branch of a draft that has ended, and the write may
// repeat an earlier one.
func mayRepeat(opts engine.WriteOptions, err error) bool {
	var closed *engine.DraftClosed
	return opts.IdempotencyKey != "" && errors.As(err, &closed)
}

// Watches lists the watches by id.
func (g *Graph) Watches(ctx context.Context, r engine.WatchRange) (list []engine.Watch, err error) {
	if _, _, err := g.at(ctx, engine.Target{}); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(g.watches)) {
		if w := g.watches[id]; (r.ID == "" || w.ID == r.ID) && (r.Owner == "" || w.Owner == r.Owner) {
			list = append(list, w)
		}
	}
	return list, nil
}

// CreateWatch keeps a watch.
func (g *Graph) CreateWatch(ctx context.Context, w engine.Watch, most int) (*engine.Watch, error) {
	if len(w.Arguments) > engine.MaxWatchBytes {
		return nil, &engine.TooLarge{Resource: "bytes of the arguments of one watch", Limit: engine.MaxWatchBytes, Actual: int64(len(w.Arguments))}
	}
	if len(w.State) > engine.MaxWatchBytes {
		return nil, &engine.TooLarge{Resource: "bytes of the state of one watch", Limit: engine.MaxWatchBytes, Actual: int64(len(w.State))}
	}
	if w.Debounce < 0 || w.Debounce%time.Millisecond != 0 {
		return nil, &engine.BadArgument{Param: "debounce", Detail: "expected whole milliseconds"}
	}
	if w.Branch == "" {
		w.Branch = engine.MainBranch
	}
	if _, _, err := g.at(ctx, engine.Target{Branch: w.Branch}); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	n := 0
	for _, other := range g.watches {
		if other.Owner == w.Owner {
			n++
		}
	}
	if most > 0 && n >= most {
		return nil, &engine.TooLarge{Resource: "watches of one actor", Limit: int64(most), Actual: int64(n) + 1}
	}
	w.ID, w.Made = g.newID(), now()
	if g.watches == nil {
		g.watches = map[string]engine.Watch{}
	}
	g.watches[w.ID] = w
	return &w, nil
}

// ChangeWatch replaces the state of a watch.
func (g *Graph) ChangeWatch(ctx context.Context, id string, change func([]byte) ([]byte, error)) error {
	if _, _, err := g.at(ctx, engine.Target{}); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	w, ok := g.watches[id]
	if !ok {
		return &engine.NotFound{What: "watch", Name: id}
	}
	state, err := change(slices.Clone(w.State))
	if err != nil {
		return err
	}
	if len(state) > engine.MaxWatchBytes {
		return &engine.TooLarge{Resource: "bytes of the state of one watch", Limit: engine.MaxWatchBytes, Actual: int64(len(state))}
	}
	w.State = slices.Clip(state)
	g.watches[id] = w
	return nil
}

// DeleteWatch forgets a watch.
func (g *Graph) DeleteWatch(ctx context.Context, id string) error {
	if _, _, err := g.at(ctx, engine.Target{}); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, ok := g.watches[id]; !ok {
		return &engine.NotFound{What: "watch", Name: id}
	}
	delete(g.watches, id)
	return nil
}
