package rest

import (
	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

type cleanupBody struct {
	KeepCommits *int32               `json:"keep_commits,omitempty" jsonschema:"anyof_required=keep_commits,minimum=1" jsonschema_description:"Keep as many commits of each branch, its head among them."`
	KeepSince   *value.DateTimeValue `json:"keep_since,omitempty" jsonschema:"anyof_required=keep_since" jsonschema_description:"Keep the commits that are not older. With both members, what either keeps is kept."`
	DryRun      *bool                `json:"dry_run,omitempty" jsonschema_description:"Say what would be reclaimed, and do nothing."`
}

type verifyBody struct{}

// verify reads all stored data and lists the faults that it finds.
func (x *exchange) verify() error {
	o, err := x.body(&verifyBody{})
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
	var b cleanupBody
	o, err := x.body(&b)
	if err != nil {
		return err
	}
	if err := o.Done(); err != nil {
		return err
	}
	if b.KeepCommits == nil && b.KeepSince == nil {
		return &tool.ArgumentError{Path: "keep_commits", Detail: "missing, and so is keep_since", Help: "what is reclaimed does not come back, so say what to keep"}
	}
	opts := engine.CleanupOptions{DryRun: isTrue(b.DryRun)}
	if b.KeepCommits != nil {
		opts.KeepCommits = int(*b.KeepCommits)
	}
	if b.KeepSince != nil {
		opts.Before = b.KeepSince.Time()
	}
	return x.answer(&operations.Cleanup{Options: opts}, encoding.Options{})
}
