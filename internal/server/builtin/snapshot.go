package builtin

import (
	"encoding/json"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/internal/server/arguments"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
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
		decode: func(args json.RawMessage) (tool.Call, error) {
			o := arguments.Members(args)
			call := operations.LookSnapshot(named(o, "branch"), "")
			return operations.Shaped(call, func(s *client.SnapshotAnswer) any {
				return &GraphSnapshotResult{
					Branch: s.GraphBranch, GraphCommitID: s.GraphCommitID, SchemaDigest: s.SchemaDigest,
					Nodes: counts(s.Datasets, client.KindNode), Edges: counts(s.Datasets, client.KindEdge),
				}
			}), o.Done()
		},
	}
}

// counts returns the numbers of entities of the types of a kind.
func counts(types []client.Dataset, kind string) []CountAnswer {
	answer := []CountAnswer{}
	for _, t := range types {
		if t.EntityKind == kind {
			answer = append(answer, CountAnswer{Type: t.TypeName, Count: t.EntityCount})
		}
	}
	return answer
}
