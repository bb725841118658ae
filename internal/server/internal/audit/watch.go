package audit

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"log/slog"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/audittrail"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/requestinfo"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Watch follows one call from its start until it is logged. Only one goroutine may use it.
type Watch struct {
	*Recorder
	actor  *access.Actor    // who makes the call
	name   string           // name of the tool or operation
	call   tool.Call        // the call that is followed
	start  time.Time        // when the call began
	to     *encoding.Writer // contains the answer of the call, after the position in the field mark
	mark   encoding.Mark    // where the answer begins in the field `to`
	branch string           // the branch of the first grant that concerns a branch
	bypass *tool.Branch     // the protected branch that the call changes without a proposal; nil for none
	writes bool             // a grant of the call is for a write
	batch  bool             // the calls of the batch were reported one by one
	span   trace.Span       // nil unless the request is traced

	wrote   *tool.Written        // what the call committed
	commit  string               // the commit read, or the head after the call
	whole   bool                 // a grant of the call is for an export, and was not denied
	granted bool                 // the policy did not deny the grants
	filters []string             // names of the filters of the policy that applied
	denial  tool.Action          // the action that was denied before the call ran
	rules   string               // the rules that allowed the call, or denied the action, separated by blanks
	types   []plan.Use           // what the query of the call uses
	before  encoding.Entities    // receives the entities of the answer that the call is a part of
	ids     *audittrail.Entities // the entities in the answer; nil without a trail

	data hash.Hash // hashes the data that a load reads; nil unless the hash will be logged
}

// tracerName is the instrumentation scope of the spans of calls.
const tracerName = "github.com/omnigraph-go/omnigraph/server"

// Begin starts to follow a call that writes its answer to w. It returns a context with the call's
// span if the request is traced.
func (r *Recorder) Begin(ctx context.Context, actor *access.Actor, name string, call tool.Call, to *encoding.Writer) (context.Context, *Watch) {
	w := &Watch{Recorder: r, actor: actor, name: name, call: call, to: to, mark: to.Mark(), start: clock.Now()}
	if r.trail.To != nil {
		w.ids = audittrail.NewEntities()
		w.before = to.Name(w.ids)
	}
	if load, ok := unwrapped(call).(interface{ TeeData(io.Writer) }); ok && r.log.Enabled(ctx, slog.LevelDebug) {
		w.data = sha256.New()
		load.TeeData(w.data)
	}
	if c, ok := unwrapped(call).(interface{ Writes() bool }); ok {
		w.writes = c.Writes()
	}
	if parent := trace.SpanFromContext(ctx); parent.IsRecording() {
		ctx, w.span = parent.TracerProvider().Tracer(tracerName).Start(ctx, "call "+name,
			trace.WithAttributes(attribute.String("omnigraph.graph", r.graph), attribute.String("omnigraph.tool", name)))
	}
	return ctx, w
}

// RecordGrants records facts from the grants of a call: the branch that the call concerns, and
// whether the call may change or export the graph.
func (w *Watch) RecordGrants(grants []tool.Grant) {
	found := false
	w.granted = true
	for i := range grants {
		g := &grants[i]
		if access.OnBranch(g.Action) && !found {
			w.branch, found = g.Branch.Name(), true
			if len(w.branch) > engine.MaxBranchName {
				// No branch name is that long, and a client must not put long names into the log.
				w.branch = strings.ToValidUTF8(w.branch[:engine.MaxBranchName], "")
			}
		}
		w.writes = w.writes || changesGraph(g.Action)
		w.whole = w.whole || g.Action == tool.Export
	}
}

// Kept reports whether the call will have a record in the audit trail.
func (w *Watch) Kept() bool { return w.trail.To != nil }

// RecordAllowed records the ids of the rules that allowed the grants of the call, separated by blanks.
func (w *Watch) RecordAllowed(rules string) { w.rules = rules }

// RecordBypass records the protected branch that the call changes without a proposal; nil means that
// there is none.
func (w *Watch) RecordBypass(branch *tool.Branch) { w.bypass = branch }

// RecordDenial records that the policy denied the call, and the rules that did. The caller may get another error, which does not say so.
func (w *Watch) RecordDenial(err error, rules []access.Rule) {
	w.granted, w.whole, w.rules = false, false, ""
	var protected *wireerror.Protected
	if w.denial = denied(err); errors.As(err, &protected) {
		w.denial, w.rules = protected.Action, "protected"
	}
	w.addRules(rules)
}

// addRules adds the rules that denied the call.
func (w *Watch) addRules(rules []access.Rule) {
	for i, r := range rules {
		if i > 0 {
			w.rules += " "
		}
		w.rules += r.ID
	}
}

// RecordHidden records that something is hidden from the actor, for which the actor lacks the right to an action. The caller gets an error
// that does not say so.
func (w *Watch) RecordHidden(action tool.Action) {
	w.denial, w.rules, w.granted, w.whole = action, "", false, false
}

// RecordFilters records the names of the filters of the policy that apply to the call.
func (w *Watch) RecordFilters(names []string) { w.filters = names }

// RecordWrite records what the call wrote, if it wrote anything, and which types a read uses.
func (w *Watch) RecordWrite(out *tool.Outcome) {
	switch {
	case out.Change != nil:
		w.committed(out.Change.Branch, out.Change.Change.Commit)
	case out.Load != nil:
		w.committed(out.Load.Branch, out.Load.Result.Commit)
		if w.wrote == nil && out.Load.From != nil && !out.Load.DryRun {
			w.wrote = &tool.Written{Branch: &out.Load.Branch} // the branch was created but no data was loaded
		}
	case out.Read != nil:
		if out.Read.Plan != nil {
			w.types = out.Read.Plan.Uses
		}
	case out.Calls == nil:
		w.wrote = out.Wrote
	}
}

// Changed reports whether the call wrote anything.
func (w *Watch) Changed() bool { return w.wrote != nil }

// MarkBatch records that the call consists of calls that are reported one by one.
func (w *Watch) MarkBatch() { w.batch = true }

// committed records what the call wrote. A write that changed nothing made no commit.
func (w *Watch) committed(branch tool.Branch, c *engine.Commit) {
	if c != nil {
		w.wrote = &tool.Written{Branch: &branch, Commit: c}
	}
}

// End reports the end of the call to the request info, the span, the observer and the log.
// commit is the commit read, or the head after the call.
func (w *Watch) End(ctx context.Context, commit string, err error) {
	w.commit = commit
	took := clock.Since(w.start)
	outcome := wireerror.OutcomeOf(err)
	if rec := requestinfo.From(ctx); rec != nil {
		rec.Calls++
		rec.Graph, rec.Tool, rec.Branch, rec.Commit = w.graph, w.name, w.branch, w.commit
	}
	rows, bytes := w.to.Since(w.mark)
	if w.span != nil {
		w.span.SetAttributes(attribute.String("omnigraph.outcome", string(outcome)), attribute.Int("omnigraph.rows", rows))
		if outcome != wireerror.Done {
			w.span.SetStatus(codes.Error, string(outcome)) // the error's text may contain values
		}
		w.span.End()
	}
	if w.ids != nil {
		w.to.Name(w.before)
		defer w.ids.Release()
	}
	if w.batch {
		return
	}
	if w.trail.To != nil {
		w.toTrail(ctx, outcome, err, rows, took)
	}
	w.Tell(w.actor, w.name, outcome, err, rows, bytes, took)
	w.audit(ctx, outcome, err, took)
	w.debug(ctx, outcome, rows, took)
}

// changesGraph reports whether an action may change a graph.
func changesGraph(a tool.Action) bool { return a.Row().Writes }
