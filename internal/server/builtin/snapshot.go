package builtin

import (
	"context"

	"github.com/omnigraph-go/omnigraph/engine"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// GraphSnapshotResult is the answer of graph_snapshot.
type GraphSnapshotResult struct {
	Branch        string        `json:"branch"` // name of the branch
	GraphCommitID string        `json:"graph_commit_id" jsonschema_description:"The commit at the head of the branch."`
	SchemaDigest  string        `json:"schema_digest"` // of the schema at Commit
	Nodes         []CountAnswer `json:"nodes" jsonschema_description:"The number of nodes of each type, in schema order."`
	Edges         []CountAnswer `json:"edges" jsonschema_description:"The number of edges of each type, in schema order."`
}

// CountAnswer is the number of entities of a type.
type CountAnswer struct {
	Type  string `json:"type"`  // name of the type
	Count int64  `json:"count"` // number of entities
}

// snapshot returns the tool graph_snapshot.
func snapshot() tool.Tool {
	return &builtin{
		desc: reader[branchArgs, GraphSnapshotResult](tool.Descriptor{
			Name:        "graph_snapshot",
			Title:       "Graph snapshot",
			Description: "Returns the current version of a branch, its last commit, to pin several reads to one point in time, so that results do not change while others write; and its number of nodes and edges, or rows, of each type right now.",
		}),
		gates: gate(tool.Read),
		decode: onBranch("", func(ctx context.Context, env *tool.Env, branch tool.Branch) (any, string, error) {
			s, err := env.Graph.Snapshot(ctx, branch.At())
			if err != nil {
				return nil, "", err
			}
			answer := &GraphSnapshotResult{
				Branch: branch.Name(), GraphCommitID: s.Commit.ID, SchemaDigest: s.Commit.Schema,
				Nodes: counts(s.Nodes), Edges: counts(s.Edges),
			}
			return answer, s.Commit.ID, nil
		}),
	}
}

// counts returns numbers of entities in the form of the answer.
func counts(types []engine.TypeCount) []CountAnswer {
	answer := make([]CountAnswer, len(types))
	for i, t := range types {
		answer[i] = CountAnswer(t)
	}
	return answer
}
