package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/server/access"
	"github.com/omnigraph-go/omnigraph/server/encoding"
	"github.com/omnigraph-go/omnigraph/server/metatools"
	"github.com/omnigraph-go/omnigraph/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/server/tool"
	"github.com/omnigraph-go/omnigraph/server/wireerror"
)

// instructions tell a model how to begin. %s stands for the way to run stored queries.
const instructions = `This server is one typed property graph with branches and commits. ` +
	`Start with type_describe: it lists the node and edge types, and says of one what a query needs of it. ` +
	`Before you write a query, read gq_reference: it teaches the query language by topic, with examples in this graph's own names. ` +
	`Prefer a stored query, %s, when one fits; ` +
	`otherwise write GQ, check it with query_validate and run it with graph_query; of a graph with nodes Person and edges Knows, for example: ` +
	`query example($name: String) { match { $p: Person { name: $name } $p knows $q } return { $q.name } order { $q.name } limit 20 }. ` +
	`Type names start upper-case; an edge is written with a lower-case first letter. ` +
	`Tools that write say so in their hints; each write is one commit. ` +
	`A result that was cut says truncated: true; then ask for less, or call again with its next_page_token as page_token. ` +
	`An error names what was found and what was wanted.`

// How a model runs stored queries in the two modes.
const (
	queriesAsTools = `which is a tool of its own with typed parameters inside "params"`
	queriesByPair  = `which ` + metatools.ListQueries + ` finds and ` + metatools.RunQuery + ` runs`
)

func instructionsFor(g *servedgraph.Graph) string {
	if g.Meta() {
		return fmt.Sprintf(instructions, queriesByPair)
	}
	return fmt.Sprintf(instructions, queriesAsTools)
}

// methods are the methods that the surface serves. The SDK would accept others too, but the
// surface does not implement them.
var methods = map[string]bool{
	"initialize": true, "server/discover": true, "ping": true,
	"tools/list": true, "tools/call": true,
	"resources/list": true, "resources/templates/list": true, "resources/read": true,
	"prompts/list": true, "prompts/get": true,
	"notifications/initialized": true, "notifications/cancelled": true, "notifications/progress": true,
	"notifications/roots/list_changed": true,
}

// surface is the MCP server of a graph. All callers share it; the results are filtered for each
// caller.
type surface struct {
	graph  *servedgraph.Graph
	server *mcp.Server
	opts   Options
	naming *naming

	tools     map[*tool.Descriptor]*mcp.Tool
	names     map[string]bool
	encoded   map[*mcp.Tool][]byte // the JSON of the tools, which does not change
	own       map[string]bool      // the names of the tools from the options
	resources map[string]*Resource // by URI
	templates map[string]*Template // by URI template
	prompts   map[string]*Prompt   // by name

	// chain calls the methods of the server through the middleware. The sessions are those in which
	// it is called: stateful for the protocol versions in which initialize sends the client's data
	// once, and stateless for those in which every request carries it.
	chain               mcp.MethodHandler
	stateful, stateless *mcp.ServerSession

	implementation *mcp.Implementation
	serverInfo     []byte // the JSON of implementation
}

func newSurface(g *servedgraph.Graph, opts Options) *surface {
	s := &surface{
		graph: g, opts: opts, tools: map[*tool.Descriptor]*mcp.Tool{}, names: map[string]bool{}, encoded: map[*mcp.Tool][]byte{}, own: map[string]bool{},
		resources: map[string]*Resource{}, templates: map[string]*Template{}, prompts: map[string]*Prompt{},
		implementation: &mcp.Implementation{Name: "omnigraph", Title: "Omnigraph", Version: g.Version()},
	}
	capabilities := &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{}, Prompts: &mcp.PromptCapabilities{}}
	s.server = mcp.NewServer(s.implementation, &mcp.ServerOptions{
		Instructions: instructionsFor(g),
		PageSize:     pageSize,
		Capabilities: capabilities,
		SetCacheable: cacheable,
		Logger:       slog.New(atLeastWarn{g.Logger().Handler()}),
	})
	for _, d := range g.Descriptors() {
		t := describe(d)
		s.tools[d] = t
		s.addTool(t, s.call)
	}
	s.naming = newNaming(g.Descriptors())
	for _, d := range g.Variants() {
		t := describe(d)
		s.tools[d], s.encoded[t] = t, encodeTool(t)
	}
	s.register(opts)
	s.server.AddReceivingMiddleware(s.receive)
	s.server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		s.chain = next
		return next
	})
	var err error
	if s.stateful, err = s.session("2025-11-25", true); err != nil {
		panic(err) // the transport of a session does not fail
	}
	if s.stateless, err = s.session(statelessVersion, true); err != nil {
		panic(err)
	}
	if s.serverInfo, err = encoding.JSON(s.implementation); err != nil {
		panic(err) // strings always encode
	}
	return s
}

// addTool adds a tool to the server.
func (s *surface) addTool(t *mcp.Tool, h mcp.ToolHandler) {
	s.names[t.Name], s.encoded[t] = true, encodeTool(t)
	s.server.AddTool(t, h)
}

func encodeTool(t *mcp.Tool) []byte {
	b, err := encoding.JSON(t)
	if err != nil {
		panic(fmt.Sprintf("mcp: tool %s: %v", t.Name, err))
	}
	return b
}

// describe returns the description of a tool that clients receive.
func describe(d *tool.Descriptor) *mcp.Tool {
	destructive, openWorld := d.Destructive, false
	t := &mcp.Tool{
		Name: d.Name, Title: d.Title, Description: d.Description, InputSchema: d.InputSchema,
		Annotations: &mcp.ToolAnnotations{
			Title: d.Title, ReadOnlyHint: d.ReadOnly, DestructiveHint: &destructive,
			IdempotentHint: d.Idempotent, OpenWorldHint: &openWorld,
		},
	}
	if d.OutputSchema != nil {
		t.OutputSchema = d.OutputSchema
	}
	return t
}

// cacheable marks every answer private, because lists are filtered per caller.
func cacheable(_ context.Context, req mcp.Request, c *mcp.Cacheable) {
	c.CacheScope, c.TTLMs = "private", int(listTTL.Milliseconds())
	if _, ok := req.(*mcp.ReadResourceRequest); ok {
		c.TTLMs = 0
	}
}

// receive is the middleware around every method.
func (s *surface) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				res, err = nil, s.fail(ctx, &wireerror.Panic{Value: p, Stack: debug.Stack()})
			}
		}()
		if !methods[method] {
			return nil, notFound(method)
		}
		if p, ok := req.GetParams().(*mcp.CallToolParamsRaw); ok && (p == nil || !s.names[p.Name]) {
			name := ""
			if p != nil {
				name = p.Name
			}
			return nil, s.graph.NotKnown(ctx, unknown(name))
		}
		res, err = next(ctx, method, req)
		if err != nil {
			return nil, s.mapped(ctx, err)
		}
		if err := s.filter(ctx, res); err != nil {
			return nil, s.fail(ctx, err)
		}
		return res, s.stamp(ctx, method, res)
	}
}

// call runs a tool of the graph.
func (s *surface) call(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	answer, err := s.graph.Call(ctx, access.ActorFrom(ctx), req.Params.Name, req.Params.Arguments, s.graph.ForModel())
	if err != nil {
		var u *wireerror.UnknownTool
		if errors.As(err, &u) {
			return nil, unknown(u.Name)
		}
		fault := s.graph.Report(ctx, err)
		if fault.Operational {
			return nil, &jsonrpc.Error{Code: codeInternal, Message: fault.Body.Error}
		}
		text, err := encoding.JSON(fault.Body)
		if err != nil {
			return nil, err
		}
		// No structuredContent: clients check it against the output schema even for errors.
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}}, nil
	}
	res := &mcp.CallToolResult{
		Content:           []mcp.Content{&mcp.TextContent{Text: string(answer.JSON)}},
		StructuredContent: json.RawMessage(answer.JSON),
	}
	if answer.Commit != "" {
		res.Meta = mcp.Meta{metaCommit: answer.Commit}
	}
	return res, nil
}

// filter removes from a result what the caller may not see, and sorts tools in the order of the
// catalog.
func (s *surface) filter(ctx context.Context, res mcp.Result) error {
	switch list := res.(type) {
	case *mcp.ListToolsResult:
		seen, err := s.graph.Tools(ctx, access.ActorFrom(ctx))
		if err != nil {
			return err
		}
		names := namesOf(seen)
		list.Tools = make([]*mcp.Tool, len(seen), len(seen)+len(s.opts.Tools))
		for i, d := range seen {
			list.Tools[i] = s.naming.tool(s.tools[d], names)
		}
		for i := range s.opts.Tools {
			if t := &s.opts.Tools[i]; s.granted(ctx, t.Gates) {
				list.Tools = append(list.Tools, t.Info)
			}
		}
	case *mcp.InitializeResult:
		seen, err := s.graph.Tools(ctx, access.ActorFrom(ctx))
		if err != nil {
			return err
		}
		list.Instructions = s.naming.text(list.Instructions, namesOf(seen))
	case *mcp.DiscoverResult:
		seen, err := s.graph.Tools(ctx, access.ActorFrom(ctx))
		if err != nil {
			return err
		}
		list.Instructions = s.naming.text(list.Instructions, namesOf(seen))
	case *mcp.ListResourcesResult:
		list.Resources = slices.DeleteFunc(list.Resources, func(r *mcp.Resource) bool { return !s.granted(ctx, s.resources[r.URI].Gates) })
	case *mcp.ListResourceTemplatesResult:
		list.ResourceTemplates = slices.DeleteFunc(list.ResourceTemplates, func(t *mcp.ResourceTemplate) bool { return !s.granted(ctx, s.templates[t.URITemplate].Gates) })
	case *mcp.ListPromptsResult:
		list.Prompts = slices.DeleteFunc(list.Prompts, func(p *mcp.Prompt) bool { return !s.granted(ctx, s.prompts[p.Name].Gates) })
	}
	return nil
}

// The members of _meta that Omnigraph adds.
const (
	metaSchema  = "omnigraph/schemaVersion"
	metaCatalog = "omnigraph/catalogVersion"
	metaCommit  = "omnigraph/commit"
)

// stamp adds the versions that tell clients when their cached data is out of date.
func (s *surface) stamp(ctx context.Context, method string, res mcp.Result) error {
	if res == nil || method == "ping" || strings.HasPrefix(method, "notifications/") {
		return nil // these results carry no metadata
	}
	schema, err := s.graph.SchemaDigest(ctx)
	if err != nil {
		return s.fail(ctx, err)
	}
	meta := mcp.Meta(res.GetMeta())
	if meta == nil {
		meta = mcp.Meta{}
	}
	meta[metaSchema], meta[metaCatalog] = schema, s.graph.CatalogDigest()
	res.SetMeta(meta)
	return nil
}

// mapped makes sure that an error from the SDK has a code. Without a code, the SDK would send
// the error with code 0 and its own text.
func (s *surface) mapped(ctx context.Context, err error) error {
	var wire *jsonrpc.Error
	if errors.As(err, &wire) {
		return err
	}
	return s.fail(ctx, err)
}

// fail reports an error that cannot be part of a tool's result.
func (s *surface) fail(ctx context.Context, err error) error {
	fault := s.graph.Report(ctx, err)
	code := int64(codeInternal)
	if !fault.Operational {
		code = codeInvalidParams
	}
	return &jsonrpc.Error{Code: code, Message: fault.Body.Error}
}

// unknown returns the error for a tool that does not exist. It also serves for a tool that the
// caller may not see, so that the two cases look the same.
func unknown(name string) error {
	return &jsonrpc.Error{Code: codeInvalidParams, Message: (&wireerror.UnknownTool{Name: name}).Error()}
}
