package audit

import (
	"context"
	"errors"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/audittrail"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/requestinfo"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Trail says where and how calls are recorded.
type Trail struct {
	To     *audittrail.Trail // nil for nowhere
	Values bool              // records have the arguments of calls, and not only their digests
}

// memory is the memory for a record while it is made.
type memory struct {
	call   audittrail.Call
	digest []byte
	types  []string
}

// memories has the memory that is not in use.
var memories = sync.Pool{New: func() any { return new(memory) }}

// toTrail records the call in the audit trail.
func (w *Watch) toTrail(ctx context.Context, outcome wireerror.Outcome, err error, rows int, took time.Duration) {
	if errors.As(err, new(*full)) {
		w.trail.To.Refused()
		return
	}
	m := memories.Get().(*memory)
	defer memories.Put(m)
	c := &m.call
	*c = audittrail.Call{
		Time: w.start.Add(took), Took: took, Actor: w.actor.Name(), Graph: w.graph, Branch: w.branch, Tool: w.name, Outcome: string(outcome),
		Denied: string(w.denial), Rule: w.rules, Commit: w.commit, Rows: rows, Whole: w.whole, Filters: w.filters, Entities: w.ids,
	}
	if rec := requestinfo.From(ctx); rec != nil {
		c.Request = rec.ID
	}
	if err != nil && c.Denied == "" {
		c.Denied = string(denied(err))
	}
	if w.wrote != nil {
		if c.Commit = writtenID(w.wrote); c.Branch == "" {
			c.Branch = writtenBranch(w.wrote)
		}
	}
	if w.call != nil {
		call := unwrapped(w.call)
		if args := arguments(call); args != nil {
			m.digest = w.digests.append(m.digest[:0], args...)
			c.Digest = m.digest
			if w.trail.Values {
				c.Values = valuesOf(call, args)
			}
		}
		if used, ok := call.(interface{ LogUses() []plan.Use }); ok && w.types == nil {
			w.types = used.LogUses()
		}
		if about, ok := call.(interface {
			LogEntities() (ids []string, whole bool)
		}); ok && w.granted { // an answer that ended with an error may have been sent in part
			ids, whole := about.LogEntities()
			c.Whole = c.Whole || whole
			for _, id := range ids {
				c.Entities.Add(id)
			}
		}
	}
	m.types = m.types[:0]
	for i := range w.types {
		if u := &w.types[i]; u.Property == "" {
			m.types = append(m.types, u.Type)
		}
	}
	c.Types = m.types
	w.trail.To.Add(c)
}

// valuesOf returns the arguments of a call as JSON: as the call gives them, or as a list of the texts of which the log has digests.
func valuesOf(call any, args [][]byte) []byte {
	if c, ok := call.(interface{ LogValues() any }); ok {
		if b, err := encoding.JSON(c.LogValues()); err == nil {
			return b
		}
	}
	texts := make([]string, 0, len(args))
	for _, a := range args {
		if utf8.Valid(a) {
			texts = append(texts, string(a))
		}
	}
	b, err := encoding.JSON(texts)
	if err != nil {
		return nil
	}
	return b
}

// Full returns an error if a call must be refused because the audit trail has no room for its record. The trail can be read nevertheless.
func (r *Recorder) Full(call tool.Call) error {
	if r.trail.To == nil || !r.trail.To.Full() {
		return nil
	}
	if _, ok := unwrapped(call).(interface{ ReadsTrail() }); ok {
		return nil
	}
	return &full{&engine.Unavailable{Reason: "the audit trail has no room for a record of the call; set a larger server.audit.quota or a shorter keep, or let on_full drop the oldest records"}}
}

// full is the error of calls that were refused because the trail has no room. They are counted in the trail, but not recorded.
type full struct{ *engine.Unavailable }

// Unwrap returns the error for the caller.
func (f *full) Unwrap() error { return f.Unavailable }
