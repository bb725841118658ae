package server

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/auth"
	"github.com/omnigraph-go/omnigraph/internal/server/internal/envelope"
	"github.com/omnigraph-go/omnigraph/internal/server/mcp"
	"github.com/omnigraph-go/omnigraph/internal/server/operations"
	"github.com/omnigraph-go/omnigraph/internal/server/rest"
	"github.com/omnigraph-go/omnigraph/internal/server/servedgraph"
	"github.com/omnigraph-go/omnigraph/internal/server/wireerror"
	"github.com/omnigraph-go/omnigraph/internal/studio"
)

// routes puts authentication in front of both transports. /healthz, the metadata about the token
// issuer and the files of the studio need no authentication; /readyz accepts requests without
// credentials. Without an authenticator, routes authenticates nothing. Streams of events end with the context `streams`.
func (s *Server) routes(o *Options, b *boot, overall access.Authorizer, streams context.Context) (http.Handler, error) {
	authenticator := s.authenticator
	pages, err := studioOf(o, authenticator)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]*servedgraph.Graph, len(b.served))
	overMCP := make(map[string]http.Handler, len(b.served))
	for _, g := range b.served {
		byID[g.ID()] = g
		var surface mcp.Options
		if o.Surface != nil {
			surface = o.Surface(g)
		}
		surface.Forward, surface.Stopping = s.forwarding(g.ID()), streams
		overMCP["/graphs/"+url.PathEscape(g.ID())+"/mcp"] = mcp.Handler(g, surface)
	}
	stores, err := s.uploadsOf(o)
	if err != nil {
		return nil, err
	}
	overREST := byPattern(rest.Handler(byID, rest.Options{
		Server: overall, SchemasFixed: operations.FixedByCluster, Version: o.Version, SourceVersion: o.SourceVersion, Logger: o.Log,
		Forward: s.forwardOverREST(b.served), Uploads: stores, Stopping: streams, Now: o.Now,
	}))
	ready := rest.Ready(s.readiness, overall)
	// Do not use a ServeMux here: it would answer some requests before they are authenticated.
	var known http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h, ok := overMCP[r.URL.EscapedPath()]; ok {
			recordRoute(r, mcpRoute)
			h.ServeHTTP(w, r)
			return
		}
		overREST.ServeHTTP(w, r)
	})
	watched := map[string]http.Handler{metricsRoute: requireGraphList(s.metrics.Handler(), overall), readyPath: ready}
	if o.Dev != nil {
		watched[studio.FaultsPath] = o.Dev
	}
	known = withActor(b.refuse(s.tellAge(known)), s.limit, watched)
	if authenticator == nil {
		known = auth.Open(known)
	} else {
		known = authenticator.Require(known)
		if authenticator.Metadata != nil {
			known = authenticator.Metadata.Wrap(known)
		}
	}
	known = s.keepAuthorization(known)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" {
			overREST.ServeHTTP(w, r)
			return
		}
		if r.URL.Path == readyPath && authenticator != nil && r.Header.Get("Authorization") == "" {
			recordRoute(r, readyPath)
			ready.ServeHTTP(w, r)
			return
		}
		if pages != nil && onStudio(r.URL.Path) && watched[r.URL.Path] == nil {
			recordRoute(r, studio.Path)
			pages.ServeHTTP(w, r)
			return
		}
		known.ServeHTTP(w, r)
	}), nil
}

// studioOf returns the handler of the studio, or nil if the configuration does not turn it on.
func studioOf(o *Options, authenticator *auth.Authenticator) (http.Handler, error) {
	if !o.Cluster.Server.Studio {
		return nil, nil
	}
	var login *studio.Login
	if oidc := o.Cluster.Server.OIDC; authenticator != nil && oidc != nil && oidc.Studio != nil {
		login = &studio.Login{Issuer: oidc.Issuer, ClientID: oidc.Studio.ClientID, Scopes: oidc.Studio.Scopes}
	}
	return studio.Handler(login, o.Dev != nil)
}

// onStudio reports whether a path belongs to the studio. The path of the studio without its last
// slash belongs to it too.
func onStudio(path string) bool {
	return strings.HasPrefix(path, studio.Path) || path == strings.TrimSuffix(studio.Path, "/")
}

// byPattern records the pattern that a ServeMux inside the handler `next` has set, even when that
// handler aborts the connection with a panic.
func byPattern(next http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		defer func() { recordRoute(r, r.Pattern) }()
		next.ServeHTTP(w, r)
	}
}

// recovered answers with an internal error when a handler panics. The transports themselves
// recover from panics within a call, and name the graph in the report.
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
			envelope.Write(w, wireerror.Report(r.Context(), log, &wireerror.Panic{Value: p, Stack: debug.Stack()}))
		}()
		next.ServeHTTP(w, r)
	})
}
