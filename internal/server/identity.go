package server

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
	"github.com/omnigraph-go/omnigraph/internal/server/auth"
	"github.com/omnigraph-go/omnigraph/internal/server/cluster"
	"github.com/omnigraph-go/omnigraph/internal/server/hostcheck"
	"github.com/omnigraph-go/omnigraph/internal/server/policy"
)

// identity returns the authenticator of the server. In the unauthenticated mode all requests pass,
// and the authenticator is nil.
func (s *Server) identity(o *Options, mode auth.Mode) (*auth.Authenticator, error) {
	if mode == auth.Unauthenticated {
		return nil, nil
	}
	authenticator := &auth.Authenticator{Log: o.Log, Verifiers: []auth.Verifier{o.Tokens}, Now: o.Now}
	if s.strangers != nil {
		authenticator.Refused = func(r *http.Request) { unidentified(s, r) }
	}
	methods := o.Cluster.Server.Methods()
	if mode == auth.Governed && len(methods) > 0 {
		if err := checkGroups(o); err != nil {
			return nil, err
		}
	}
	// Static tokens come first: a text that is a static token counts as one even if it looks like a
	// token of another method.
	for _, m := range methods {
		switch m := m.(type) {
		case *cluster.OIDC:
			if err := s.acceptOIDC(authenticator, o, m); err != nil {
				return nil, err
			}
		default:
			panic(fmt.Sprintf("the authentication method %T has no verifier", m))
		}
	}
	return authenticator, nil
}

// acceptOIDC adds the verifier of an issuer to the authenticator, and the metadata that leads
// clients to the issuer.
func (s *Server) acceptOIDC(authenticator *auth.Authenticator, o *Options, c *cluster.OIDC) error {
	host := ""
	switch hosts := o.Cluster.Server.PublicHosts; {
	case len(hosts) > 0:
		host = hosts[0]
	case !hostcheck.IsLoopbackBind(o.Bind):
		return &auth.StartError{
			Found: fmt.Sprintf("cluster.yaml names an issuer of tokens, but the server at %s cannot tell clients its public name, which they need to request a token", o.Bind),
			Fix:   "list that name under server.public_hosts in cluster.yaml",
		}
	}
	groups := make([]string, len(c.Groups))
	for i, g := range c.Groups {
		groups[i] = g.Token
	}
	slices.Sort(groups)
	known := map[string]auth.Claim{}
	for name, inToken := range c.Claims {
		known[name] = auth.Claim{Name: inToken, Type: o.Cluster.Server.Claims[name]}
	}
	var names []string
	var narrowing []access.Scope
	for _, sc := range c.Scopes {
		names = append(names, sc.Name)
		if sc.Actions != nil {
			narrowing = append(narrowing, access.Scope{Name: sc.Name, Actions: sc.Actions})
		}
	}
	v := auth.NewOIDC(auth.OIDCOptions{
		Issuer: c.Issuer, Audiences: c.Audiences, ActorClaim: c.ActorClaim, ActorPrefix: c.ActorPrefix,
		GroupsClaim: c.GroupsClaim, Groups: groups, Claims: known, Scopes: narrowing, Log: o.Log, Now: o.Now,
		// Static tokens and the issuer share one namespace of actors. A user who can choose a name
		// at the issuer must not be able to take the name of the anonymous actor. Unless
		// SharedActors permits it, the user must not be able to take the name of a static token's
		// actor either.
		Reserved: func(actor string) bool {
			return actor == auth.Anonymous || !c.SharedActors && o.Tokens.Names(actor)
		},
	})
	s.closers = append(s.closers, v)
	authenticator.Verifiers = append(authenticator.Verifiers, v)
	authenticator.Metadata = &auth.Metadata{Issuer: c.Issuer, PublicHost: host, Scopes: names, Graph: cluster.IsGraphID}
	return nil
}

// checkGroups checks the policy groups that the configuration maps token groups to. Some policy
// must define each such group. No single policy can check this, because another policy may
// define the groups that it lacks.
func checkGroups(o *Options) error {
	var known []string
	read := func(file, graph string) error {
		if file == "" {
			return nil
		}
		options := policy.Options{
			Graph: graph, Graphs: o.Cluster.PolicyGraphs(file), AnyQuery: true,
			TokenGroups: o.Cluster.Server.TokenGroups(), LooseGroups: true,
		}
		if g := o.Cluster.Graph(graph); g != nil {
			options.Protected = g.Protected
		}
		p, err := o.policy(file, options)
		if err == nil {
			known = append(known, p.Groups()...)
		}
		return err
	}
	for i := range o.Cluster.Graphs {
		if err := read(o.Cluster.Graphs[i].Policy, o.Cluster.Graphs[i].ID); err != nil {
			return err
		}
	}
	if err := read(o.Cluster.ServerPolicy, ""); err != nil {
		return err
	}
	slices.Sort(known)
	return o.Cluster.Server.CheckGroups(slices.Compact(known))
}
