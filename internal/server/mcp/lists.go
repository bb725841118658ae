package mcp

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// This file has the methods that describe the server and the methods that answer with a list. Each
// list is one page and has only the entries that the caller may see.

// listTTL is how long clients may cache a list. A list changes only with a deployment or a
// policy, which is rare.
const listTTL = time.Minute

// private returns the cache hints of an answer. No answer is public, because each depends on
// the rights of the caller.
func private(ttl time.Duration) mcp.Cacheable {
	return mcp.Cacheable{CacheScope: "private", TTLMs: int(ttl.Milliseconds())}
}

// capabilities returns what the server offers to every caller.
func capabilities() *mcp.ServerCapabilities {
	c := &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{}, Prompts: &mcp.PromptCapabilities{}, Completions: &mcp.CompletionCapabilities{}}
	c.AddExtension(skillsExtension, map[string]any{})
	return c
}

// streaming returns what the server offers to callers of the versions that have streams.
func streaming() *mcp.ServerCapabilities {
	c := capabilities()
	c.Tools.ListChanged, c.Resources.Subscribe = true, true
	return c
}

// initialize answers the method initialize.
func (s *surface) initialize(ctx context.Context, p *mcp.InitializeParams) (mcp.Result, error) {
	text, err := s.instructions(ctx)
	if err != nil {
		return nil, err
	}
	return &mcp.InitializeResult{
		ProtocolVersion: agreed(p.ProtocolVersion), Capabilities: capabilities(), Instructions: text, ServerInfo: s.implementation,
	}, nil
}

// discover answers the method server/discover.
func (s *surface) discover(ctx context.Context, _ *mcp.DiscoverParams) (mcp.Result, error) {
	text, err := s.instructions(ctx)
	if err != nil {
		return nil, err
	}
	return &mcp.DiscoverResult{
		SupportedVersions: versions, Capabilities: streaming(), Instructions: text, Cacheable: private(listTTL),
	}, nil
}

// bindPing accepts any params: the answer is always the empty object.
func bindPing(*surface, *message) (run, error) {
	return func(context.Context) (mcp.Result, error) { return nil, nil }, nil
}

// listTools answers tools/list with the tools that the caller may see, in the sets of the request.
func (s *surface) listTools(ctx context.Context, p *mcp.ListToolsParams) (mcp.Result, error) {
	if p.Cursor != "" {
		return nil, noCursor()
	}
	seen, err := s.listed(ctx)
	if err != nil {
		return nil, err
	}
	names := namesOf(seen)
	tools := make([]*mcp.Tool, len(seen), len(seen)+len(s.own.all))
	for i, d := range seen {
		tools[i] = s.redaction.tool(s.toolOf(d), names)
	}
	for _, t := range s.own.all {
		if s.offers(ctx, t) {
			tools = append(tools, t.Info)
		}
	}
	if hasApps(ctx, p.Meta) {
		tools = withApp(tools)
	}
	return &mcp.ListToolsResult{Tools: tools, Cacheable: private(listTTL)}, nil
}

// listResources answers resources/list with the resources that the caller may read.
func (s *surface) listResources(ctx context.Context, p *mcp.ListResourcesParams) (mcp.Result, error) {
	if p.Cursor != "" {
		return nil, noCursor()
	}
	res := &mcp.ListResourcesResult{Resources: []*mcp.Resource{}, Cacheable: private(listTTL)}
	for _, r := range s.resources.all {
		if s.granted(ctx, r.Gates) {
			res.Resources = append(res.Resources, r.Info)
		}
	}
	sk, err := s.skillListing(ctx)
	if err != nil {
		return nil, err
	}
	if sk != nil {
		res.Resources = append(res.Resources, sk)
	}
	return res, nil
}

// listTemplates answers resources/templates/list with the templates that the caller may use.
func (s *surface) listTemplates(ctx context.Context, p *mcp.ListResourceTemplatesParams) (mcp.Result, error) {
	if p.Cursor != "" {
		return nil, noCursor()
	}
	res := &mcp.ListResourceTemplatesResult{ResourceTemplates: []*mcp.ResourceTemplate{}, Cacheable: private(listTTL)}
	for _, t := range s.templates.all {
		if s.granted(ctx, t.Gates) {
			res.ResourceTemplates = append(res.ResourceTemplates, t.Info)
		}
	}
	return res, nil
}

// listPrompts answers prompts/list with the prompts that the caller may get.
func (s *surface) listPrompts(ctx context.Context, p *mcp.ListPromptsParams) (mcp.Result, error) {
	if p.Cursor != "" {
		return nil, noCursor()
	}
	res := &mcp.ListPromptsResult{Prompts: []*mcp.Prompt{}, Cacheable: private(listTTL)}
	for _, prompt := range s.prompts.all {
		if s.granted(ctx, prompt.Gates) {
			res.Prompts = append(res.Prompts, prompt.Info)
		}
	}
	return res, nil
}

// noCursor returns the error for a list request with a cursor. Each list is one page, so the server
// never gave the client a cursor.
func noCursor() error {
	return invalidParams("params.cursor: this server did not return the cursor; each list is one page, so leave the cursor out")
}
