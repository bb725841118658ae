package server

import (
	"fmt"
	"maps"
	"slices"

	"github.com/omnigraph-go/omnigraph/server/auth"
	"github.com/omnigraph-go/omnigraph/server/cluster"
	"github.com/omnigraph-go/omnigraph/server/guard"
	"github.com/omnigraph-go/omnigraph/server/policy"
)

// identity sets up who says whom a request is from. A nil gate lets everybody through.
func (s *Server) identity(o *Options, mode auth.Mode) (*auth.Gate, error) {
	if mode == auth.Unauthenticated {
		return nil, nil
	}
	gate := &auth.Gate{Log: o.Log, Verifiers: []auth.Verifier{o.Tokens}, Now: o.Now}
	c := o.Cluster.Server.OIDC
	if c == nil {
		return gate, nil
	}
	host := ""
	switch hosts := o.Cluster.Server.PublicHosts; {
	case len(hosts) > 0:
		host = hosts[0]
	case !guard.IsLoopbackBind(o.Bind):
		return nil, &auth.StartError{
			Found: fmt.Sprintf("there is an issuer of tokens, and clients that reach %s could not be told by what name to ask it for one", o.Bind),
			Fix:   "list that host under server.public_hosts in cluster.yaml",
		}
	}
	if mode == auth.Governed {
		if err := checkGroups(o); err != nil {
			return nil, err
		}
	}
	options := auth.OIDCOptions{
		Issuer: c.Issuer, Audiences: c.Audiences, ActorClaim: c.ActorClaim, ActorPrefix: c.ActorPrefix,
		GroupsClaim: c.GroupsClaim, Groups: slices.Sorted(maps.Keys(c.TokenGroups())), Log: o.Log, Now: o.Now,
	}
	// Actors are one namespace. Whoever may choose a name at the issuer must not choose
	// that of a bot here, or of a request that nobody vouches for.
	options.Reserved = func(actor string) bool {
		return actor == auth.Anonymous || !c.SharedActors && o.Tokens.Names(actor)
	}
	s.oidc = auth.NewOIDC(options)
	// A text that is a static token is one, whatever it looks like.
	gate.Verifiers = append(gate.Verifiers, s.oidc)
	gate.Metadata = &auth.Metadata{Issuer: c.Issuer, PublicHost: host, Graph: cluster.IsGraphID}
	return gate, nil
}

// checkGroups holds that each group which tokens map to is one of some policy. Each
// policy by itself takes those that it does not know for another's.
func checkGroups(o *Options) error {
	var known []string
	read := func(file, graph string) error {
		if file == "" {
			return nil
		}
		p, err := policy.Read(file, policy.Options{
			Graph: graph, Graphs: o.Cluster.PolicyGraphs(file), AnyQuery: true,
			TokenGroups: o.Cluster.Server.OIDC.TokenGroups(), LooseGroups: true,
		})
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
	return o.Cluster.Server.OIDC.CheckGroups(slices.Compact(known))
}
