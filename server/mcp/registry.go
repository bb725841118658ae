package mcp

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/server/service"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// What a surface offers beside the tools of its graph. Each thing is listed for the
// callers that hold all of its gates, on the gate's branch or main, and is for all
// others as if it did not exist. No gates means everyone.
type (
	// Tool is a tool whose results are not the JSON of a graph's answer.
	Tool struct {
		Info  *mcp.Tool
		Gates []tool.Grant
		Call  mcp.ToolHandler
	}

	// Resource is a resource with a URI of its own.
	Resource struct {
		Info  *mcp.Resource
		Gates []tool.Grant
		Read  mcp.ResourceHandler
	}

	// Template is the resources whose URIs fit a template.
	Template struct {
		Info  *mcp.ResourceTemplate
		Gates []tool.Grant
		Read  mcp.ResourceHandler
	}

	// Prompt is a prompt.
	Prompt struct {
		Info  *mcp.Prompt
		Gates []tool.Grant
		Get   mcp.PromptHandler
	}
)

// register adds what the options offer, and the graph's own resources and prompts, to
// the server, each behind its gates.
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
				// As the SDK says it of a prompt that does not exist.
				return nil, &jsonrpc.Error{Code: codeInvalidParams, Message: fmt.Sprintf("unknown prompt %q", p.Info.Name)}
			}
			return p.Get(ctx, req)
		})
	}
}

// gatedRead answers for a resource that the caller may not read as for one that does
// not exist.
func (s *surface) gatedRead(gates []tool.Grant, read mcp.ResourceHandler) mcp.ResourceHandler {
	return func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		if !s.granted(ctx, gates) {
			return nil, mcp.ResourceNotFoundError(req.Params.URI)
		}
		return read(ctx, req)
	}
}

// granted reports whether the caller holds all of the gates.
func (s *surface) granted(ctx context.Context, gates []tool.Grant) bool {
	actor := service.ActorFrom(ctx)
	for _, g := range gates {
		if !s.graph.Allowed(actor, g) {
			return false
		}
	}
	return true
}
