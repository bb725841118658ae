package builtin

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/omnigraph-go/omnigraph/internal/gq/guide"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// The defaults and the maxima of the arguments of type_path.
const (
	defaultHops, maxHops   = 4, 8    // edges of a path
	defaultPaths, maxPaths = 10, 100 // paths of an answer
)

// pathArgs are the arguments of type_path.
type pathArgs struct {
	From    string  `json:"from" jsonschema_description:"Node type."`
	To      string  `json:"to" jsonschema_description:"Node type."`
	MaxHops *int32  `json:"max_hops,omitempty" jsonschema:"minimum=1,maximum=8" jsonschema_default:"4" jsonschema_description:"Edges of a path."`
	Limit   *int32  `json:"limit,omitempty" jsonschema:"minimum=1,maximum=100" jsonschema_default:"10"`
	Branch  *string `json:"branch,omitempty" jsonschema_description:"Default main."`
}

// PathsAnswer is the answer of type_path.
type PathsAnswer struct {
	From  string       `json:"from"` // the node type at the start
	To    string       `json:"to"`
	Paths []PathAnswer `json:"paths" jsonschema_description:"The shortest first."`
	More  bool         `json:"more" jsonschema_description:"There are, or may be, others within max_hops."`
}

// PathAnswer is a path between two types.
type PathAnswer struct {
	Hops  int      `json:"hops"` // number of edges
	Edges []string `json:"edges" jsonschema_description:"The edge types in order; < in front of one that is followed from its target to its source."`
	Match string   `json:"match" jsonschema_description:"The clauses to put between the braces of match."`
}

// typePath returns the tool type_path.
func typePath() tool.Tool {
	return &builtin{
		desc: reader[pathArgs, PathsAnswer](tool.Descriptor{
			Name:        "type_path",
			Title:       "Paths between types",
			Description: "Finds how two node types are linked: the edges that lead from one to another, in either direction, the shortest path first, as clauses to paste into a match.",
		}),
		gates: gate(tool.Read),
		decode: func(args json.RawMessage) (tool.Call, error) {
			o := arguments.Members(args)
			from, to := o.String("from"), o.String("to")
			hops, limit := within(o, "max_hops", defaultHops, maxHops), within(o, "limit", defaultPaths, maxPaths)
			branch := named(o, "branch")
			if err := o.Done(); err != nil {
				return nil, err
			}
			return readsBranch(branch, "set a smaller limit or max_hops", func(ctx context.Context, env *tool.Env, branch tool.Branch) (any, string, error) {
				s, err := env.Graph.Schema(ctx, branch.At())
				if err != nil {
					return nil, "", err
				}
				for _, end := range []struct{ path, name string }{{"from", from}, {"to", to}} {
					if s.Catalog.Node(end.name) == nil {
						return nil, "", noType(end.path, end.name, s.Catalog, false)
					}
				}
				paths, more, err := guide.PathsWithin(ctx, s.Catalog, from, to, hops, limit)
				if err != nil {
					return nil, "", err
				}
				a := &PathsAnswer{From: from, To: to, Paths: make([]PathAnswer, len(paths)), More: more}
				for i, p := range paths {
					a.Paths[i] = PathAnswer{Hops: len(p.Steps), Edges: make([]string, len(p.Steps)), Match: p.Match}
					for j, step := range p.Steps {
						a.Paths[i].Edges[j] = step.Edge.Name
						if step.Backward {
							a.Paths[i].Edges[j] = "<" + step.Edge.Name
						}
					}
				}
				return a, "", nil
			}), nil
		},
	}
}

// within reads an optional number between 1 and the limit `most`. If the number is absent, it
// returns the default in `otherwise`.
func within(o *arguments.Object, name string, otherwise, most int) int {
	n := o.OptI32(name)
	if n == nil {
		return otherwise
	}
	if *n < 1 || int(*n) > most {
		o.Fail(name, fmt.Sprintf("found %d, expected 1 to %d", *n, most), "")
	}
	return int(*n)
}
