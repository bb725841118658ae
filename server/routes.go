package server

import (
	"net/http"

	"github.com/omnigraph-go/omnigraph/server/auth"
	"github.com/omnigraph-go/omnigraph/server/mcp"
	"github.com/omnigraph-go/omnigraph/server/rest"
	"github.com/omnigraph-go/omnigraph/server/service"
)

// routes puts authentication in front of both transports; /healthz alone is open.
func routes(o *Options, mode auth.Mode, graphs []*service.Graph, overall service.Authorizer) http.Handler {
	byID := make(map[string]*service.Graph, len(graphs))
	inner := http.NewServeMux()
	for _, g := range graphs {
		byID[g.ID()] = g
		inner.Handle("/graphs/"+g.ID()+"/mcp", mcp.Handler(g, mcp.Options{}))
	}
	overREST := rest.Handler(byID, rest.Options{Server: overall, Logger: o.Log})
	inner.Handle("/", overREST)

	outer := http.NewServeMux()
	outer.Handle("/healthz", overREST)
	if mode == auth.Unauthenticated {
		outer.Handle("/", auth.Open(inner))
	} else {
		outer.Handle("/", auth.Require(inner, o.Log, o.Tokens))
	}
	return outer
}
