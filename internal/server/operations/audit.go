package operations

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/audittrail"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/pagetoken"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

const (
	defaultAudit = 100  // records of a page, if the request states no limit
	maxAudit     = 1000 // records of a page at most
)

// ReadAudit is the call that lists a page of the audit trail of a graph. Its answer is a *client.AuditAnswer. If the server keeps no
// trail, the error is an *engine.NotFound.
type ReadAudit struct {
	Trail  *audittrail.Trail // nil if the server keeps none
	Filter audittrail.Filter // its Graph is that of the call, whatever it says
	Token  string            // page token; empty for the first page
}

// Needs returns the permission to read the audit trail.
func (*ReadAudit) Needs() []tool.Need { return []tool.Need{{Action: tool.AuditRead}} }

// ReadsTrail exempts the call from the refusal of calls that have no room in the trail.
func (*ReadAudit) ReadsTrail() {}

// Run reads the page.
func (c *ReadAudit) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	if c.Trail == nil {
		return nil, &engine.NotFound{What: "audit trail of the graph", Name: env.GraphID}
	}
	f := c.Filter
	if f.Graph = env.GraphID; f.Limit <= 0 {
		f.Limit = defaultAudit
	}
	f.Limit = min(f.Limit, maxAudit)
	if c.Token != "" {
		p, err := env.OpenPage(c.Token, pagetoken.Audit)
		if err != nil {
			return nil, err
		}
		if f.Before, err = audittrail.ParsePosition(p.After); err != nil {
			return nil, err
		}
	}
	// The answer has every call that ended on this server, unless the storage takes no records. The trail logs that, and what is stored
	// can be read nevertheless.
	_ = c.Trail.Settle(ctx)
	found, next, err := c.Trail.Query(ctx, f)
	if err != nil {
		return nil, err
	}
	a := &client.AuditAnswer{Records: []client.AuditRecord{}}
	for _, r := range found {
		a.Records = append(a.Records, AuditRecord(r))
	}
	if next != nil {
		token := env.SealPage(pagetoken.Place{List: pagetoken.Audit, After: next.String()})
		a.NextPageToken = &token
	}
	return &tool.Outcome{Value: a, Less: "set a smaller limit"}, nil
}

// LogArguments returns the arguments of the call for the log.
func (c *ReadAudit) LogArguments() [][]byte {
	f := &c.Filter
	args := [][]byte{[]byte(f.Actor), []byte(f.Tool), []byte(f.Except), []byte(f.Entity), []byte(f.Decision), []byte(f.Outcome)}
	for _, t := range []time.Time{f.From, f.To} {
		args = append(args, t.UTC().AppendFormat(nil, time.RFC3339Nano))
	}
	return args
}

// AuditRecord returns a record of the audit trail in the form that clients receive.
func AuditRecord(f audittrail.Found) client.AuditRecord {
	r := f.Record
	a := client.AuditRecord{
		EndedAt: r.Time.UnixMicro(), DurationMicros: r.Took.Microseconds(), ActorID: encoding.ActorID(r.Actor), Agents: encoding.Agents(r.Actor),
		Tool: r.Tool, Branch: r.Branch, Decision: audittrail.Allowed, DeniedAction: r.Denied, Rules: strings.Fields(r.Rule), Outcome: r.Outcome, Rows: r.Rows,
		Entities: r.IDs, More: len(r.Hashes), Whole: r.Whole, Possibly: f.Possibly, GraphCommitID: encoding.OrNil(r.Commit), Types: r.Types, Filters: r.Filters,
		Digest: hex.EncodeToString(r.Digest), Arguments: r.Values, RequestID: r.Request, Server: r.Server, Number: r.Number,
	}
	if r.Denied != "" {
		a.Decision = audittrail.Denied
	}
	return a
}

// AuditTime returns the time of a text: a date, which begins in UTC, or a time as RFC 3339 writes it. The error is a *tool.ArgumentError about
// the parameter with the name.
func AuditTime(name, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, &tool.ArgumentError{Path: name, Detail: fmt.Sprintf("found %q, expected a date or a time", text), Help: "write it as 2026-06-01 or 2026-06-01T12:00:00Z"}
}

// SummarizeAudit is the call that counts the calls of the last day in the audit trail of a graph. Its answer is a *client.AuditSummary. If
// the server keeps no trail, the error is an *engine.NotFound.
type SummarizeAudit struct {
	Trail *audittrail.Trail // nil if the server keeps none
	Last  *LastSummary      // of the graph
}

// LastSummary keeps the last summary of the audit trail of a graph for some seconds, so that several viewers read the trail once. It is safe
// for concurrent use.
type LastSummary struct {
	busy *semaphore.Weighted // guards the rest
	of   *client.AuditSummary
	at   time.Time // when it was made
}

// NewLastSummary returns a LastSummary without a summary.
func NewLastSummary() *LastSummary { return &LastSummary{busy: semaphore.NewWeighted(1)} }

// keptSummary is how long a summary is kept.
const keptSummary = 10 * time.Second

// Needs returns the permission to read the audit trail.
func (*SummarizeAudit) Needs() []tool.Need { return []tool.Need{{Action: tool.AuditRead}} }

// ReadsTrail exempts the call from the refusal of calls that have no room in the trail.
func (*SummarizeAudit) ReadsTrail() {}

// Run counts the calls, or returns the summary that was made some seconds ago.
func (c *SummarizeAudit) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	if c.Trail == nil {
		return nil, &engine.NotFound{What: "audit trail of the graph", Name: env.GraphID}
	}
	l := c.Last
	if err := l.busy.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer l.busy.Release(1)
	if l.of == nil || clock.Now().Sub(l.at) >= keptSummary {
		a, err := c.summary(ctx, env)
		if err != nil {
			return nil, err
		}
		l.of, l.at = a, clock.Now()
	}
	return &tool.Outcome{Value: l.of}, nil
}

// summary counts the calls.
func (c *SummarizeAudit) summary(ctx context.Context, env *tool.Env) (*client.AuditSummary, error) {
	const hours = 24
	to := clock.Now().Add(time.Microsecond) // records have times of this clock; those of this microsecond count
	from := to.Add(-hours * time.Hour)
	_ = c.Trail.Settle(ctx) // see ReadAudit
	s, err := c.Trail.Summarize(ctx, audittrail.Filter{Graph: env.GraphID, From: from, To: to}, hours)
	if err != nil {
		return nil, err
	}
	a := &client.AuditSummary{
		From: from.UnixMicro(), To: to.UnixMicro(), Complete: s.Complete, All: callCounts(&s.All),
		Hours: []client.HourTally{}, Tools: []client.ToolTally{}, Actors: []client.ActorTally{},
	}
	for i := range s.Slots {
		a.Hours = append(a.Hours, client.HourTally{From: from.Add(time.Duration(i) * time.Hour).UnixMicro(), CallTally: callCounts(&s.Slots[i])})
	}
	for i := range s.Tools {
		a.Tools = append(a.Tools, client.ToolTally{Tool: s.Tools[i].Name, CallTally: callCounts(&s.Tools[i])})
	}
	for i := range s.Actors {
		name := s.Actors[i].Name
		a.Actors = append(a.Actors, client.ActorTally{ActorID: encoding.ActorID(name), Agents: encoding.Agents(name), CallTally: callCounts(&s.Actors[i])})
	}
	return a, nil
}

// callCounts returns the counts in the form that clients receive.
func callCounts(t *audittrail.CallCounts) client.CallTally {
	return client.CallTally{Calls: t.Calls, Failed: t.Failed, Denied: t.Denied, P99Micros: t.P99.Microseconds()}
}
