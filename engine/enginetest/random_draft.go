package enginetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
)

// draftAct is what a step about a draft or a proposal does.
type draftAct uint8

const (
	openDraft     draftAct = iota // opens a draft
	endDraft                      // ends a draft
	listDrafts                    // lists some of the drafts
	propose                       // opens a proposal
	retitle                       // changes the title of a proposal
	closeProposal                 // closes a proposal
	mergeProposal                 // merges a proposal
)

// drafting is a step about a draft or a proposal. The ids of drafts and proposals differ from run to
// run, so a script has numbers instead. The branch of draft 3 has the name draft/3 in a script.
type drafting struct {
	act      draftAct
	number   int               // number of the draft or proposal
	open     engine.NewDraft   // the draft to open, without its commit
	from     string            // branch of the commit at which the draft begins; see back
	back     int               // how many commits before the head of `from` the draft begins; -1 for no commit
	end      engine.DraftEnd   // how to end the draft, without the commit
	ifHead   condition         // the commit that the end requires
	list     engine.DraftRange // the drafts to list; number is that of the only draft, or 0
	proposal engine.Proposal   // the proposal to open
	stale    bool              // the step sends an earlier revision of the proposal
	dryRun   bool              // the merge is a dry run
}

func (a *drafting) String() string {
	switch a.act {
	case openDraft:
		text := fmt.Sprintf("open draft %d, %q of %s, at most %d", a.number, a.open.Name, a.open.Owner, a.open.Max)
		if a.back >= 0 {
			text += fmt.Sprintf(", %d commits before the head of %q", a.back, a.from)
		}
		return text
	case endDraft:
		return fmt.Sprintf("end draft %d: %q by %q, unused %t, head %d", a.number, a.end.State, a.end.By, a.end.Unused, a.ifHead)
	case listDrafts:
		return fmt.Sprintf("list drafts: number %d, owner %q, state %q, key %q", a.number, a.list.Owner, a.list.State, a.list.Key)
	case propose:
		return fmt.Sprintf("open proposal %d from %q to %q", a.number, a.proposal.Source, a.proposal.Target)
	case retitle:
		return fmt.Sprintf("change proposal %d, stale %t", a.number, a.stale)
	case closeProposal:
		return fmt.Sprintf("close proposal %d, stale %t", a.number, a.stale)
	}
	return fmt.Sprintf("merge proposal %d, stale %t, dry run %t", a.number, a.stale, a.dryRun)
}

// draftOwners are the actors that own drafts. The first one makes all writes.
var draftOwners = []string{"act", "bob"}

// noDraft is an id that no draft and no proposal has.
const noDraft = "01ARZ3NDEKTSV4RRFFQ69G5FAV"

// drawDrafting draws a step about a draft or a proposal. The last of the branches may be those of
// drafts that have ended.
func (d *drawer) drawDrafting(branches []string) *drafting {
	a := &drafting{back: -1}
	drafts := slices.DeleteFunc(slices.Clone(branches), func(name string) bool { return !strings.HasPrefix(name, engine.DraftPrefix) })
	switch draw := d.IntN(100); {
	case draw < 30 || d.opened == 0:
		d.opened++
		a.number = d.opened
		a.open = engine.NewDraft{Owner: pick(d, draftOwners), Name: pick(d, []string{"", "", "x", "y"}), Max: pick(d, []int{0, 0, 3, 2})}
		if d.percent(3) {
			a.open.Name = "a/b" // no valid name
		}
		if d.percent(30) {
			a.from, a.back = "", d.IntN(8)
			if d.percent(20) {
				a.from = pick(d, branches)
			}
		}
		return a
	case draw < 50:
		a.act, a.number = endDraft, 1+d.IntN(d.opened)
		if len(drafts) > 0 && d.percent(80) {
			a.number = draftNumber(pick(d, drafts))
		}
		a.end = engine.DraftEnd{State: pick(d, []engine.DraftState{engine.DraftDeleted, engine.DraftExpired}), Unused: d.percent(15)}
		if d.percent(4) {
			a.end.State = engine.DraftMerged // refused: only a merge makes a draft merged
		}
		if d.percent(50) {
			a.end.By = pick(d, draftOwners)
		}
		if d.percent(30) {
			a.ifHead = pick(d, []condition{thisHead, firstHead})
		}
		return a
	case draw < 60:
		a.act = listDrafts
		if d.percent(25) {
			a.number = 1 + d.IntN(d.opened)
		}
		if d.percent(50) {
			a.list.Owner = pick(d, draftOwners)
		}
		if d.percent(40) {
			a.list.State = engine.DraftState(1 + d.IntN(4))
		}
		if d.percent(50) {
			a.list.Key = d.drawKey()
		}
		return a
	case draw < 78 || d.proposed == 0:
		d.proposed++
		a.act, a.number = propose, d.proposed
		a.proposal = engine.Proposal{Source: pick(d, branches), Title: "title", Author: pick(d, draftOwners)}
		// A cleanup drops a final proposal without an event at once.
		a.proposal.Events = []engine.ProposalEvent{{Kind: engine.EventOpened, Actor: a.proposal.Author}}
		if len(drafts) > 0 && d.percent(75) {
			a.proposal.Source = pick(d, drafts)
		}
		if d.percent(20) {
			a.proposal.Target = pick(d, branches)
		}
		return a
	}
	a.act, a.number = pick(d, []draftAct{retitle, closeProposal, mergeProposal, mergeProposal}), 1+d.IntN(d.proposed)
	a.stale, a.dryRun = d.percent(10), d.percent(10)
	return a
}

// drawKey draws an idempotency key. In a graph with drafts there are several.
func (d *drawer) drawKey() string {
	if !d.drafting {
		return "k"
	}
	return fmt.Sprint("k", d.IntN(3))
}

// drawRepeat draws a write with an idempotency key from a script, most often one on the branch of a
// draft that has ended, or else of any draft. The result `ok` is false if there is none.
func (d *drawer) drawRepeat(script []step, ended []string) (s step, ok bool) {
	var all, onDrafts, onEnded []step
	for _, s := range script {
		if s.key == "" || !s.writes() || s.history != nil || s.drafting != nil {
			continue
		}
		all = append(all, s)
		if strings.HasPrefix(s.branch, engine.DraftPrefix) {
			onDrafts = append(onDrafts, s)
		}
		if slices.Contains(ended, s.branch) {
			onEnded = append(onEnded, s)
		}
	}
	switch {
	case len(onEnded) > 0 && d.percent(80):
		all = onEnded
	case len(onDrafts) > 0 && d.percent(80):
		all = onDrafts
	}
	if len(all) == 0 {
		return step{}, false
	}
	return pick(d, all), true
}

// draftNumber returns the number in the name that a script has for the branch of a draft, or 0.
func draftNumber(branch string) int {
	text, ok := strings.CutPrefix(branch, engine.DraftPrefix)
	n, err := strconv.Atoi(text)
	if !ok || err != nil {
		return 0
	}
	return n
}

// named returns the branch that has the given name in a script.
func (p *pair) named(branch string) string {
	if n := draftNumber(branch); n > 0 {
		return engine.DraftPrefix + numbered(p.drafts, n)
	}
	return branch
}

// numbered returns the id of a draft or a proposal, or an unknown id if a shrunken script did not make it.
func numbered(ids map[int]string, n int) string {
	if id, ok := ids[n]; ok {
		return id
	}
	return noDraft
}

// nameOf is the inverse of named.
func (p *pair) nameOf(branch string) string {
	id, ok := engine.DraftID(branch)
	if !ok {
		return branch
	}
	for _, n := range slices.Sorted(maps.Keys(p.drafts)) {
		if p.drafts[n] == id {
			return engine.DraftPrefix + strconv.Itoa(n)
		}
	}
	return branch
}

// withNames returns a step of a script with the names of branches that the graphs have.
func (p *pair) withNames(s step) step {
	s.branch = p.named(s.branch)
	if s.branching != nil {
		b := *s.branching
		for _, name := range []*string{&b.remove, &b.from, &b.source, &b.target} {
			*name = p.named(*name)
		}
		s.branching = &b
	}
	if s.drafting != nil {
		a := *s.drafting
		for _, name := range []*string{&a.from, &a.proposal.Source, &a.proposal.Target} {
			*name = p.named(*name)
		}
		s.drafting = &a
	}
	return s
}

// ended returns the names of the branches of drafts that have ended or were forgotten.
func (p *pair) ended() (names []string) {
	for _, n := range slices.Sorted(maps.Keys(p.drafts)) {
		name := engine.DraftPrefix + p.drafts[n]
		if _, err := p.model.Snapshot(p.ctx, engine.Target{Branch: name}); err != nil {
			names = append(names, p.nameOf(name))
		}
	}
	return slices.Compact(names)
}

// runDrafting runs a step about a draft or a proposal on both graphs.
func (p *pair) runDrafting(ctx context.Context, a *drafting) string {
	p.branch = ""
	if _, known := p.drafts[a.number]; known && a.act == endDraft {
		p.branch = engine.DraftPrefix + p.drafts[a.number]
	}
	var wantErr, gotErr error
	difference := ""
	switch a.act {
	case openDraft:
		difference, wantErr, gotErr = p.runOpenDraft(ctx, a)
	case endDraft:
		end := func(g engine.Graph) error {
			id, e := numbered(p.drafts, a.number), a.end
			if commits, err := g.Commits(ctx, engine.DraftPrefix+id, engine.CommitRange{}); err == nil && a.ifHead != anyHead {
				e.IfHead = commits[0].ID
				if a.ifHead == firstHead {
					e.IfHead = commits[len(commits)-1].ID
				}
			}
			return g.EndDraft(ctx, id, e)
		}
		wantErr, gotErr = end(p.model), end(p.engine)
	case listDrafts:
		difference, wantErr, gotErr = p.runListDrafts(ctx, a)
	case propose:
		got, err := p.engine.PutProposal(ctx, a.proposal)
		if gotErr = err; err == nil {
			p.proposals[a.number] = got.ID
			p.model.UseIDs(got.ID)
		}
		_, wantErr = p.model.PutProposal(ctx, a.proposal)
	case retitle, closeProposal, mergeProposal:
		wantErr, gotErr = p.changeProposal(ctx, p.model, a), p.changeProposal(ctx, p.engine, a)
	}
	kind := [...]string{openDraft: "draft", endDraft: "end of a draft", listDrafts: "list of drafts", propose: "proposal",
		retitle: "change of a proposal", closeProposal: "closed proposal", mergeProposal: "merged proposal"}[a.act]
	if wantErr != nil {
		p.seen.add(kind, "refused: "+refusal(wantErr))
	} else {
		p.seen.add(kind, "made")
	}
	if difference == "" {
		difference = compareBranchErrors(wantErr, gotErr)
	}
	if difference == "" {
		difference = p.compareBranches(ctx)
	}
	return difference
}

// runOpenDraft opens a draft in the engine, and then in the model with the same id.
func (p *pair) runOpenDraft(ctx context.Context, a *drafting) (difference string, wantErr, gotErr error) {
	open := func(g engine.Graph) (*engine.Draft, bool, error) {
		n := a.open
		if a.back >= 0 {
			commits, err := g.Commits(ctx, a.from, engine.CommitRange{Limit: a.back + 1})
			if n.Commit = noDraft; err == nil {
				n.Commit = commits[len(commits)-1].ID
			}
		}
		return g.OpenDraft(ctx, n)
	}
	got, isNew, gotErr := open(p.engine)
	if p.model.UseIDs(); gotErr == nil && isNew {
		p.model.UseIDs(got.ID)
	}
	want, wantNew, wantErr := open(p.model)
	if wantErr != nil || gotErr != nil {
		return "", wantErr, gotErr
	}
	p.drafts[a.number], p.branch = got.ID, got.Branch()
	if want.ID != got.ID || wantNew != isNew || want.MainAhead != got.MainAhead {
		return fmt.Sprintf("the engine opens draft %s, new %t, main %d ahead; the model %s, new %t, main %d ahead", got.ID, isNew, got.MainAhead, want.ID, wantNew, want.MainAhead), nil, nil
	}
	return "", nil, nil
}

// runListDrafts compares a selection of the drafts.
func (p *pair) runListDrafts(ctx context.Context, a *drafting) (difference string, wantErr, gotErr error) {
	r := a.list
	if a.number > 0 {
		r.ID = numbered(p.drafts, a.number)
	}
	want, wantErr := p.model.Drafts(ctx, r)
	got, gotErr := p.engine.Drafts(ctx, r)
	if wantErr != nil || gotErr != nil {
		return "", wantErr, gotErr
	}
	id := func(d engine.Draft) string { return d.ID }
	if w, g := texts(want, id), texts(got, id); w != g {
		return fmt.Sprintf("the engine selects the drafts %s, the model %s", g, w), nil, nil
	}
	return "", nil, nil
}

// changeProposal changes, closes or merges a proposal in one of the graphs.
func (p *pair) changeProposal(ctx context.Context, g engine.Graph, a *drafting) error {
	stored, err := g.Proposal(ctx, numbered(p.proposals, a.number))
	if err != nil {
		return err
	}
	if a.stale {
		stored.Revision--
	}
	if a.act == mergeProposal {
		stored.Events = append(stored.Events, engine.ProposalEvent{Kind: engine.EventMerged, Actor: draftOwners[0]})
		_, err := g.Merge(ctx, stored.Source, stored.Target, engine.MergeOptions{Actor: draftOwners[0], DryRun: a.dryRun, Proposal: stored})
		return err
	}
	stored.State, stored.Title = engine.ProposalOpen, fmt.Sprint("title ", stored.Revision)
	if a.act == closeProposal {
		stored.State = engine.ProposalClosed
		stored.Events = append(stored.Events, engine.ProposalEvent{Kind: engine.EventClosed, Actor: draftOwners[0]})
	}
	_, err = g.PutProposal(ctx, *stored)
	return err
}

// compareDrafts compares all drafts and proposals of the graphs.
func (p *pair) compareDrafts(ctx context.Context) string {
	for _, list := range []func(context.Context, engine.Graph) (string, error){draftsText, proposalsText} {
		want, err := list(ctx, p.model)
		must(err)
		got, err := list(ctx, p.engine)
		if err != nil {
			return "drafts and proposals: " + err.Error()
		}
		if want != got {
			return fmt.Sprintf("drafts or proposals differ\nmodel:\n%s\nengine:\n%s", want, got)
		}
	}
	for _, g := range []engine.Graph{p.model, p.engine} {
		if _, err := g.Draft(ctx, noDraft); !errors.As(err, new(*engine.NotFound)) {
			return fmt.Sprintf("an unknown draft: %v", err)
		}
	}
	return ""
}

// draftsText describes the drafts of a graph. Commits stand as their numbers, because their ids differ
// between the graphs.
func draftsText(ctx context.Context, g engine.Graph) (string, error) {
	list, err := g.Drafts(ctx, engine.DraftRange{})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, listed := range list {
		d, err := g.Draft(ctx, listed.ID)
		if err != nil {
			return "", fmt.Errorf("draft %s: %w", listed.ID, err)
		}
		ahead := d.MainAhead
		if d.MainAhead = 0; *d != listed {
			return "", fmt.Errorf("draft %s is %+v, and in the list %+v", d.ID, *d, listed)
		}
		written := d.Written.IsZero()
		if d.State == engine.DraftOpen {
			head, err := g.Commit(ctx, d.Head)
			if err != nil {
				return "", err
			}
			last := d.Made
			if head.Branch == d.Branch() && head.Time.After(last) {
				last = head.Time
			}
			written = d.Written.Equal(last)
		}
		head, merge, err := commitTexts(ctx, g, d.Head, d.Merge)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s, %q of %s: %s by %q, head%s, merge%s, main is %d ahead, has a time %t, ended %t, written as its head %t\n",
			d.ID, d.Name, d.Owner, d.State, d.By, head, merge, ahead, !d.Made.IsZero(), !d.Ended.IsZero(), written)
	}
	return b.String(), nil
}

// proposalsText describes the proposals of a graph, in the same way as draftsText.
func proposalsText(ctx context.Context, g engine.Graph) (string, error) {
	list, err := g.Proposals(ctx, engine.ProposalRange{})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, p := range list {
		base, head, err := commitTexts(ctx, g, p.Base, p.Head)
		if err != nil {
			return "", err
		}
		target, merge, err := commitTexts(ctx, g, p.TargetHead, p.Merge)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s, revision %d: %s, %q by %s, from %s to %s, base%s, head%s, target%s, merge%s, events",
			p.ID, p.Revision, p.State, p.Title, p.Author, p.Source, p.Target, base, head, target, merge)
		for _, e := range p.Events {
			fmt.Fprintf(&b, " %s by %s", e.Kind, e.Actor)
		}
		b.WriteString("\n")
	}
	return b.String(), nil
}

// commitTexts describes two commits by their numbers and branches. An id may be empty.
func commitTexts(ctx context.Context, g engine.Graph, a, b string) (first, second string, err error) {
	for _, c := range []struct {
		id   string
		text *string
	}{{a, &first}, {b, &second}} {
		if c.id == "" {
			continue
		}
		found, err := g.Commit(ctx, c.id)
		if err != nil {
			return "", "", fmt.Errorf("commit %s: %w", c.id, err)
		}
		*c.text = fmt.Sprintf(" %d of %s", found.Seq, found.Branch)
	}
	return first, second, nil
}

// compareClosed compares two errors about the branch of a draft that has ended.
func compareClosed(model, got error) string {
	var want, have *engine.DraftClosed
	if !errors.As(model, &want) || !errors.As(got, &have) {
		return ""
	}
	text := func(d *engine.Draft) string {
		return fmt.Sprintf("%s, %q of %s: %s by %q, merged %t, ended %t", d.ID, d.Name, d.Owner, d.State, d.By, d.Merge != "", !d.Ended.IsZero())
	}
	if w, g := text(&want.Draft), text(&have.Draft); w != g {
		return fmt.Sprintf("the engine's error is about the draft %s, the model's about %s", g, w)
	}
	return ""
}
