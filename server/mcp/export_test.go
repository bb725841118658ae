package mcp

import (
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnigraph-go/omnigraph/server/servedgraph"
)

// Both returns the handler of a graph, and the SDK's own handler over the same server.
func Both(g *servedgraph.Graph, opts Options) (own, stock http.Handler) {
	h := &handler{newSurface(g, opts), defaultMaxBody}
	return h, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return h.surface.server },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, DisableLocalhostProtection: true})
}
