package server

import (
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"

	"github.com/omnigraph-go/omnigraph/server/auth"
	"github.com/omnigraph-go/omnigraph/server/envelope"
	"github.com/omnigraph-go/omnigraph/server/mcp"
	"github.com/omnigraph-go/omnigraph/server/rest"
	"github.com/omnigraph-go/omnigraph/server/service"
)

// routes puts authentication in front of both transports; /healthz alone is open.
func routes(o *Options, mode auth.Mode, graphs []*service.Graph, overall service.Authorizer) http.Handler {
	byID := make(map[string]*service.Graph, len(graphs))
	overMCP := make(map[string]http.Handler, len(graphs))
	for _, g := range graphs {
		byID[g.ID()] = g
		var surface mcp.Options
		if o.Surface != nil {
			surface = o.Surface(g)
		}
		overMCP["/graphs/"+url.PathEscape(g.ID())+"/mcp"] = mcp.Handler(g, surface)
	}
	overREST := rest.Handler(byID, rest.Options{Server: overall, SchemasFixed: service.FixedByCluster, Logger: o.Log})
	// No ServeMux here: it would answer some requests before anybody was asked who they
	// are from.
	var known http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h, ok := overMCP[r.URL.EscapedPath()]; ok {
			h.ServeHTTP(w, r)
			return
		}
		overREST.ServeHTTP(w, r)
	})
	if mode == auth.Unauthenticated {
		known = auth.Open(known)
	} else {
		known = auth.Require(known, o.Log, o.Tokens)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" {
			overREST.ServeHTTP(w, r)
			return
		}
		known.ServeHTTP(w, r)
	})
}

// recovered answers a panic that nothing inside of next recovered from. The transports
// recover from those in a call, and say which graph it was.
func recovered(next http.Handler, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			if p == http.ErrAbortHandler {
				panic(p)
			}
			envelope.Write(w, service.Report(r.Context(), log, &service.Panic{Value: p, Stack: debug.Stack()}))
		}()
		next.ServeHTTP(w, r)
	})
}
