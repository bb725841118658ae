package rest

import (
	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/audittrail"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// verify reads all stored data and lists the faults that it finds.
func (x *exchange) verify() error {
	o, err := x.body(&client.VerifyBody{})
	if err != nil {
		return err
	}
	if err := o.Done(); err != nil {
		return err
	}
	return x.answer(&operations.Verify{}, encoding.Options{})
}

// cleanup deletes old commits, which can then no longer be read.
func (x *exchange) cleanup() error {
	var b client.CleanupBody
	o, err := x.body(&b)
	if err != nil {
		return err
	}
	if err := o.Done(); err != nil {
		return err
	}
	if b.KeepCommits == 0 && b.KeepSince == nil {
		return &tool.ArgumentError{Path: "keep_commits", Detail: "both keep_commits and keep_since are missing", Help: "give one of them; a cleanup cannot be undone"}
	}
	opts := engine.CleanupOptions{DryRun: b.DryRun, KeepCommits: int(b.KeepCommits)}
	if b.KeepSince != nil {
		opts.Before = *b.KeepSince
	}
	return x.answer(&operations.Cleanup{Options: opts}, encoding.Options{})
}

// audit lists calls in the audit trail.
func (x *exchange) audit() error {
	f := audittrail.Filter{Actor: x.query.Get("actor"), Tool: x.query.Get("tool"), Except: x.query.Get("except"), Entity: x.query.Get("entity"), Decision: x.query.Get("decision"), Outcome: x.query.Get("outcome"), Limit: x.number("limit", 0)}
	var err error
	if f.From, err = operations.AuditTime("from", x.query.Get("from")); err != nil {
		return err
	}
	if f.To, err = operations.AuditTime("to", x.query.Get("to")); err != nil {
		return err
	}
	return x.answer(x.g.ReadAudit(f, x.query.Get("page_token")), encoding.Options{})
}

// auditSummary counts the calls of the last day in the audit trail.
func (x *exchange) auditSummary() error {
	return x.answer(x.g.SummarizeAudit(), encoding.Options{})
}
