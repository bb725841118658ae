package audit

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// audit logs a write: the commit it made, or the reason why it failed. It does not log a
// write that succeeded without changing anything.
func (w *Watch) audit(ctx context.Context, outcome wireerror.Outcome, err error, took time.Duration) {
	if w.wrote == nil && (err == nil || !w.writes) {
		return
	}
	log := w.log
	if !log.Enabled(ctx, slog.LevelInfo) {
		return
	}
	attrs := make([]slog.Attr, 0, 9)
	attrs = append(attrs, slog.String("tool", w.name), slog.String("actor", access.IDOf(w.actor)))
	attrs = w.appendAgents(attrs)
	message := "write"
	if w.wrote != nil {
		attrs = append(attrs, slog.String("branch", writtenBranch(w.wrote)), slog.String("commit", writtenID(w.wrote)))
	} else {
		message = "write refused"
		attrs = append(attrs, slog.String("branch", w.branch), slog.String("outcome", string(outcome)))
	}
	if step, proposal := proposalStep(w.call); step != "" {
		attrs = append(attrs, slog.String("step", step))
		if proposal != "" {
			attrs = append(attrs, slog.String("proposal", proposal))
		}
	}
	if w.bypass != nil {
		attrs = append(attrs, slog.String("bypassed_protection", w.bypass.Name()))
	}
	attrs = append(attrs, slog.Duration("duration", took))
	if key := idempotencyKey(w.call); key != "" {
		attrs = append(attrs, slog.String("idempotency_key", w.Digest([]byte(key))))
	}
	log.LogAttrs(ctx, slog.LevelInfo, message, attrs...)
}

// appendAgents appends the agents that act for the actor of the call, if there are any.
func (w *Watch) appendAgents(attrs []slog.Attr) []slog.Attr {
	if agents := w.actor.AgentIDs(); len(agents) > 0 {
		attrs = append(attrs, slog.String("agents", strings.Join(agents, " ")))
	}
	return attrs
}

// debug logs a call at level debug.
func (w *Watch) debug(ctx context.Context, outcome wireerror.Outcome, rows int, took time.Duration) {
	log := w.log
	if !log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	attrs := []slog.Attr{
		slog.String("tool", w.name), slog.String("actor", access.IDOf(w.actor)), slog.String("branch", w.branch), slog.String("commit", w.commit),
		slog.String("outcome", string(outcome)), slog.Int("rows", rows), slog.Duration("duration", took),
	}
	attrs = w.appendAgents(attrs)
	if args := arguments(w.call); args != nil {
		if w.data != nil {
			args = append(args, w.data.Sum(nil))
		}
		attrs = append(attrs, slog.String("args", w.Digest(args...)))
	}
	if outcome == wireerror.Done {
		attrs = append(attrs, slog.String("result", w.Digest(w.to.Text(w.mark)...)))
	}
	log.LogAttrs(ctx, slog.LevelDebug, "call", attrs...)
}

// writtenBranch returns the name of the branch that changed, or "" if none did.
func writtenBranch(w *tool.Written) string {
	if w.Branch == nil {
		return ""
	}
	return w.Branch.Name()
}

// writtenID returns the id of the commit, or "" if only branches changed.
func writtenID(w *tool.Written) string {
	if w.Commit == nil {
		return ""
	}
	return w.Commit.ID
}

// wrapper is implemented by a transport's calls that wrap another call, for example to give the
// answer another form. The log describes the inner call.
type wrapper interface{ Unwrap() tool.Call }

// unwrapped removes all wrappers from a call.
func unwrapped(call tool.Call) tool.Call {
	for {
		w, ok := call.(wrapper)
		if !ok {
			return call
		}
		call = w.Unwrap()
	}
}

// arguments returns the arguments of a call, without its branch and without the options
// that all writes share. Equal arguments give equal bytes. The result is nil for a call
// that does not report its arguments. The data of a load is not included, because only the
// engine reads it, and only once: Begin hashes it.
func arguments(call tool.Call) [][]byte {
	if c, ok := unwrapped(call).(interface{ LogArguments() [][]byte }); ok {
		return c.LogArguments()
	}
	return nil
}

// proposalStep returns what a call does to a proposal and the id of the proposal. The step is empty for a call that
// changes no proposal, and the id is empty for a proposal that does not exist.
func proposalStep(call tool.Call) (step, proposal string) {
	if c, ok := unwrapped(call).(interface {
		LogStep() (step, proposal string)
	}); ok {
		return c.LogStep()
	}
	return "", ""
}

// idempotencyKey returns the idempotency key of a write, or "".
func idempotencyKey(call tool.Call) string {
	if c, ok := unwrapped(call).(interface{ LogKey() string }); ok {
		return c.LogKey()
	}
	return ""
}
