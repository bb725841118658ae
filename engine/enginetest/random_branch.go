package enginetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
)

// branching is a step that creates, deletes or merges a branch.
type branching struct {
	create, remove string // name of the branch to create or to delete; else empty
	from           string // branch on which a new one is based
	back           int    // how many commits before the head of from
	source, target string // branches of a merge
	resolve        bool   // the merge has resolutions for the conflicts that can be resolved
	turn           int    // the resolution of the first conflict: 0 takes theirs, 1 ours, 2 a value; the next follow in turn
}

func (b *branching) String() string {
	switch {
	case b.create != "":
		return fmt.Sprintf("create branch %s from %q, %d commits back", b.create, b.from, b.back)
	case b.remove != "":
		return "delete branch " + b.remove
	}
	if b.resolve {
		return fmt.Sprintf("merge %q into %q and resolve the conflicts, from side %d on", b.source, b.target, b.turn)
	}
	return fmt.Sprintf("merge %q into %q", b.source, b.target)
}

// condition is the precondition of a write on the head of its branch.
type condition uint8

const (
	anyHead   condition = iota // requires nothing
	thisHead                   // requires the current head
	firstHead                  // requires the branch's first commit
)

// options describes the options of a write as text.
func (s step) options() string {
	var b strings.Builder
	if s.ifCommit != anyHead {
		fmt.Fprintf(&b, " if head %d", s.ifCommit)
	}
	if s.key != "" {
		b.WriteString(" with key " + s.key)
	}
	if s.dryRun {
		b.WriteString(" as a dry run")
	}
	if s.message != "" {
		fmt.Fprintf(&b, " with message %q", s.message)
	}
	return b.String()
}

// branchNames are the names for drawn branches.
var branchNames = []string{"a", "b/c", "d-1_2.3"}

// drawBranch draws the branch that a statement runs on.
func (d *drawer) drawBranch(branches []string) string {
	if !d.branching || len(branches) < 2 || d.percent(40) {
		return ""
	}
	if name := pick(d, branches); name != engine.MainBranch {
		return name
	}
	return ""
}

// drawBranching draws a branching step.
func (d *drawer) drawBranching(branches []string) *branching {
	create := 20
	if len(branches) > len(d.names) {
		create = 5 // creating a branch would fail, because all names are in use
	}
	switch draw := d.IntN(100); {
	case len(branches) < 2 || draw < create:
		b := &branching{create: pick(d, d.names), from: pick(d, branches)}
		if d.percent(25) {
			b.back = 1 + d.IntN(12)
		}
		return b
	case draw < create+7:
		return &branching{remove: pick(d, branches)}
	case draw < create+8:
		return &branching{source: pick(d, branchNames), target: pick(d, branches)}
	}
	b := &branching{source: pick(d, branches), target: pick(d, branches), resolve: d.percent(50)}
	for b.source == b.target && d.percent(95) { // merging a branch into itself always fails
		b.target = pick(d, branches)
	}
	return b
}

// upToDate reports whether a step is a merge that would change nothing.
func (p *pair) upToDate(b *branching) bool {
	if b.source == "" {
		return false
	}
	res, err := p.model.Merge(p.ctx, p.named(b.source), p.named(b.target), engine.MergeOptions{DryRun: true})
	return err == nil && res.Outcome == engine.AlreadyUpToDate
}

// drawOptions draws one option of a write.
func (s *step) drawOptions(d *drawer) {
	switch d.IntN(6) {
	case 0:
		s.ifCommit = thisHead
	case 1:
		s.ifCommit = firstHead
	case 2:
		s.dryRun = true
	default:
		s.key = d.drawKey()
	}
	if d.percent(50) {
		s.message = pick(d, messages)
	}
}

// messages are messages of commits.
var messages = []string{"one", "two\nlines", "drei é ✓"}

// target returns the head of the current branch.
func (p *pair) target() engine.Target { return engine.Target{Branch: p.branch} }

// missing reports whether the model lacks the branch. That can happen in a shrunken script, and if the
// branch belongs to a draft that has ended. If so, the result `difference` describes how the engine
// differs.
func (p *pair) missing(ctx context.Context) (absent bool, difference string) {
	for i, read := range []func(engine.Graph) error{
		func(g engine.Graph) error { _, err := g.Snapshot(ctx, p.target()); return err },
		func(g engine.Graph) error { _, err := g.Schema(ctx, p.target()); return err },
		func(g engine.Graph) error { _, err := g.Commits(ctx, p.branch, engine.CommitRange{}); return err },
	} {
		want := read(p.model)
		if i == 0 && want == nil {
			return false, ""
		}
		if difference := compareErrors(want, read(p.engine)); difference != "" {
			return true, "branch " + p.branch + ": " + difference
		}
	}
	return true, ""
}

// branches returns the names that a script has for the model's branches.
func (p *pair) branches() []string {
	all, err := p.model.Branches(p.ctx)
	must(err)
	names := make([]string, len(all))
	for i, b := range all {
		names[i] = p.nameOf(b.Name)
	}
	return names
}

// options returns the options of a write for one of the two graphs. The ids of commits differ
// between the graphs.
func (p *pair) options(s step, g engine.Graph) engine.WriteOptions {
	o := engine.WriteOptions{Branch: s.branch, Actor: s.by.name(), Tool: s.by.tool, Message: s.message, IdempotencyKey: s.key, DryRun: s.dryRun, Reads: s.reads, Writes: s.changes}
	if s.ifCommit != anyHead {
		commits, err := g.Commits(p.ctx, s.branch, engine.CommitRange{})
		switch {
		case err != nil: // the branch does not exist; the write will report this
		case s.ifCommit == firstHead:
			o.IfCommit = commits[len(commits)-1].ID
		default:
			o.IfCommit = commits[0].ID
		}
	}
	return o
}

// runBranching runs a branching step on both graphs.
func (p *pair) runBranching(ctx context.Context, s step) string {
	b := s.branching
	p.branch = ""
	var wantErr, gotErr error
	difference := ""
	switch {
	case b.create != "":
		_, wantErr = p.model.CreateBranch(ctx, b.create, p.commitBack(p.model, b.from, b.back))
		_, gotErr = p.engine.CreateBranch(ctx, b.create, p.commitBack(p.engine, b.from, b.back))
		if wantErr == nil {
			p.branch = b.create
		}
	case b.remove != "":
		wantErr, gotErr = p.model.DeleteBranch(ctx, b.remove), p.engine.DeleteBranch(ctx, b.remove)
	default:
		if _, err := p.model.Snapshot(ctx, engine.Target{Branch: b.target}); err == nil {
			p.branch = b.target
		}
		difference, wantErr, gotErr = p.runMerge(ctx, s)
	}
	p.seen.branch(b, wantErr)
	if difference == "" {
		difference = compareBranchErrors(wantErr, gotErr)
	}
	if difference == "" {
		difference = p.compareBranches(ctx)
	}
	return difference
}

// runMerge merges branches in the engine and the model, and describes how the results differ.
func (p *pair) runMerge(ctx context.Context, s step) (difference string, wantErr, gotErr error) {
	resolutions, difference := p.compareSides(ctx, s)
	if difference != "" {
		return difference, nil, nil
	}
	changes := p.sourceChanges(ctx, s)
	merge := func(g engine.Graph) (*engine.MergeResult, error) {
		at := s
		at.branch = s.branching.target
		o := p.options(at, g)
		return g.Merge(ctx, s.branching.source, s.branching.target,
			engine.MergeOptions{Actor: o.Actor, Tool: o.Tool, Message: o.Message, IfCommit: o.IfCommit, IdempotencyKey: o.IdempotencyKey, DryRun: o.DryRun, Resolutions: resolutions,
				ReadsSource: o.Reads, ReadsTarget: o.Reads, Writes: o.Writes})
	}
	want, wantErr := merge(p.model)
	got, gotErr := merge(p.engine)
	if wantErr == nil {
		p.seen.add("merge", fmt.Sprint(want.Outcome))
	}
	if wantErr == nil && gotErr == nil {
		w, g := fmt.Sprint(want.Outcome, want.Nodes, want.Edges), fmt.Sprint(got.Outcome, got.Nodes, got.Edges)
		if w != g {
			difference = fmt.Sprintf("the engine's merge is %s, the model's %s", g, w)
		} else {
			difference = compareCommits(want.Commit, got.Commit)
		}
		if difference == "" && changes != nil {
			difference = p.unmerged(ctx, changes, s.branching.target, resolutions)
		}
	}
	return difference, wantErr, gotErr
}

// compareSides calls Compare for a merge on the model and on the engine, and describes how the two
// reports differ. If the step asks for resolutions, it also returns resolutions of the conflicts.
func (p *pair) compareSides(ctx context.Context, s step) (resolutions []engine.Resolution, difference string) {
	b := s.branching
	source, target := engine.Target{Branch: b.source, Rights: s.reads}, engine.Target{Branch: b.target, Rights: s.reads}
	opts := engine.CompareOptions{Changes: &engine.ChangeRange{Images: b.resolve}}
	for range 2 {
		opts.Resolutions = resolutions
		want, wantErr := p.model.Compare(ctx, source, target, opts)
		first := p.firstConflicts(ctx, source, target, resolutions) // before the engine can remember all of them
		got, gotErr := p.engine.Compare(ctx, source, target, opts)
		if wantErr != nil || gotErr != nil {
			return resolutions, compareErrors(wantErr, gotErr)
		}
		if w, g := comparisonText(want), comparisonText(got); w != g {
			return resolutions, fmt.Sprintf("comparisons differ\nmodel:\n%s\nengine:\n%s", w, g)
		}
		if difference := p.comparePages(ctx, source, target, want.List, b.resolve); difference != "" {
			return resolutions, difference
		}
		if difference := compareFirstConflicts(first, got); difference != "" {
			return resolutions, difference
		}
		if !b.resolve || len(want.Conflicts) == 0 {
			break
		}
		for i, c := range want.Conflicts {
			if !c.Resolvable() {
				continue
			}
			r := engine.Resolution{ConflictPlace: c.Place(), Take: []engine.MergeSide{engine.TakeTheirs, engine.TakeOurs, engine.TakeValue}[(i+b.turn)%3]}
			if r.Take == engine.TakeValue {
				if c.Theirs == nil || len(c.Theirs.Properties) != 1 || c.Property == "" {
					r.Take = engine.TakeTheirs
				} else {
					r.Value = c.Theirs.Properties[0].Value
				}
			}
			resolutions = append(resolutions, r)
		}
	}
	return resolutions, p.comparePreviews(ctx, source, target, resolutions)
}

// comparePages lists the changes of a comparison in pages, and compares them with the list `want`.
func (p *pair) comparePages(ctx context.Context, source, target engine.Target, want []engine.EntityChange, images bool) string {
	const limit = 3
	var all []engine.EntityChange
	r := engine.ChangeRange{Images: images, Limit: limit}
	for more := true; more; {
		page, err := p.engine.Compare(ctx, source, target, engine.CompareOptions{Changes: &r, ListOnly: true})
		if err != nil {
			return "a page of the changes: " + err.Error()
		}
		if more = page.More; more && len(page.List) < limit {
			return fmt.Sprintf("a page that is not the last one has %d changes", len(page.List))
		}
		if all = append(all, page.List...); len(all) > 0 {
			r.After = all[len(all)-1].Position()
		}
	}
	if w, g := comparisonText(&engine.Comparison{List: want}), comparisonText(&engine.Comparison{List: all}); w != g {
		return fmt.Sprintf("the pages of the changes differ from the list\nlist:\n%s\npages:\n%s", w, g)
	}
	return ""
}

// firstConflicts compares the branches with a maximum of one conflict, and then of two.
func (p *pair) firstConflicts(ctx context.Context, source, target engine.Target, resolutions []engine.Resolution) (all []*engine.Comparison) {
	for most := 1; most <= 2; most++ {
		c, err := p.engine.Compare(ctx, source, target, engine.CompareOptions{Resolutions: resolutions, MaxConflicts: most})
		if err == nil { // else the comparison without a maximum has the error too
			all = append(all, c)
		}
	}
	return all
}

// compareFirstConflicts compares the results of firstConflicts with a comparison without a maximum.
func compareFirstConflicts(first []*engine.Comparison, all *engine.Comparison) string {
	if len(first) != 2 {
		return "a comparison with a maximum of conflicts has an error, but the one without has none"
	}
	for i, c := range first {
		want := placeTexts(all.Conflicts[:min(len(all.Conflicts), i+1)])
		if got := placeTexts(c.Conflicts); c.ConflictCount != len(all.Conflicts) || c.Outcome != all.Outcome || !slices.Equal(got, want) {
			return fmt.Sprintf("a comparison with at most %d conflicts is %s with %q of %d, expected %s with %q of %d", i+1, c.Outcome, got, c.ConflictCount, all.Outcome, want, len(all.Conflicts))
		}
	}
	return ""
}

// comparePreviews compares every node and edge of the states that a merge would commit.
func (p *pair) comparePreviews(ctx context.Context, source, target engine.Target, resolutions []engine.Resolution) string {
	want, wantErr := p.model.Preview(ctx, source, target, resolutions)
	got, gotErr := p.engine.Preview(ctx, source, target, resolutions)
	if wantErr != nil || gotErr != nil {
		return compareBranchErrors(wantErr, gotErr)
	}
	for _, q := range dumps(p.schema, false) {
		rows, wantErr := previewRows(ctx, want, q)
		have, gotErr := previewRows(ctx, got, q)
		difference := compareErrors(wantErr, gotErr)
		if difference == "" {
			difference = compareRows(rows, have)
		}
		if difference != "" {
			return "in the preview of the merge, " + difference + "\nof\n" + planText(q)
		}
	}
	return comparePreviewChanges(ctx, want, got)
}

// comparePreviewChanges compares the changes of two previews in pages, and each changed entity.
func comparePreviewChanges(ctx context.Context, want, got engine.Preview) string {
	var texts [2]strings.Builder
	for i, of := range []engine.Preview{want, got} {
		text, r := &texts[i], engine.ChangeRange{Images: true, Limit: 3}
		for more := true; more; {
			list, rest, err := of.Changes(ctx, r)
			if err != nil {
				return fmt.Sprintf("the changes of a preview have an error: %v", err)
			}
			for k := range list {
				e := &list[k]
				image, same, err := of.Entity(ctx, e.Position())
				if err != nil || same {
					return fmt.Sprintf("the changed %s %s %q of a preview is the same: %t, %v", e.Entity, e.Type, e.ID, same, err)
				}
				text.WriteString(changeText(e) + "\tbefore" + imageText(e.Before) + "\n\tafter" + imageText(e.After) + "\n\tentity" + imageText(image) + "\n")
				r.After = e.Position()
			}
			more = rest
		}
	}
	if want, got := texts[0].String(), texts[1].String(); want != got {
		return "the preview of the merge changes\n" + got + "expected\n" + want
	}
	return ""
}

// previewRows runs a read on a preview and returns its rows.
func previewRows(ctx context.Context, of engine.Preview, q *plan.Query) ([][]cell, error) {
	res, err := of.Query(ctx, q, nil, time.Time{})
	if err != nil {
		return nil, err
	}
	return drain(ctx, q, res)
}

// comparisonText describes a comparison. It leaves out messages and the ids of commits.
func comparisonText(c *engine.Comparison) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%d to %d with base %d: %s, nodes %v, edges %v, the merge nodes %v, edges %v, %d conflicts, %s\n", c.Source.Seq, c.Target.Seq, c.Base.Seq, c.Outcome,
		c.Nodes, c.Edges, c.MergedNodes, c.MergedEdges, c.ConflictCount, c.Digest)
	for i := range c.List {
		e := &c.List[i]
		text.WriteString(changeText(e) + "\tbefore" + imageText(e.Before) + "\n\tafter" + imageText(e.After) + "\n")
	}
	var conflicts []string
	for i, place := range placeTexts(c.Conflicts) {
		f := &c.Conflicts[i]
		conflicts = append(conflicts, fmt.Sprint(place, " with ", f.Edges, " edges\n\tbase")+imageText(f.Base)+"\n\tours"+imageText(f.Ours)+"\n\ttheirs"+imageText(f.Theirs)+"\n")
	}
	slices.Sort(conflicts)
	return text.String() + strings.Join(conflicts, "")
}

// compareBranchErrors compares errors by type, and the conflicts of merges one by one.
func compareBranchErrors(want, got error) string {
	var w, g *engine.MergeConflicts
	if errors.As(want, &w) && errors.As(got, &g) {
		if a, b := conflictTexts(w), conflictTexts(g); !slices.Equal(a, b) {
			return fmt.Sprintf("conflicts differ\nmodel:\n  %s\nengine:\n  %s", strings.Join(a, "\n  "), strings.Join(b, "\n  "))
		}
		return ""
	}
	return compareErrors(want, got)
}

// conflictTexts returns the conflicts in order, without their messages.
func conflictTexts(c *engine.MergeConflicts) []string {
	all := placeTexts(c.Conflicts)
	slices.Sort(all)
	return all
}

// placeTexts returns the kind and the place of each conflict.
func placeTexts(conflicts []engine.MergeConflict) (all []string) {
	for _, c := range conflicts {
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s %s %q %s", c.Kind, c.Entity, c.Type, c.ID, c.Property)))
	}
	return all
}

// compareBranches compares the branches of both graphs, and the commits of each branch.
func (p *pair) compareBranches(ctx context.Context) string {
	want, err := p.model.Branches(ctx)
	must(err)
	got, err := p.engine.Branches(ctx)
	if err != nil {
		return "branches: " + err.Error()
	}
	name := func(b engine.Branch) string { return fmt.Sprint(b.Name, " at ", b.Head.Seq, " of ", b.Head.Branch) }
	if w, g := texts(want, name), texts(got, name); w != g {
		return fmt.Sprintf("the engine has the branches %s, the model %s", g, w)
	}
	line := func(c engine.Commit) string {
		return fmt.Sprintf("%d %s %s %d %q", c.Seq, c.Branch, c.Actor, len(c.Parents), c.Message)
	}
	for _, b := range want {
		w, err := p.model.Commits(ctx, b.Name, engine.CommitRange{})
		must(err)
		g, err := p.engine.Commits(ctx, b.Name, engine.CommitRange{})
		if err != nil {
			return "commits: " + err.Error()
		}
		if w, g := texts(w, line), texts(g, line); w != g {
			return fmt.Sprintf("branch %s of the engine has the commits %s, the model's %s", b.Name, g, w)
		}
	}
	return ""
}

// texts returns the texts of all elements, joined.
func texts[T any](all []T, text func(T) string) string {
	lines := make([]string, len(all))
	for i, x := range all {
		lines[i] = text(x)
	}
	return strings.Join(lines, "; ")
}
