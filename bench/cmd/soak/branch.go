package main

import (
	"context"
	"net/http"
	"net/url"
)

// branching is how a client makes, merges and deletes branches.
type branching interface {
	create(ctx context.Context, operation, name string) *outcome
	merge(ctx context.Context, operation, source string) *outcome
	delete(ctx context.Context, operation, name string) *outcome
}

// overMCP calls the tools.
type overMCP struct{ *client }

func (c overMCP) create(ctx context.Context, operation, name string) *outcome {
	return c.tool(ctx, operation, "branch_create", map[string]any{"name": name})
}

func (c overMCP) merge(ctx context.Context, operation, source string) *outcome {
	return c.tool(ctx, operation, "branch_merge", map[string]any{"source": source})
}

func (c overMCP) delete(ctx context.Context, operation, name string) *outcome {
	return c.tool(ctx, operation, "branch_delete", map[string]any{"name": name})
}

// overREST calls the routes.
type overREST struct{ *client }

func (c overREST) create(ctx context.Context, operation, name string) *outcome {
	return c.post(ctx, operation, "/branches", map[string]any{"name": name})
}

func (c overREST) merge(ctx context.Context, operation, source string) *outcome {
	return c.post(ctx, operation, "/branches/merge", map[string]any{"source": source})
}

func (c overREST) delete(ctx context.Context, operation, name string) *outcome {
	return c.rest(ctx, operation, http.MethodDelete, "/branches/"+url.PathEscape(name), "", "")
}

// hasBranchRoutes reports whether the server has routes for branches.
func (c *client) hasBranchRoutes(ctx context.Context) bool {
	status, _, _ := c.send(ctx, http.MethodGet, "/branches", "", "")
	return status == http.StatusOK
}
