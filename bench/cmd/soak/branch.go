package main

import (
	"context"
	"net/http"
	"net/url"
)

// branching creates, merges and deletes branches for a client.
type branching interface {
	create(ctx context.Context, operation, name string) *outcome
	merge(ctx context.Context, operation, source string) *outcome
	delete(ctx context.Context, operation, name string) *outcome
}

// overMCP uses the MCP tools. Its operations have names that differ from those of the routes.
type overMCP struct{ *client }

// create creates a branch with a tool call.
func (c overMCP) create(ctx context.Context, operation, name string) *outcome {
	return c.tool(ctx, operation+" over MCP", "branch_create", map[string]any{"name": name})
}

// merge merges a branch into main by calling a tool.
func (c overMCP) merge(ctx context.Context, operation, source string) *outcome {
	return c.tool(ctx, operation+" over MCP", "branch_merge", map[string]any{"source": source})
}

// delete deletes a branch by calling a tool.
func (c overMCP) delete(ctx context.Context, operation, name string) *outcome {
	return c.tool(ctx, operation+" over MCP", "branch_delete", map[string]any{"name": name})
}

// overREST uses the REST routes.
type overREST struct{ *client }

// create creates a branch over REST.
func (c overREST) create(ctx context.Context, operation, name string) *outcome {
	return c.post(ctx, operation, "/branches", map[string]any{"name": name})
}

// merge merges a branch into main over REST.
func (c overREST) merge(ctx context.Context, operation, source string) *outcome {
	return c.post(ctx, operation, "/branches/merge", map[string]any{"source": source})
}

// delete deletes a branch over REST.
func (c overREST) delete(ctx context.Context, operation, name string) *outcome {
	return c.rest(ctx, operation, http.MethodDelete, "/branches/"+url.PathEscape(name), "", "")
}
