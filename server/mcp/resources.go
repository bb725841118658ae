package mcp

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/server/service"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

const (
	schemaURI   = "omnigraph://schema"
	branchesURI = "omnigraph://branches"
)

// graphResources are the resources of every graph. Who may read main may read them.
func (s *surface) graphResources() []Resource {
	gates := []tool.Grant{{Action: tool.Read, Via: tool.AdHoc}}
	return []Resource{
		{Gates: gates, Read: s.readSchema, Info: &mcp.Resource{
			URI: schemaURI, Name: "schema", Title: "Schema", MIMEType: "text/plain",
			Description: "The source of the graph's schema on main: node and edge types, properties, constraints.",
		}},
		{Gates: gates, Read: s.readBranches, Info: &mcp.Resource{
			URI: branchesURI, Name: "branches", Title: "Branches", MIMEType: "application/json",
			Description: "The names of the graph's branches.",
		}},
	}
}

func (s *surface) readSchema(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	schema, err := s.graph.Schema(ctx, service.ActorFrom(ctx), "")
	if err != nil {
		return nil, masked(req.Params.URI, err)
	}
	return text(schema.Source), nil
}

func (s *surface) readBranches(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	branches, err := s.graph.Branches(ctx, service.ActorFrom(ctx))
	if err != nil {
		return nil, masked(req.Params.URI, err)
	}
	names := make([]string, len(branches))
	for i, b := range branches {
		names[i] = b.Name
	}
	b, err := service.JSON(map[string][]string{"branches": names})
	if err != nil {
		return nil, err
	}
	return text(string(b)), nil
}

func text(s string) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Text: s}}}
}

// masked answers for a resource that the caller may not read as for one that does not
// exist.
func masked(uri string, err error) error {
	var forbidden *service.Forbidden
	if errors.As(err, &forbidden) {
		return mcp.ResourceNotFoundError(uri)
	}
	return err
}
