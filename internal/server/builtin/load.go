package builtin

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/jsonschema"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/encoding"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/queryrun"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// loadArgs are the arguments of graph_load.
type loadArgs struct {
	Data   string  `json:"data" jsonschema_description:"Lines of NDJSON."`
	Mode   string  `json:"mode" jsonschema:"enum=merge,enum=patch,enum=append,enum=overwrite,enum=sync" jsonschema_description:"If it exists: merge replaces, patch sets what a line has, append fails. overwrite first removes its types. sync patches, and lets go what source lost."`
	From   *string `json:"from,omitempty" jsonschema_description:"Copy a missing branch from this one."`
	Branch *string `json:"branch,omitempty" jsonschema_description:"Default main."`

	Source         *string  `json:"source,omitempty" jsonschema_description:"For sync: its name."`
	Types          []string `json:"types,omitempty" jsonschema_description:"For sync: delete in these."`
	Yield          []string `json:"yield,omitempty" jsonschema_description:"For sync: Type.property others own."`
	Cascade        *bool    `json:"cascade,omitempty" jsonschema_description:"For sync: delete edges of others too."`
	ApproveDeletes *int32   `json:"approve_deletes,omitempty" jsonschema:"minimum=0" jsonschema_description:"For sync: as its error says."`
	writeOptions
}

// load returns the tool graph_load.
func load() tool.Tool {
	return &builtin{
		desc: &tool.Descriptor{
			Name:  "graph_load",
			Title: "Load data",
			Description: "Loads or imports many records at once, nodes and edges as NDJSON, also into a new branch, as one commit or none. An example:\n\n" +
				"{\"type\":\"Person\",\"data\":{\"name\":\"ada\",\"age\":36}}\n" +
				"{\"edge\":\"Knows\",\"from\":\"ada\",\"to\":\"bob\",\"data\":{\"since\":\"2024-05-01\"}}\n\n" +
				"from and to are node ids, or {type, id} at an interface; a node with a key has its key as id.",
			InputSchema:  jsonschema.Input(reflect.TypeFor[loadArgs]()),
			OutputSchema: jsonschema.Output(reflect.TypeFor[encoding.LoadResult]()),
			Destructive:  true,
		},
		gates: gate(tool.Change),
		decode: func(args json.RawMessage) (tool.Call, error) {
			o := arguments.Members(args)
			data := o.String("data")
			mode, _ := engine.ParseLoadMode(o.Enum("mode", engine.Merge.String(), engine.Patch.String(), engine.Append.String(), engine.Overwrite.String(), engine.Sync.String()))
			c := &operations.Load{Data: strings.NewReader(data), Mode: mode, Branch: named(o, "branch"), Options: queryrun.WriteOptions(o)}
			c.Sync = engine.SyncOptions{Source: orEmpty(o.OptString("source")), Types: o.OptStrings("types"), Yield: o.OptStrings("yield")}
			if v := o.OptBool("cascade"); v != nil {
				c.Sync.Cascade = *v
			}
			if v := o.OptI32("approve_deletes"); v != nil {
				c.Sync.ApproveDeletes = int64(*v)
			}
			from := named(o, "from")
			switch {
			case from == "":
				return c, o.Done()
			case c.Branch == "":
				o.Fail("from", "found a branch to start from, but no branch to create", "set branch to the name of the branch to create")
			}
			return &operations.LoadFrom{Load: c, From: from}, o.Done()
		},
	}
}
