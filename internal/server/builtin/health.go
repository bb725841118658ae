package builtin

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// noArgs are the arguments of a tool without arguments.
type noArgs struct{}

// HealthAnswer is the answer of graph_health.
type HealthAnswer struct {
	Status       string `json:"status" jsonschema:"enum=ok,enum=failing" jsonschema_description:"ok; failing while writes are refused because the storage of the graph fails, which the server mends by itself once it can. A graph that cannot be read answers with an error."`
	Reason       string `json:"reason,omitempty" jsonschema_description:"Why it is failing."`
	Version      string `json:"version" jsonschema_description:"The version of the server."`
	SchemaDigest string `json:"schema_digest" jsonschema_description:"Changes when the schema does, layout and comments aside."`
}

// health returns the tool graph_health.
func health(version string) tool.Tool {
	return &builtin{
		desc: reader[noArgs, HealthAnswer](tool.Descriptor{
			Name:        "graph_health",
			Title:       "Graph health",
			Description: "Reports the health of the database (db): whether it is up, whether it currently saves writes or is read-only, the version of the server, and the digest of the schema.",
		}),
		decode: func(args json.RawMessage) (tool.Call, error) {
			if err := arguments.NoMembers(args); err != nil {
				return nil, err
			}
			return &call{run: func(ctx context.Context, env *tool.Env) (any, string, error) {
				s, err := env.Graph.Schema(ctx, engine.Target{})
				if err != nil {
					return nil, "", err
				}
				a := &HealthAnswer{Status: "ok", Version: version, SchemaDigest: s.Digest}
				if err := env.Graph.Failure(); err != nil {
					a.Status, a.Reason = "failing", "writes are refused"
					var u *engine.Unavailable
					if errors.As(err, &u) { // the rest of the error may name files of the server
						a.Reason += ": " + u.Reason
					}
				}
				return a, "", nil
			}}, nil
		},
	}
}
