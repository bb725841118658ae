package builtin

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/source/codegraph"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// indexArgs are the arguments of code_index.
type indexArgs struct {
	Dir    string  `json:"dir" jsonschema_description:"Folder of the module on the server."`
	Deps   *bool   `json:"deps,omitempty" jsonschema_description:"Also read the packages that it depends on; this takes minutes and much memory."`
	Mode   *string `json:"mode,omitempty" jsonschema:"enum=merge,enum=overwrite" jsonschema_description:"merge, the default, keeps symbols that are no longer in the code; overwrite removes them."`
	Branch *string `json:"branch,omitempty" jsonschema_description:"Default main."`
}

// CodeReader reads the Go module in a folder, and its dependencies too if deps is set.
type CodeReader func(ctx context.Context, dir string, deps bool) (*codegraph.Graph, error)

// codeIndex returns the tool code_index.
func codeIndex(read CodeReader) tool.Tool {
	return &builtin{
		desc: writer[indexArgs, encoding.LoadResult](tool.Descriptor{
			Name:  "code_index",
			Title: "Index Go code",
			Description: "Reads a Go module into the graph, as one commit: modules, packages, files and symbols, with their calls, imports and implementations. " +
				"The graph needs the schema of the code graph. An example: {\"dir\": \".\", \"mode\": \"overwrite\"}.",
			Destructive: true,
		}),
		gates: gate(tool.Change),
		decode: func(args json.RawMessage) (tool.Call, error) {
			o := arguments.Members(args)
			c := &indexCall{
				read: read, dir: o.String("dir"), deps: isTrue(o.OptBool("deps")),
				load: operations.Load{},
			}
			if mode := o.OptEnum("mode", engine.Merge.String(), engine.Overwrite.String()); mode != nil {
				c.load.Mode, _ = engine.ParseLoadMode(*mode)
			}
			c.load.Branch = named(o, "branch")
			return c, o.Done()
		},
	}
}

// indexCall reads a Go module and loads its code graph.
type indexCall struct {
	read CodeReader
	dir  string          // folder of the module
	deps bool            // whether to read its dependencies too
	load operations.Load // how to load it
}

// Needs implements [tool.Call].
func (c *indexCall) Needs() []tool.Need { return c.load.Needs() }

// NoTimeLimit exempts the call from the server's time limit.
func (c *indexCall) NoTimeLimit() {}

// LogArguments returns the arguments of the call for the log.
func (c *indexCall) LogArguments() [][]byte {
	return [][]byte{[]byte(c.load.Mode.String()), []byte(c.dir), strconv.AppendBool(nil, c.deps)}
}

// Run implements [tool.Call].
func (c *indexCall) Run(ctx context.Context, env *tool.Env) (*tool.Outcome, error) {
	s, err := env.Graph.Schema(ctx, env.Branch(c.load.Branch).At())
	if err != nil {
		return nil, err
	}
	if s.Catalog.Node("Symbol") == nil {
		return nil, &tool.ArgumentError{Path: "branch", Detail: "the graph has no node type Symbol, so it is not a code graph", Help: "create a code graph with omnigraph init --schema queries/code/schema.pg"}
	}
	g, err := c.read(ctx, c.dir, c.deps)
	if err != nil {
		if ctx.Err() == nil {
			return nil, &tool.ArgumentError{Path: "dir", Detail: err.Error(), Help: "name the folder of a Go module that builds"}
		}
		return nil, err
	}
	var ndjson bytes.Buffer
	if _, err := g.WriteNDJSON(&ndjson); err != nil {
		return nil, err
	}
	load := c.load
	load.Data = &ndjson
	return load.Run(ctx, env)
}
