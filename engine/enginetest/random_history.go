package enginetest

import (
	"context"
	"fmt"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
)

// history is a step about the history of a branch.
type history struct {
	back    int                // list the changes of the commit that is this many commits before the head
	limit   int                // size of a page of the list
	only    engine.ChangeRange // selects the changes to list
	cleanup bool               // clean up instead of listing changes
	keep    int                // the option KeepCommits of the cleanup
}

func (h *history) String() string {
	if h.cleanup {
		return fmt.Sprintf("cleanup that keeps %d commits", h.keep)
	}
	return fmt.Sprintf("list the changes of the commit %d back, %d on a page, entities %v, types %v, kinds %v", h.back, h.limit, h.only.Entities, h.only.Types, h.only.Kinds)
}

// drawHistory draws a cleanup or a list of changes.
func (d *drawer) drawHistory() *history {
	if d.percent(35) {
		keep := d.IntN(10)
		if d.percent(50) {
			keep = d.IntN(2) // keep few commits, so that merge bases are among the older ones
		}
		return &history{cleanup: true, keep: keep}
	}
	h := &history{back: d.IntN(10), limit: d.IntN(8)}
	h.only.Images = d.percent(50)
	if d.percent(20) {
		h.only.MaxBytes = 1 + d.IntN(200)
	}
	if d.percent(20) {
		h.only.Entities = []string{[]string{"node", "edge"}[d.IntN(2)]}
	}
	if d.percent(20) {
		h.only.Types = []string{d.schema.Nodes[d.IntN(len(d.schema.Nodes))].Name}
		if len(d.schema.Edges) > 0 {
			h.only.Types = append(h.only.Types, d.schema.Edges[d.IntN(len(d.schema.Edges))].Name)
		}
	}
	if d.percent(20) {
		h.only.Kinds = []engine.ChangeKind{engine.ChangeKind(d.IntN(3)), engine.ChangeKind(d.IntN(3))}
	}
	return h
}

// commitBack returns a target for the commit that is `back` commits before the head of a branch, or
// for the branch's first commit. It looks the commit up in g because the ids of commits differ
// between the two graphs.
func (p *pair) commitBack(g engine.Graph, branch string, back int) engine.Target {
	at := engine.Target{Branch: branch}
	if back == 0 {
		return at
	}
	commits, err := g.Commits(p.ctx, branch, engine.CommitRange{Limit: back + 1})
	if err == nil {
		at.Commit = commits[len(commits)-1].ID
	} // on an error the branch is missing, which the call will report
	return at
}

// runHistory runs a history step on both graphs.
func (p *pair) runHistory(ctx context.Context, h *history) string {
	if h.cleanup {
		opts := engine.CleanupOptions{KeepCommits: h.keep}
		want, err := p.model.Cleanup(ctx, opts)
		must(err)
		got, err := p.engine.Cleanup(ctx, opts)
		if err != nil {
			return "cleanup: " + err.Error()
		}
		if w, g := fmt.Sprint(want.Commits, want.Kept), fmt.Sprint(got.Commits, got.Kept); w != g {
			return fmt.Sprintf("the engine's cleanup reclaims and keeps %s commits, the model's %s", g, w)
		}
		return ""
	}
	if absent, difference := p.missing(ctx); absent {
		return difference
	}
	want, wantIDs, wantErr := p.changes(ctx, p.model, h)
	got, gotIDs, gotErr := p.changes(ctx, p.engine, h)
	if wantErr != nil || gotErr != nil {
		return compareErrors(wantErr, gotErr)
	}
	if want != got {
		return fmt.Sprintf("changes differ\nmodel:\n%s\nengine:\n%s", want, got)
	}
	return p.sameTypes(wantIDs, gotIDs)
}

// sameTypes checks that the type ids of the two graphs correspond one to one. It checks the ids in
// these changes and in all earlier changes.
func (p *pair) sameTypes(model, got []string) string {
	if p.typeIDs == nil {
		p.typeIDs = map[string]string{}
	}
	for i, id := range model {
		for _, known := range [][2]string{{"model " + id, got[i]}, {"engine " + got[i], id}} {
			if other, ok := p.typeIDs[known[0]]; ok && other != known[1] {
				return fmt.Sprintf("type id %s stands for %s, but earlier for %s", known[0], known[1], other)
			}
			p.typeIDs[known[0]] = known[1]
		}
	}
	return ""
}

// changes lists the changes of a commit as text, and the ids of their types. It gets them page by
// page.
func (p *pair) changes(ctx context.Context, g engine.Graph, h *history) (text string, typeIDs []string, err error) {
	commits, err := g.Commits(ctx, p.branch, engine.CommitRange{Limit: h.back + 1})
	if err != nil {
		return "", nil, err
	}
	var b strings.Builder
	r := h.only
	r.Limit = h.limit
	for {
		page, err := g.Changes(ctx, commits[len(commits)-1].ID, r)
		if err != nil {
			return "", nil, err
		}
		fmt.Fprintf(&b, "%d: nodes %v edges %v\n", page.Commit.Seq, page.Nodes, page.Edges)
		for i := range page.List {
			c := &page.List[i]
			b.WriteString(changeText(c) + "\tbefore" + imageText(c.Before) + "\n\tafter" + imageText(c.After) + "\n")
			typeIDs = append(typeIDs, c.TypeID)
		}
		if !page.More {
			return b.String(), typeIDs, nil
		}
		r.After = page.List[len(page.List)-1].Position()
	}
}

// changeText returns a change as one line.
func changeText(c *engine.EntityChange) string {
	text := fmt.Sprintf("%s %s %s %q%s%s", c.Kind, c.Entity, c.Type, c.ID, endOf(c.FromType, c.From), endOf(c.ToType, c.To))
	for _, p := range c.Properties {
		text += fmt.Sprintf("; %s: %s, %s", p.Name, valueText(p.Old), valueText(p.New))
	}
	return text + "\n"
}

// endOf returns an end of an edge as text. The type of its node is "" unless the end is at an interface.
func endOf(typ, id string) string { return fmt.Sprintf(" %s%q", typ, id) }

// imageText returns the values of an entity before or after a change as text.
func imageText(i *engine.Image) string {
	if i == nil {
		return " nothing"
	}
	text := endOf(i.FromType, i.From) + endOf(i.ToType, i.To)
	for _, p := range i.Properties {
		text += fmt.Sprintf("; %s: %s", p.Name, valueText(p.Value))
	}
	return text
}

// timed says how a read names a commit of the past.
type timed uint8

const (
	byCommit  timed = iota // by its id
	byInstant              // the target has its time
	byAsOf                 // the query is as of its time
)

// String returns a part of the text of a step.
func (t timed) String() string { return [...]string{"", ", by its time", ", as of its time"}[t] }

// drawTimed lets some reads name a commit by its time.
func (d *drawer) drawTimed(s *step) {
	if s.query == nil || s.query.Read == nil || !d.clocks.percent(12) {
		return
	}
	s.timed = pick(d.clocks, []timed{byInstant, byAsOf})
	if s.back == 0 {
		s.back = d.clocks.IntN(6)
	}
}

// targetOf returns the target of the current step in one of the two graphs.
func (p *pair) targetOf(g engine.Graph) engine.Target {
	at := p.commitBack(g, p.branch, p.back)
	if c, ok := p.timedCommit(g); ok {
		at.Commit = ""
		if p.timed == byInstant {
			at.AsOf = c.Time
		}
	}
	at.Rights = p.rights
	return at
}

// queryOf returns the read of the current step for one of the two graphs, whose commits have times of their own.
func (p *pair) queryOf(g engine.Graph, q *plan.Query) *plan.Query {
	c, ok := p.timedCommit(g)
	if !ok || p.timed != byAsOf {
		return q
	}
	at, err := value.DateTimeFrom(c.Time)
	must(err)
	timed := *q
	timed.AsOf = plan.Lit{Value: value.OfDateTime(at)}
	return &timed
}

// timedCommit returns the commit that the current step names by its time. It reports false if the step names the commit
// in another way, and if the next commit has the same time.
func (p *pair) timedCommit(g engine.Graph) (c engine.Commit, ok bool) {
	if p.timed == byCommit {
		return c, false
	}
	commits, err := g.Commits(p.ctx, p.branch, engine.CommitRange{Limit: p.back + 1})
	if err != nil {
		return c, false // the branch is missing, which the call will report
	}
	n := len(commits) - 1
	return commits[n], n == 0 || commits[n-1].Time.After(commits[n].Time)
}

// runRead compares a read. It returns the number of rows of the model's result.
func (p *pair) runRead(ctx context.Context, q *plan.Query, args engine.Args) (rows int, difference string) {
	if absent, difference := p.missing(ctx); absent {
		if difference == "" {
			_, wantErr := queryAt(ctx, p.model, q, args, p.target())
			_, gotErr := queryAt(ctx, p.engine, q, args, p.target())
			difference = compareErrors(wantErr, gotErr)
		}
		return 0, difference
	}
	want, wantMore, wantErr := queryMore(ctx, p.model, p.queryOf(p.model, q), args, p.targetOf(p.model))
	got, more, err := queryMore(ctx, p.engine, p.queryOf(p.engine, q), args, p.targetOf(p.engine))
	if unfit, difference := unfit(wantErr, err); unfit {
		return 0, difference
	}
	if p.back > 0 && (wantErr != nil || err != nil) {
		return 0, compareErrors(wantErr, err)
	}
	if refused(wantErr, err) {
		return 0, ""
	}
	if wantErr != nil {
		return 0, "the model fails: " + wantErr.Error()
	}
	if err != nil {
		return 0, fmt.Sprintf("the engine fails, but the model does not: %v (%T)", err, err)
	}
	if difference := compareRows(want, got); difference != "" {
		return len(want), difference
	}
	if more != wantMore {
		return len(want), fmt.Sprintf("the limit cut off rows: the engine reports %t, the model %t; the rows are\n  %s", more, wantMore, strings.Join(formatRows(want), "\n  "))
	}
	p.reads++
	if p.reads%pageEach == pageEach/2 && len(want) > 0 {
		if difference := p.comparePage(ctx, q, args, want); difference != "" {
			return len(want), difference
		}
	}
	if p.reads%explainEach != 0 {
		return len(want), ""
	}
	e, err := p.engine.Explain(ctx, p.queryOf(p.engine, q), args, p.targetOf(p.engine), true)
	if err != nil {
		return len(want), fmt.Sprintf("the engine runs the query, but fails to explain it: %v (%T)", err, err)
	}
	if len(e.Plan) != 1 || e.Plan[0].Rows == nil || *e.Plan[0].Rows != int64(len(want)) {
		return len(want), fmt.Sprintf("the root operator of the explanation does not report %d rows:\n%s", len(want), e)
	}
	p.seen.operators(e.Plan)
	return len(want), ""
}

// The rest of this file draws who makes commits, and reads of the origins of entities. The random numbers are those of d.origins. The reads of the
// whole state after each write show the origins too, except times, which differ between the two graphs.

// byline is the actor and the tool of a write.
type byline struct{ actor, tool string }

// drawByline draws the actor and the tool of step i. A step with an idempotency key has the actor "act", because a repeated call must
// have the same actor.
func (d *drawer) drawByline(s *step, i int) {
	s.by.tool = fmt.Sprint("tool", i)
	if n := d.origins.IntN(4); n > 0 && s.key == "" {
		s.by.actor = fmt.Sprint("act", n)
	}
}

// name returns the actor.
func (b byline) name() string {
	if b.actor == "" {
		return "act"
	}
	return b.actor
}

// comparedFacts are the facts about origins whose values are equal in the engine and the model.
var comparedFacts = []plan.OriginFact{plan.OriginActor, plan.OriginSource, plan.OriginTool, plan.OriginMadeBy, plan.OriginProposal}

// origins returns the facts about the origin of an entity that the two graphs have in common.
func origins(v plan.VarID) (list []plan.Expr) {
	for _, f := range comparedFacts {
		list = append(list, plan.Origin{Var: v, Fact: f})
	}
	list = append(list, plan.Test{Cond: plan.NullTest{Expr: plan.Origin{Var: v, Fact: plan.OriginAt}}})
	ordered := plan.Compare{Op: plan.Le, Left: plan.Origin{Var: v, Fact: plan.OriginMadeAt}, Right: plan.Origin{Var: v, Fact: plan.OriginAt}, Unless: plan.NoParam}
	return append(list, plan.Test{Cond: ordered})
}

// factsText returns the facts of a commit that both graphs have in common.
func factsText(c *engine.Commit) string {
	return fmt.Sprintf("%q %q %q %q, a proposal: %t", c.Actor, c.Tool, c.Source, c.Approvers, c.Proposal != "")
}

// drawOrigin adds a filter, a column or a sort key about an origin to some reads.
func (r *readDraw) drawOrigin(clauses []plan.Clause) []plan.Clause {
	o := r.drawer.origins
	if o == nil || !o.percent(15) {
		return clauses
	}
	v := pick(o, r.outer)
	if r.q.Read.Vars[v].Entity == plan.Walk {
		return clauses
	}
	e := plan.Origin{Var: v, Fact: pick(o, comparedFacts)}
	if o.percent(60) {
		actor := pick(o, []string{"act", "act1", "act2", "tool3", "s1"})
		clauses = append(clauses, where(e, pick(o, []plan.Op{plan.Eq, plan.Ne, plan.Ge}), actor))
	}
	r.byOrigin = e
	return clauses
}

// showOrigin adds the drawn origin to the columns and the order of a read.
func (r *readDraw) showOrigin() {
	if e, ok := r.byOrigin.(plan.Origin); ok {
		r.ret(e)
		if r.drawer.origins.percent(50) {
			r.sort(plan.Order{Expr: e, Desc: r.drawer.origins.percent(50)})
		}
	}
}
