package main

import (
	"context"
	"errors"
	"net/http"

	"github.com/omnigraph-go/omnigraph/engine"
)

func (r *remote) Schema(ctx context.Context, at engine.Target) (*schemaAnswer, error) {
	a := &schemaAnswer{}
	return a, r.into(ctx, reading("/schema", place(at)), a)
}

func (r *remote) Snapshot(ctx context.Context, at engine.Target) (*snapshotAnswer, error) {
	a := &snapshotAnswer{}
	return a, r.into(ctx, reading("/snapshot", place(at)), a)
}

type schemaBody struct {
	SchemaSource  string `json:"schema_source"`
	Branch        string `json:"branch,omitempty"`
	AllowDataLoss bool   `json:"allow_data_loss,omitempty"`
	Hard          bool   `json:"hard,omitempty"`
	DryRun        bool   `json:"dry_run,omitempty"`
}

func (r *remote) ApplySchema(ctx context.Context, s *schemaFile, opts engine.SchemaOptions) (*schemaChange, error) {
	q, err := posting("/schema/apply", schemaBody{
		SchemaSource: s.text, Branch: opts.Branch, AllowDataLoss: opts.AllowDataLoss, Hard: opts.Hard, DryRun: opts.DryRun,
	})
	if err != nil {
		return nil, err
	}
	a := &schemaChange{}
	err = atFile(r.into(ctx, q.under(opts.WriteOptions), a), s.name, s.text)
	var refused *serverError
	if opts.AllowDataLoss || opts.DryRun || !errors.As(err, &refused) || refused.Status != http.StatusConflict {
		return a, err
	}
	// The error envelope does not say whether the loss of data was the reason. A plan shows whether
	// the change is destructive.
	plan := opts
	plan.DryRun, plan.IdempotencyKey = true, ""
	if change, planned := r.ApplySchema(ctx, s, plan); planned == nil && change.Supported && change.Destructive {
		return nil, lossRefused(err)
	}
	return nil, err
}
