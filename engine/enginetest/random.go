package enginetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/catalog"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/naive"
)

// compareGraph draws statements for one graph and compares their outcomes, up to the first
// difference.
func compareGraph(d *drawer, open func() *pair) (cases int, script []step, difference string) {
	return countGraph(d, open, outcomeCounts{})
}

// countGraph is like compareGraph, but also counts the outcomes of the statements in the outcomeCounts
// `seen`.
func countGraph(d *drawer, open func() *pair, seen outcomeCounts) (cases int, script []step, difference string) {
	p := open()
	p.seen = seen
	defer func() {
		if err := p.close(); err != nil && difference == "" {
			difference = err.Error()
		}
	}()
	for i := range stepsPerGraph {
		branches := p.branches()
		if d.drafting && d.percent(20) {
			branches = append(branches, p.ended()...)
		}
		s, repeats := step{branch: d.drawBranch(branches)}, false
		p.branch = p.named(s.branch)
		p.follow()
		d.schema = p.schema
		d.see(p.knownIDs())
		switch draw := d.IntN(100); {
		case i == 0:
			s = d.drawSeed()
		case d.drafting && d.percent(25):
			s.drafting = d.drawDrafting(branches)
		case d.drafting && d.percent(8):
			if s, repeats = d.drawRepeat(script, p.ended()); !repeats {
				continue
			}
		case d.branching && d.percent(2):
			s.export = true
		case d.evolving && d.percent(12):
			s.migration = d.drawMigration()
		case d.branching && d.percent(8):
			s.history = d.drawHistory()
		case d.branching && d.percent(30):
			s.branching = d.drawBranching(branches)
			for range 3 { // redraw, so that few merges have nothing to do
				if d.percent(30) || !p.upToDate(s.branching) {
					break
				}
				s.branching = d.drawBranching(branches)
			}
		case draw < 66:
			s.query, s.args = nameCaller(d.drawRead())
			for range 3 { // redraw, because most drawn reads have no rows and test little
				if d.percent(30) || p.answers(s) {
					break
				}
				s.query, s.args = nameCaller(d.drawRead())
			}
			s.held = d.percent(6)
			if d.branching && d.percent(20) {
				s.back = 1 + d.IntN(12)
			}
		case draw < 88:
			s.query, s.args, s.unnamed = d.drawMutation()
			if len(s.query.Mutation.Statements) == 0 {
				continue
			}
		default:
			s = d.drawLoad()
		}
		if i > 0 && d.branching && !s.export && s.history == nil && s.drafting == nil && !repeats && d.percent(20) {
			s.drawOptions(d)
		}
		d.drawRights(&s)
		d.drawTimed(&s)
		d.drawByline(&s, i)
		steps := []step{s}
		if again, ok := d.drawAgain(script); ok {
			steps = append(steps, again)
		}
		steps = append(steps, d.drawSequel(s)...)
		run := func(steps []step) bool {
			for _, s := range steps {
				script = append(script, s)
				difference = p.run(s)
				cases++
				if difference != "" {
					return false
				}
			}
			return true
		}
		if !run(steps) || d.branching && i > 0 && !run(d.drawClash(p)) {
			return cases, script, difference
		}
	}
	return cases, script, ""
}

// step is one statement of a script: a read, a mutation or a load, or one of the alternatives
// below.
type step struct {
	branch    string          // branch of the statement; empty for main
	branching *branching      // if set, replaces the statement
	migration *migration      // if set, replaces the statement
	drafting  *drafting       // if set, replaces the statement
	export    bool            // exports the branch; replaces the statement
	history   *history        // if set, replaces the statement
	back      int             // for a read: how many commits before the head of the branch to read
	timed     timed           // for a read: how it names that commit
	ifCommit  condition       // precondition of a write
	key       string          // idempotency key of a write
	dryRun    bool            // the option DryRun of a write
	message   string          // message of the commit that a write makes
	by        byline          // who makes the commit, and with what
	query     *plan.Query     // the read or mutation; nil for other statements
	args      engine.Args     // arguments of the query
	held      bool            // the read is opened at this step, and its rows are read after the next write
	unnamed   string          // see writeDraw
	load      string          // the NDJSON lines of a load
	mode      engine.LoadMode // mode of the load
	newEdges  bool            // the option NewEdges of the load
	followed  bool            // the load has changes of a source that the graph follows
	lastWins  bool            // the option LastWins of the load

	reads, changes *engine.Rights // what the statement may read and change; nil for everything

	sync     engine.SyncOptions // options of a load in the mode sync
	approved bool               // approve as many deletes as the load would make
}

func (s step) String() string {
	if s.export {
		return "export of branch " + s.branch + "\n"
	}
	if s.history != nil {
		return s.history.String() + " of branch " + s.branch + "\n"
	}
	if s.branching != nil {
		return s.branching.String() + s.options() + "\n"
	}
	if s.drafting != nil {
		return s.drafting.String() + "\n"
	}
	if s.migration != nil {
		return "on branch " + s.branch + s.options() + ": " + s.migration.String() + "\n"
	}
	where := s.options()
	if s.branch != "" {
		where += " on branch " + s.branch
	}
	if s.back > 0 {
		where += fmt.Sprintf(" %d commits back%s", s.back, s.timed)
	}
	if s.query == nil {
		if s.newEdges {
			where = ", new edges" + where
		}
		if s.followed {
			where = ", followed" + where
		}
		if s.sync.Source != "" {
			where = fmt.Sprintf(", %+v, approved %t", s.sync, s.approved) + where
		}
		if s.lastWins {
			where = ", last wins" + where
		}
		return fmt.Sprintf("%s%sload, %s%s:\n%s\n", rightsText("reads", s.reads), rightsText("changes", s.changes), s.mode, where, s.load)
	}
	if where != "" {
		where = where[1:] + ":\n"
	}
	where += rightsText("reads", s.reads) + rightsText("changes", s.changes)
	text := where + planText(s.query) + "args " + argsText(s.args) + "\n"
	if s.held {
		text = "opened before the next write, read after it:\n" + text
	}
	return text
}

// writes reports whether the step may change the graph.
func (s step) writes() bool {
	return !s.export && (s.query == nil || s.query.Read == nil)
}

// pair is an engine and the model, which must stay in equal states.
type pair struct {
	ctx    context.Context                // passed to each call of the graphs
	schema *catalog.Schema                // the schema of the current branch
	engine engine.Graph                   // the tested graph
	model  *naive.Graph                   // the graph that the results are compared with
	branch string                         // branch of the current step
	back   int                            // back of the current step
	timed  timed                          // timed of the current step
	rights *engine.Rights                 // what the current step may read
	held   []heldRead                     // results that opened before the next write and are read after it
	reads  int                            // number of compared reads
	seen   outcomeCounts                  // nil if outcomes are not counted
	known  map[string]map[string][]string // ids in the model by branch, as of the last write

	unsigned  bool           // the engine does not have the origins of the entities
	drafts    map[int]string // ids of the drafts by their numbers in the script
	proposals map[int]string // ids of the proposals by their numbers in the script

	typeIDs map[string]string // the other graph's id of a type; the key is "model " or "engine " and the id
}

// heldRead is an open result that will be read after the next write.
type heldRead struct {
	query  *plan.Query   // the read
	result engine.Result // the open result of the engine
	want   [][]cell      // the rows that the model returned
}

// stepTimeout is far more than any statement on a small graph takes.
const stepTimeout = 20 * time.Second

// run runs a step on both graphs and describes how they differ, or returns "". After a step that cannot change the graphs, such as a
// read or an export, it does not compare their whole states.
func (p *pair) run(s step) (difference string) {
	defer func() {
		if r := recover(); r != nil {
			difference = fmt.Sprintf("panic: %v", r)
		}
	}()
	ctx, cancel := context.WithTimeout(p.ctx, stepTimeout)
	defer cancel()
	if p.drafts == nil {
		p.drafts, p.proposals = map[int]string{}, map[int]string{}
	}
	s = p.withNames(s)
	p.branch, p.back, p.timed, p.rights = s.branch, s.back, s.timed, s.reads
	defer func() { p.back, p.timed, p.rights = 0, byCommit, nil }()
	if s.writes() {
		p.known = nil
	}
	p.follow()
	switch {
	case s.history != nil:
		return p.runHistory(ctx, s.history)
	case s.export:
		p.seen.add("export", "written")
		return p.runExport(ctx)
	case s.migration != nil:
		difference = p.runMigration(ctx, s)
	case s.branching != nil:
		difference = p.runBranching(ctx, s)
	case s.drafting != nil:
		difference = p.runDrafting(ctx, s.drafting)
	case s.query == nil:
		difference = p.runLoad(ctx, s)
	case s.query.Read != nil && s.held:
		return p.hold(ctx, s)
	case s.query.Read != nil:
		rows, found := p.runRead(ctx, s.query, s.args)
		p.seen.read(readKind(s.query.Read), rows)
		return found
	default:
		difference = p.runMutation(ctx, s)
	}
	p.rights = nil // the whole states must be equal
	if difference == "" {
		difference = p.release(ctx)
	}
	if difference == "" {
		p.follow()
		difference = p.compareState(ctx)
	}
	if difference == "" && len(p.drafts)+len(p.proposals) > 0 {
		difference = p.compareDrafts(ctx)
	}
	return difference
}

// answers reports whether a read has rows in the model, or fails there.
func (p *pair) answers(s step) bool {
	rows, err := queryAt(p.ctx, p.model, s.query, s.args, p.target())
	return err != nil || len(rows) > 0
}

// One read in explainEach reads is explained.
const explainEach = 8

// compareRows returns the difference between two results, or "".
func compareRows(want, got [][]cell) string {
	if equalRows(want, got) {
		return ""
	}
	return fmt.Sprintf("rows differ\nmodel:\n  %s\nengine:\n  %s", strings.Join(formatRows(want), "\n  "), strings.Join(formatRows(got), "\n  "))
}

// hold opens a read. The rows are read after the next write.
func (p *pair) hold(ctx context.Context, s step) string {
	if absent, difference := p.missing(ctx); absent {
		return difference
	}
	want, wantErr := queryAt(ctx, p.model, p.queryOf(p.model, s.query), s.args, p.targetOf(p.model))
	res, err := p.engine.Query(p.ctx, p.queryOf(p.engine, s.query), s.args, p.targetOf(p.engine))
	if unfit, difference := unfit(wantErr, err); unfit {
		return difference
	}
	if p.back > 0 && (wantErr != nil || err != nil) {
		if err == nil {
			_ = res.Close()
		}
		return compareErrors(wantErr, err)
	}
	if refused(wantErr, err) {
		return ""
	}
	if wantErr != nil {
		if err == nil { // the engine may fail only when the rows are read
			_, err = drain(ctx, s.query, res)
		}
		return compareErrors(wantErr, err)
	}
	p.seen.read("read over a write", len(want))
	if err != nil {
		return fmt.Sprintf("the engine fails, but the model does not: %v (%T)", err, err)
	}
	p.held = append(p.held, heldRead{query: s.query, result: res, want: want})
	return ""
}

// release reads the held results and compares them with the expected rows.
func (p *pair) release(ctx context.Context) string {
	held := p.held
	p.held = nil
	difference := ""
	for _, h := range held {
		got, err := drain(ctx, h.query, h.result)
		switch {
		case difference != "":
		case err != nil:
			difference = "a result that was open during a write fails: " + err.Error()
		default:
			if difference = compareRows(h.want, got); difference != "" {
				difference = "a result that was open during a write differs: " + difference
			}
		}
	}
	return difference
}

// runMutation runs a mutation on the engine and the model, and returns the first difference.
func (p *pair) runMutation(ctx context.Context, s step) string {
	before := p.modelIDs()
	got, gotErr := p.engine.Mutate(ctx, s.query, s.args, p.options(s, p.engine))
	if s.unnamed != "" && gotErr == nil {
		p.adopt(ctx, s.unnamed, before)
	}
	want, wantErr := p.model.Mutate(ctx, s.query, s.args, p.options(s, p.model))
	p.seen.write(mutationKind(s.query.Mutation), want.Commit, wantErr)
	if difference := compareErrors(wantErr, gotErr); difference != "" || wantErr != nil {
		return difference
	}
	if got.Nodes != want.Nodes || got.Edges != want.Edges {
		return fmt.Sprintf("the engine changes %d nodes and %d edges, the model changes %d and %d", got.Nodes, got.Edges, want.Nodes, want.Edges)
	}
	if difference := compareEffects(want.Effects, got.Effects); difference != "" {
		return difference
	}
	if !slices.EqualFunc(got.Row, want.Row, sameReturned) {
		return fmt.Sprintf("the mutation returns %v, in the model %v", got.Row, want.Row)
	}
	return compareCommits(want.Commit, got.Commit)
}

// sameReturned reports whether two values that a mutation returns are equal. Two generated ids
// always count as equal, because the model cannot learn the id that an engine chose in a dry run.
func sameReturned(a, b value.Value) bool {
	generated := func(v value.Value) bool {
		return v.Kind() == value.String && !v.IsList() && isULID(v.Str())
	}
	return value.Equal(a, b) || generated(a) && generated(b)
}

// adopt makes the model use, for its next entity, the id that the engine has just chosen for an
// entity of the given type. The map `before` lists the ids before the mutation. The mutation may
// copy such an id to an entity, so adopt ignores them.
func (p *pair) adopt(ctx context.Context, typ string, before map[string][]string) {
	known := slices.Concat(slices.Collect(maps.Values(before))...)
	for _, id := range p.listIDs(ctx, p.engine)[typ] {
		if isULID(id) && !slices.Contains(known, id) {
			p.model.UseIDs(id)
			return
		}
	}
}

// runLoad runs a load on the engine and the model, and returns the first difference.
func (p *pair) runLoad(ctx context.Context, s step) string {
	var changes *engine.SourceChanges
	if s.followed {
		s.key, changes = "", p.nextChanges(ctx, s)
	}
	options := func(g engine.Graph) engine.LoadOptions {
		return engine.LoadOptions{Mode: s.mode, NewEdges: s.newEdges, LastWins: s.lastWins, Sync: s.sync, Changes: changes, WriteOptions: p.options(s, g)}
	}
	if s.approved {
		s.sync.ApproveDeletes = p.deletes(ctx, s)
	}
	want, wantErr := p.model.Load(ctx, strings.NewReader(s.load), options(p.model))
	p.seen.load(want, wantErr)
	got, gotErr := p.engine.Load(ctx, strings.NewReader(s.load), options(p.engine))
	if (outOfTurn(wantErr) || s.key != "" && errors.As(wantErr, new(*engine.DraftClosed))) && gotErr != nil {
		return "" // the engine may read the input and report bad lines before it checks the branch
	}
	if difference := compareErrors(wantErr, gotErr); difference != "" || wantErr != nil {
		return difference
	}
	if w, g := fmt.Sprint(want.Nodes, want.Edges), fmt.Sprint(got.Nodes, got.Edges); w != g {
		return fmt.Sprintf("the engine loads %s, the model %s", g, w)
	}
	if difference := compareEffects(want.Effects, got.Effects); difference != "" {
		return difference
	}
	if (want.Sync == nil) != (got.Sync == nil) || want.Sync != nil && fmt.Sprint(*want.Sync) != fmt.Sprint(*got.Sync) {
		return fmt.Sprintf("the engine synchronises %+v, the model %+v", got.Sync, want.Sync)
	}
	return compareCommits(want.Commit, got.Commit)
}

// outOfTurn reports whether an error is about the head of the branch or the idempotency key of the
// write.
func outOfTurn(err error) bool {
	var head *engine.PreconditionFailed
	var key *engine.Conflict
	return errors.As(err, &head) || errors.As(err, &key)
}

// compareCommits returns the difference if only one write made a commit, or "".
func compareCommits(want, got *engine.Commit) string {
	if (want == nil) != (got == nil) {
		return fmt.Sprintf("the engine commits: %t, the model: %t", got != nil, want != nil)
	}
	if want == nil {
		return ""
	}
	if w, g := factsText(want), factsText(got); w != g {
		return fmt.Sprintf("the engine's commit has the facts %s, the model's %s", g, w)
	}
	if want.Message == got.Message {
		return ""
	}
	return fmt.Sprintf("the engine's commit has the message %q, the model's %q", got.Message, want.Message)
}

// compareState compares the complete contents of the graphs, except blobs.
func (p *pair) compareState(ctx context.Context) string {
	for _, q := range dumps(p.schema, !p.unsigned) {
		if _, difference := p.runRead(ctx, q, nil); difference != "" {
			return "after the write, " + difference + "\nof\n" + planText(q)
		}
	}
	if absent, difference := p.missing(ctx); absent {
		return difference
	}
	want, err := p.model.Snapshot(ctx, p.target())
	must(err)
	got, err := p.engine.Snapshot(ctx, p.target())
	if err != nil {
		return "snapshot: " + err.Error()
	}
	if w, g := fmt.Sprint(want.Nodes, want.Edges), fmt.Sprint(got.Nodes, got.Edges); w != g {
		return fmt.Sprintf("after the write, the engine holds %s, the model %s", g, w)
	}
	return p.compareSources(ctx)
}

// dumps returns reads of every node and every edge with its properties, and with its origin if the argument says so.
func dumps(schema *catalog.Schema, signed bool) []*plan.Query {
	show := func(v plan.VarID) []plan.Expr {
		if signed {
			return origins(v)
		}
		return nil
	}
	var all []*plan.Query
	for _, n := range schema.Nodes {
		p := newRead(schema)
		v := p.bind("n", n.Name)
		all = append(all, p.ret(whole(v)).ret(show(v)...).query())
	}
	for _, e := range schema.Edges {
		p := newRead(schema)
		a, b, v := p.endVar("a", e, false), p.endVar("b", e, true), p.edge("e", e.Name)
		p.match(over(a, v, e.Name, b)).ret(id(v), p.from(v), p.to(v), id(a), id(b)).orderBy(id(v))
		for _, end := range []plan.VarID{a, b} {
			if p.q.Read.Vars[end].Entity == plan.Interface {
				p.ret(p.prop(end, catalog.TypeProperty))
			}
		}
		for _, prop := range e.Properties {
			if prop.Type.Kind != blobType.Kind {
				p.ret(p.prop(v, prop.Name))
			}
		}
		all = append(all, p.ret(show(v)...).query())
	}
	return all
}

// modelIDs returns the ids of the model's entities; see drawer.
func (p *pair) modelIDs() map[string][]string { return p.listIDs(p.ctx, p.model) }

// knownIDs is modelIDs with a cache that is valid until the next write.
func (p *pair) knownIDs() map[string][]string {
	ids, ok := p.known[p.branch]
	if !ok {
		ids = p.modelIDs()
		if p.known == nil {
			p.known = map[string]map[string][]string{}
		}
		p.known[p.branch] = ids
	}
	return ids
}

// listIDs returns the ids of all entities by type.
func (p *pair) listIDs(ctx context.Context, g engine.Graph) map[string][]string {
	ids := map[string][]string{}
	list := func(key string, q *plan.Query) {
		rows, err := queryAt(ctx, g, q, nil, p.target())
		if err != nil {
			return // the comparison of the states will report this
		}
		for _, r := range rows {
			ids[key] = append(ids[key], r[0].value.Str())
		}
	}
	for _, n := range p.schema.Nodes {
		q := newRead(p.schema)
		v := q.bind("n", n.Name)
		list(key(plan.Node, n.Name), q.ret(id(v)).query())
	}
	for _, e := range p.schema.Edges {
		q := newRead(p.schema)
		a, b, v := q.endVar("a", e, false), q.endVar("b", e, true), q.edge("e", e.Name)
		list(key(plan.Edge, e.Name), q.match(over(a, v, e.Name, b)).ret(id(v)).orderBy(id(v)).query())
	}
	return ids
}

// close closes both graphs and the held results.
func (p *pair) close() error {
	for _, h := range p.held {
		if err := h.result.Close(); err != nil {
			return fmt.Errorf("close a result: %w", err)
		}
	}
	p.held = nil
	return p.engine.Close()
}
