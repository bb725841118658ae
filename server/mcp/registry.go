package mcp

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/server/access"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// The kinds of things that a surface offers in addition to the tools of its graph. A caller
// sees a thing only if it has all of its gates, each on the gate's branch or, if the gate names
// none, on main. For all other callers the thing does not exist. A thing without gates is for
// everyone.
type (
	// Tool is a tool with a handler of its own; its results need not be the JSON of a graph.
	Tool struct {
		Info  *mcp.Tool
		Gates []tool.Grant
		Call  mcp.ToolHandler
	}

	// Resource is a resource with a fixed URI.
	Resource struct {
		Info  *mcp.Resource
		Gates []tool.Grant
		Read  mcp.ResourceHandler
	}

	// Template is a template of URIs with one handler for all resources that match it.
	Template struct {
		Info  *mcp.ResourceTemplate
		Gates []tool.Grant
		Read  mcp.ResourceHandler
	}

	// Prompt is a prompt with its handler.
	Prompt struct {
		Info  *mcp.Prompt
		Gates []tool.Grant
		Get   mcp.PromptHandler
	}
)

// register adds the things from the options and the graph's own resources and prompts to the
// server, each behind its gates.
func (s *surface) register(opts Options) {
	for i := range opts.Tools {
		t := &opts.Tools[i]
		if s.names[t.Info.Name] {
			panic("mcp: two tools are called " + t.Info.Name)
		}
		s.own[t.Info.Name] = true
		s.addTool(t.Info, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if !s.granted(ctx, t.Gates) {
				return nil, unknown(t.Info.Name)
			}
			return t.Call(ctx, req)
		})
	}
	for _, r := range append(s.graphResources(), opts.Resources...) {
		s.resources[r.Info.URI] = &r
		s.server.AddResource(r.Info, s.gatedRead(r.Gates, r.Read))
	}
	for _, t := range opts.Templates {
		s.templates[t.Info.URITemplate] = &t
		s.server.AddResourceTemplate(t.Info, s.gatedRead(t.Gates, t.Read))
	}
	for _, p := range append(s.graphPrompts(), opts.Prompts...) {
		s.prompts[p.Info.Name] = &p
		s.server.AddPrompt(p.Info, func(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			if !s.granted(ctx, p.Gates) {
				// The SDK's own error for a prompt that does not exist.
				return nil, &jsonrpc.Error{Code: codeInvalidParams, Message: fmt.Sprintf("unknown prompt %q", p.Info.Name)}
			}
			return p.Get(ctx, req)
		})
	}
}

// gatedRead wraps read. It answers a caller without the gates as if the resource did not exist.
func (s *surface) gatedRead(gates []tool.Grant, read mcp.ResourceHandler) mcp.ResourceHandler {
	return func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		if !s.granted(ctx, gates) {
			return nil, mcp.ResourceNotFoundError(req.Params.URI)
		}
		return read(ctx, req)
	}
}

// granted reports whether the caller has all of the gates.
func (s *surface) granted(ctx context.Context, gates []tool.Grant) bool {
	actor := access.ActorFrom(ctx)
	for _, g := range gates {
		if !s.graph.Allowed(actor, g) {
			return false
		}
	}
	return true
}
