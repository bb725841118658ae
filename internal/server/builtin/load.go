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
	Data   string  `json:"data" jsonschema_description:"The lines of NDJSON as one string, with a line feed after each."`
	Mode   string  `json:"mode" jsonschema:"enum=merge,enum=append,enum=overwrite" jsonschema_description:"merge replaces entities that exist, append fails on them, overwrite first removes every entity of the types that occur in the data."`
	From   *string `json:"from,omitempty" jsonschema_description:"The branch to make branch from, if it does not exist. It is gone again when the load fails."`
	Branch *string `json:"branch,omitempty" jsonschema_description:"The branch to load into; main when it is left out."`
	writeOptions
}

// load returns the tool graph_load.
func load() tool.Tool {
	return &builtin{
		desc: &tool.Descriptor{
			Name:  "graph_load",
			Title: "Load data",
			Description: "Loads nodes and edges as NDJSON, one object a line, as one commit or not at all. An example, of a graph with nodes Person and edges Knows:\n\n" +
				"{\"type\":\"Person\",\"data\":{\"name\":\"ada\",\"age\":36}}\n" +
				"{\"edge\":\"Knows\",\"from\":\"ada\",\"to\":\"bob\",\"data\":{\"since\":\"2024-05-01\"}}\n\n" +
				"from and to are node ids; the id of a node with a key is its key. Lines may come in any order. " +
				"If any line is bad, nothing is loaded; the error lists up to a hundred bad lines with number, member and reason. " +
				"Use it instead of many inserts with graph_mutate.",
			InputSchema:  jsonschema.Input(reflect.TypeFor[loadArgs]()),
			OutputSchema: jsonschema.Output(reflect.TypeFor[encoding.LoadResult]()),
			Destructive:  true,
		},
		gates: gate(tool.Change),
		decode: func(args json.RawMessage) (tool.Call, error) {
			o := arguments.Members(args)
			data := o.String("data")
			mode, _ := engine.ParseLoadMode(o.Enum("mode", engine.Merge.String(), engine.Append.String(), engine.Overwrite.String()))
			c := &operations.Load{Data: strings.NewReader(data), Mode: mode, Branch: orEmpty(o.OptString("branch")), Options: queryrun.WriteOptions(o)}
			from := orEmpty(o.OptString("from"))
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
