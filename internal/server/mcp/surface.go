package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/internal/jsonschema"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// surface is what a graph offers over MCP. All callers share it; each caller sees the part that
// the policy allows.
type surface struct {
	graph     *servedgraph.Graph // runs the calls
	redaction *redaction         // removes names of tools that a caller may not see

	tools    map[*tool.Descriptor]*mcp.Tool // in the form of the SDK
	names    map[string]bool                // the names of the graph's tools
	confirms map[string]bool                // the names of those whose calls may need a confirmation
	encoded  map[*mcp.Tool][]byte           // the JSON of the tools, which does not change

	skills skillCache // the skills that callers have read

	// The graph's own resources and prompts, and everything from the options.
	own       index[Tool]     // the tools from the options, by name
	resources index[Resource] // the resources by URI
	templates index[template] // the templates by URI template
	prompts   index[Prompt]   // the prompts by name

	implementation *mcp.Implementation // name and version of the server
	serverInfo     []byte              // the JSON of implementation
}

// newSurface returns the surface of a graph, with the additional tools and resources of the
// options.
func newSurface(g *servedgraph.Graph, opts Options) *surface {
	s := &surface{
		graph: g, redaction: newRedaction(g.Descriptors()),
		tools: map[*tool.Descriptor]*mcp.Tool{}, names: map[string]bool{}, confirms: map[string]bool{}, encoded: map[*mcp.Tool][]byte{},
		implementation: &mcp.Implementation{Name: "omnigraph", Title: "Omnigraph", Version: g.Version()},
	}
	for _, d := range g.Descriptors() {
		s.tools[d], s.names[d.Name] = s.encode(s.describe(d)), true
	}
	for _, d := range g.Variants() {
		s.tools[d] = s.encode(s.describe(d))
	}
	s.register(opts)
	var err error
	if s.serverInfo, err = encoding.JSON(s.implementation); err != nil {
		panic(err) // strings always encode
	}
	return s
}

// toolOf returns a tool of the graph in the form of the SDK. A caller who may see a part of the graph only has descriptors of its own.
func (s *surface) toolOf(d *tool.Descriptor) *mcp.Tool {
	if t := s.tools[d]; t != nil {
		return t
	}
	return s.describe(d)
}

// encode keeps the JSON of a tool and returns the tool. It panics if the input schema is not a
// JSON Schema of an object.
func (s *surface) encode(t *mcp.Tool) *mcp.Tool {
	b, err := encoding.JSON(t)
	if err != nil {
		panic(fmt.Sprintf("mcp: tool %s: %v", t.Name, err))
	}
	var wire struct {
		InputSchema struct {
			Type any `json:"type"`
		} `json:"inputSchema"`
	}
	if err := json.Unmarshal(b, &wire); err != nil || wire.InputSchema.Type != "object" {
		panic(fmt.Sprintf("mcp: tool %s: the input schema is not the schema of an object", t.Name))
	}
	s.encoded[t] = b
	return t
}

// describe returns the description of a tool of the graph. If calls of the tool may need a confirmation,
// it has the argument confirm. It panics if the input schema has no properties.
func (s *surface) describe(d *tool.Descriptor) *mcp.Tool {
	t := describe(d, s.graph.OutputSchemas(), s.graph.ObjectRows())
	if s.graph.FlatArguments() && s.graph.IsStored(d.Name) {
		t.InputSchema = jsonschema.Flat(t.InputSchema.(json.RawMessage), arguments.Options, queryrun.OptionNames)
	}
	if !s.graph.Confirms(d) {
		return t
	}
	schema, err := withConfirm(t.InputSchema.(json.RawMessage))
	if err != nil {
		panic(fmt.Sprintf("mcp: tool %s: %v", d.Name, err))
	}
	if t.InputSchema = schema; !s.confirms[d.Name] { // set before the first call
		s.confirms[d.Name] = true
	}
	return t
}

// describe returns the description of a tool that clients receive. The description includes the
// output schema only if outputSchemas is true; objectRows says that rows are objects. Each client sends the list of tools to its model, so
// describe states each thing once: the annotations have no title of their own.
func describe(d *tool.Descriptor, outputSchemas, objectRows bool) *mcp.Tool {
	destructive, openWorld := d.Destructive, false
	t := &mcp.Tool{
		Name: d.Name, Title: d.Title, Description: d.Description, InputSchema: bare(d.InputSchema),
		Annotations: &mcp.ToolAnnotations{
			ReadOnlyHint: d.ReadOnly, DestructiveHint: &destructive,
			IdempotentHint: d.Idempotent, OpenWorldHint: &openWorld,
		},
	}
	if outputSchemas && d.OutputSchema != nil {
		t.OutputSchema = d.OutputSchema
		if !objectRows {
			t.OutputSchema = jsonschema.ArrayRows(d.OutputSchema)
		}
	}
	return t
}

// The members of _meta that Omnigraph adds.
const (
	metaSchema  = "omnigraph/schemaVersion"  // digest of the schema
	metaCatalog = "omnigraph/catalogVersion" // digest of the descriptors of all tools
	metaCommit  = "omnigraph/commit"         // id of the commit that was read or written

	// metaAtLeast is the name of a member that clients send. Its value is the id of a commit that
	// the server must know before it answers, or "latest".
	metaAtLeast = "omnigraph/atLeast"
)

// stamp adds to a result the versions that tell clients when their cached data is out of date.
// A nil result carries no metadata.
func (s *surface) stamp(ctx context.Context, res mcp.Result) error {
	if res == nil {
		return nil
	}
	schema, err := s.graph.SchemaDigest(ctx)
	if err != nil {
		return err
	}
	if a, ok := res.(*toolAnswer); ok {
		a.schema, a.catalog = schema, s.graph.CatalogDigest()
		return nil
	}
	meta := mcp.Meta(res.GetMeta())
	if meta == nil {
		meta = mcp.Meta{}
	}
	meta[metaSchema], meta[metaCatalog] = schema, s.graph.CatalogDigest()
	res.SetMeta(meta)
	return nil
}
