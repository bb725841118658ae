package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
)

// Both returns two handlers: the handler of a graph, and the SDK's handler over a server of the SDK
// with the same tools, resources and prompts.
func Both(g *servedgraph.Graph, opts Options) (own, stock http.Handler) {
	s := newSurface(g, opts)
	server := mcp.NewServer(s.implementation, &mcp.ServerOptions{
		Instructions: instructionsFor(g.Descriptors(), served{stored: true, meta: g.Meta()}), PageSize: 1 << 20, Capabilities: capabilities(),
		CompletionHandler: func(ctx context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			res, err := s.complete(ctx, req.Params)
			if err != nil {
				return nil, err
			}
			return res.(*mcp.CompleteResult), nil
		},
		SetCacheable: func(_ context.Context, req mcp.Request, c *mcp.Cacheable) {
			*c = private(listTTL)
			if _, ok := req.(*mcp.ReadResourceRequest); ok {
				*c = private(0)
			}
		},
	})
	for _, d := range g.Descriptors() {
		server.AddTool(s.tools[d], func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			res, err := s.call(ctx, req.Params.Name, req.Params.Arguments)
			if err != nil {
				return nil, err
			}
			a, ok := res.(*toolAnswer)
			if !ok {
				return res.(*mcp.CallToolResult), nil
			}
			sdk := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(a.json)}}, StructuredContent: json.RawMessage(a.json)}
			if a.commit != "" {
				sdk.Meta = mcp.Meta{metaCommit: a.commit}
			}
			return sdk, nil
		})
	}
	for _, r := range s.resources.all {
		server.AddResource(r.Info, func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			if !s.granted(ctx, r.Gates) {
				return nil, mcp.ResourceNotFoundError(req.Params.URI)
			}
			return r.Read(ctx, req)
		})
	}
	for _, r := range s.templates.all {
		server.AddResourceTemplate(r.Info, r.Read)
	}
	for _, p := range s.prompts.all {
		server.AddPrompt(p.Info, func(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			if !s.granted(ctx, p.Gates) {
				_, err := s.getPrompt(ctx, &mcp.GetPromptParams{Name: req.Params.Name})
				return nil, err
			}
			return p.Get(ctx, req)
		})
	}
	server.AddReceivingMiddleware(s.perCaller)
	return &handler{s, defaultMaxBody, nil, never}, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, DisableLocalhostProtection: true})
}

// perCaller is the middleware of the SDK's server. It removes the entries that the caller may not
// see, refuses the methods that this package does not have, and adds the versions to the results as
// `stamp` does.
func (s *surface) perCaller(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, name string, req mcp.Request) (mcp.Result, error) {
		if methods[name] == nil {
			return nil, notFound(name)
		}
		if p, ok := req.GetParams().(*mcp.CallToolParamsRaw); ok && !s.names[p.Name] {
			return nil, s.unknown(ctx, p.Name)
		}
		res, err := next(ctx, name, req)
		if err != nil {
			return nil, s.mapped(ctx, err)
		}
		switch list := res.(type) {
		case *mcp.ListToolsResult:
			own, err := s.listTools(ctx, &mcp.ListToolsParams{})
			if err != nil {
				return nil, err
			}
			list.Tools = own.(*mcp.ListToolsResult).Tools
		case *mcp.ListResourcesResult:
			own, err := s.listResources(ctx, &mcp.ListResourcesParams{})
			if err != nil {
				return nil, err
			}
			list.Resources = own.(*mcp.ListResourcesResult).Resources
		case *mcp.ListPromptsResult:
			own, err := s.listPrompts(ctx, &mcp.ListPromptsParams{})
			if err != nil {
				return nil, err
			}
			list.Prompts = own.(*mcp.ListPromptsResult).Prompts
		case *mcp.InitializeResult:
			if list.Instructions, err = s.instructions(ctx); err != nil {
				return nil, err
			}
		case *mcp.DiscoverResult:
			list.Capabilities = streaming()
			if list.Instructions, err = s.instructions(ctx); err != nil {
				return nil, err
			}
		}
		if name == "ping" || req.GetParams() == nil || methods[name].notification {
			return res, nil
		}
		return res, s.stamp(ctx, res)
	}
}

// ProgressEvery sets the time between two notifications of progress, and returns a function that sets it back.
func ProgressEvery(d time.Duration) (restore func()) {
	before := progressEvery
	progressEvery = d
	return func() { progressEvery = before }
}
