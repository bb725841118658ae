// Package audit follows each call from its start to its end and reports it to the request info,
// the trace, the observer and the log. The log has each write and each refused write.
package audit

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/requestinfo"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Recorder reports the calls of one graph to the request info, the trace, the observer and
// the log. It is safe for concurrent use.
type Recorder struct {
	graph    string       // id of the graph
	log      *slog.Logger // receives the lines about calls
	observer Observer     // may be nil
	digests  digester     // makes digests for the log
	trail    Trail        // receives a record for each call; the zero value for none
}

// NewRecorder returns the recorder of a graph. The key of digests is derived from pageKey.
func NewRecorder(graph string, log *slog.Logger, o Observer, pageKey []byte, trail Trail) (*Recorder, error) {
	digests, err := newDigester(pageKey)
	if err != nil {
		return nil, err
	}
	return &Recorder{graph: graph, log: log, observer: o, digests: digests, trail: trail}, nil
}

// Digest returns a digest of parts of a request, for log lines that must not contain the
// parts.
func (r *Recorder) Digest(parts ...[]byte) string { return r.digests.of(parts...) }

// Refused reports a call that failed because of its name or its arguments. It returns err.
func (r *Recorder) Refused(ctx context.Context, name string, outcome wireerror.Outcome, err error) error {
	r.inform(ctx, name)
	actor := access.ActorFrom(ctx)
	r.Tell(actor, name, outcome, err, 0, 0, 0)
	r.refused(ctx, actor, name, "", outcome, err)
	return err
}

// inform tells the request info of a call that did not run.
func (r *Recorder) inform(ctx context.Context, name string) {
	if rec := requestinfo.From(ctx); rec != nil {
		rec.Calls++
		rec.Graph, rec.Tool, rec.Branch, rec.Commit = r.graph, name, "", ""
	}
}

// Hidden reports a call of something that the policy hides from the actor. The argument `name` is its name in the trail, and `action` is
// what the policy denies; both are empty if it does not exist. The caller gets err either way.
func (r *Recorder) Hidden(ctx context.Context, actor *access.Actor, name string, action tool.Action, outcome wireerror.Outcome, err error) {
	r.inform(ctx, "")
	r.Tell(actor, "", outcome, err, 0, 0, 0)
	r.refused(ctx, actor, name, action, outcome, err)
}

// Denial is what the policy denied, and the rules that did.
type Denial struct {
	Action tool.Action // empty if nothing was denied
	Rules  []access.Rule
}

// Request records a request that no call of a tool answers, such as a list of MCP. The subject is what it asks for, of which the record has
// a digest; it may be empty.
func (r *Recorder) Request(ctx context.Context, actor *access.Actor, name, subject string, denial Denial, outcome wireerror.Outcome, err error, start time.Time) {
	w := Watch{Recorder: r, actor: actor, name: name, denial: denial.Action, start: start}
	w.addRules(denial.Rules)
	if subject != "" {
		w.call = request{subject: subject}
	}
	w.toTrail(ctx, outcome, err, 0, clock.Since(start))
}

// request stands for a request in the record about it.
type request struct {
	tool.Call // nil: it does not run
	subject   string
}

// LogArguments returns the subject of the request.
func (r request) LogArguments() [][]byte { return [][]byte{[]byte(r.subject)} }

// Recorded reports whether there is a trail, and how many calls of the request were recorded already.
func (r *Recorder) Recorded(ctx context.Context) (calls int, ok bool) {
	if rec := requestinfo.From(ctx); rec != nil {
		calls = rec.Calls
	}
	return calls, r.trail.To != nil
}

// refused records a call that did not run in the trail.
func (r *Recorder) refused(ctx context.Context, actor *access.Actor, name string, denial tool.Action, outcome wireerror.Outcome, err error) {
	if r.trail.To != nil {
		w := Watch{Recorder: r, actor: actor, name: name, denial: denial, start: clock.Now()}
		w.toTrail(ctx, outcome, err, 0, 0)
	}
}

// Tell reports to the observer that a call ended.
func (r *Recorder) Tell(actor *access.Actor, name string, outcome wireerror.Outcome, err error, rows, bytes int, took time.Duration) {
	if r.observer == nil {
		return
	}
	c := Called{Graph: r.graph, Actor: access.IDOf(actor), Tool: name, Outcome: outcome, Rows: rows, Bytes: bytes, Took: took}
	if err != nil {
		c.Denied = denied(err)
	}
	r.observer.Called(c)
}

// denied returns the action that the policy or the scopes of the token denied, or "". It is apart from Tell because errors.As takes memory.
func denied(err error) tool.Action {
	var forbidden *wireerror.Forbidden
	var lacks *wireerror.InsufficientScope
	switch {
	case errors.As(err, &forbidden):
		return forbidden.Action
	case errors.As(err, &lacks):
		return lacks.Action
	}
	return ""
}
