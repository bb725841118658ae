package cluster

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/omnigraph-go/omnigraph/gq/plan"
	"github.com/omnigraph-go/omnigraph/internal/claims"
	"github.com/omnigraph-go/omnigraph/internal/gq/diag"
	"github.com/omnigraph-go/omnigraph/internal/server/hostcheck"
	"github.com/omnigraph-go/omnigraph/internal/strictyaml"
	"github.com/omnigraph-go/omnigraph/server/tool"
)

// Auth configures the authentication methods that a server has in addition to static tokens. A
// method is nil if cluster.yaml does not have its section.
type Auth struct {
	OIDC *OIDC // the issuer whose tokens are accepted

	// Claims are the claims of callers that queries may use, as actor().NAME: those of the section claims, and those of the methods.
	Claims plan.Claims
}

// AuthMethod is the configuration of an authentication method. It is an *OIDC.
type AuthMethod interface {
	section() string           // the key of the method below server in cluster.yaml
	tokenGroups() []TokenGroup // the groups of tokens that count in policies
}

// authSections has a row for each method.
var authSections = []struct {
	settings *strictyaml.Setting
	read     func(*reader, *strictyaml.Node)
}{
	{oidcSettings, (*reader).oidc},
}

// Methods returns the methods that cluster.yaml configures.
func (a *Auth) Methods() []AuthMethod {
	var all []AuthMethod
	if a.OIDC != nil {
		all = append(all, a.OIDC)
	}
	return all
}

// TokenGroups returns a map from the names of groups in tokens to their names in policies. It is
// nil if there is no method.
func (a *Auth) TokenGroups() map[string]string {
	var groups map[string]string
	for _, m := range a.Methods() {
		if groups == nil {
			groups = map[string]string{}
		}
		for _, g := range m.tokenGroups() {
			groups[g.Token] = g.Policy
		}
	}
	return groups
}

// EarlierAgents reports whether policies are asked about all agents of an actor, not only about the current one.
func (a *Auth) EarlierAgents() bool { return a.OIDC != nil && a.OIDC.EarlierAgents }

// CheckGroups checks the policy groups that the configuration maps token groups to. Each must be in
// `known`, the list of the groups of the cluster's policies. The error is a diag.List.
func (a *Auth) CheckGroups(known []string) error {
	var faults diag.List
	for _, m := range a.Methods() {
		for _, g := range m.tokenGroups() {
			if slices.Contains(known, g.Policy) {
				continue
			}
			help := "no policy has groups"
			if near := diag.DidYouMean(g.Policy, known); near != "" {
				help = near
			} else if len(known) > 0 {
				help = "one of " + strings.Join(known, ", ")
			}
			faults = append(faults, diag.Diagnostic{
				Code: strictyaml.UnknownName, Span: g.At, Help: help,
				Message: fmt.Sprintf("unknown group %q in %s.groups: no policy has this group", g.Policy, m.section()),
			})
		}
	}
	return faults.Err()
}

// actChain is the value of server.oidc.act that asks policies about all agents.
const actChain = "chain"

// oidcSection is the key of the OIDC settings, below server in cluster.yaml.
const oidcSection = "oidc"

// OIDC configures which issuer's tokens the server accepts, and which claims of a token it reads.
type OIDC struct {
	Issuer    string   // URL of the issuer
	Audiences []string // a token must name one of them

	// ActorClaim is the claim that names the actor. The actor is ActorPrefix, which may be "",
	// followed by that name.
	ActorClaim, ActorPrefix string

	// SharedActors allows tokens of the issuer to name actors that static tokens also name.
	SharedActors bool

	// EarlierAgents asks policies about all agents of a token, not only about the current one.
	EarlierAgents bool

	GroupsClaim string       // the claim that lists the groups of the actor
	Groups      []TokenGroup // the server ignores other groups of a token

	Claims map[string]string // the claims that queries may use, by their names in queries: their names in tokens

	Scopes []Scope // the scopes that clients are told to ask the issuer for

	Studio *StudioClient // lets users of the studio log in at the issuer; nil means that they cannot
}

// Scope is a scope of the issuer's tokens.
type Scope struct {
	Name string
	// Actions are what a token with the scope may do, as far as the policy allows it. If they are nil, the server does not
	// look for scopes in tokens; either all scopes have actions or none has.
	Actions []tool.Action
}

// StudioClient is the studio as a public client of the issuer: it has an id and no secret.
type StudioClient struct {
	ClientID string
	Scopes   []string // the scopes that the studio asks for; the first is openidScope
}

// The scopes that OpenID Connect defines for the flow of the studio.
const (
	openidScope  = "openid"         // makes the issuer send an ID token, which the studio checks
	offlineScope = "offline_access" // would make the issuer send a refresh token
)

// TokenGroup maps the name of a group in tokens to its name in policies.
type TokenGroup struct {
	Token, Policy string    // the group's name in tokens, and in policies
	At            diag.Span `json:"-"` // position of the field Policy in cluster.yaml
}

// The claims that are read if cluster.yaml does not name others.
const (
	DefaultActorClaim  = "sub"
	DefaultGroupsClaim = "groups"
)

// tokenWord matches a name in a claim of a token: printable ASCII without blanks at the ends, so
// that a log can show it unescaped.
var tokenWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(tokenWordPattern) })

// actorPrefix keeps a prefix much shorter than the longest name of an actor.
var actorPrefix = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(actorPrefixPattern) })

// scopeToken matches a scope (RFC 6749, section 3.3).
var scopeToken = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(scopePattern) })

const (
	scopePattern       = `^[!#-\[\]-~]{1,256}$`
	tokenWordPattern   = `^[!-~](?:[ -~]{0,254}[!-~])?$` // 1 to 256 characters
	actorPrefixPattern = `^[!-~]{1,32}$`
)

// section and tokenGroups make OIDC one of the methods of authentication.
func (o *OIDC) section() string           { return oidcSection }
func (o *OIDC) tokenGroups() []TokenGroup { return o.Groups }

// oidc reads the section server.oidc.
func (p *reader) oidc(n *strictyaml.Node) {
	f, ok := n.Mapping(oidcSection, oidcSettings)
	if !ok {
		return
	}
	o := &OIDC{ActorClaim: DefaultActorClaim, GroupsClaim: DefaultGroupsClaim}
	p.cfg.Server.OIDC = o
	if n := n.AtKey().Require(f, "issuer", oidcSection); n != nil {
		if s, ok := n.Text("issuer"); ok {
			o.Issuer = s
			checkIssuer(n, s)
		}
	}
	o.Audiences = audiences(n.AtKey().Require(f, "audience", oidcSection))
	claim(f["actor_claim"], "actor_claim", &o.ActorClaim)
	claim(f["groups_claim"], "groups_claim", &o.GroupsClaim)
	if s, ok := f["actor_prefix"].Text("actor_prefix"); ok {
		o.ActorPrefix = s
		if !actorPrefix().MatchString(s) {
			f["actor_prefix"].Fault(strictyaml.BadValue, "actor_prefix must be at most 32 ASCII characters without blanks", "write one such as sso:")
		}
	}
	o.SharedActors, _ = f["shared_actors"].Bool("shared_actors")
	if word, ok := f["act"].Word(); ok {
		o.EarlierAgents = word == actChain
	}
	o.Claims = p.claims(f["claims"], oidcSection+".claims")
	o.Scopes = oidcScopes(f["scopes"])
	o.Studio = studioClient(f["studio"])
	if s := o.Studio; s != nil && len(o.Scopes) > 0 && o.Scopes[0].Actions != nil && !slices.ContainsFunc(o.Scopes, func(sc Scope) bool { return slices.Contains(s.Scopes, sc.Name) }) {
		f["studio"].Fault(strictyaml.BadValue, "the studio asks for none of the scopes in "+oidcSection+".scopes, so its users could do nothing", "add those that they need to "+oidcSection+".studio.scopes")
	}
	groups, _ := f["groups"].Entries(oidcSection + ".groups")
	for _, g := range groups {
		if !tokenWord().MatchString(g.Key) {
			g.At.Fault(strictyaml.BadValue, "a token's group must be at most 256 ASCII characters", "write the group as it is in the tokens")
		}
		if s, ok := g.Value.Text(oidcSection + ".groups"); ok {
			o.Groups = append(o.Groups, TokenGroup{g.Key, s, g.Value.Span()})
		}
	}
}

// claims reads a map of claims, and adds their types to those of the server. Each has a type, or a type and its name in tokens.
// The result has the names in tokens.
func (p *reader) claims(n *strictyaml.Node, what string) map[string]string {
	names := map[string]string{}
	entries, _ := n.Entries(what)
	for _, e := range entries {
		of, typ := what+"."+e.Key, e.Value
		name := e.Key
		if typ.IsMapping() {
			f, ok := typ.Mapping(of, claimSettings)
			if !ok {
				continue
			}
			claim(f["claim"], "claim", &name)
			if typ = typ.AtKey().Require(f, "type", of); typ == nil {
				continue
			}
		}
		claims.Declare(&p.cfg.Server.Claims, e.Key, typ, of)
		names[e.Key] = name
	}
	return names
}

// oidcScopes reads the setting server.oidc.scopes: a list of scopes, or a map from scopes to actions.
func oidcScopes(n *strictyaml.Node) []Scope {
	const what = oidcSection + ".scopes"
	var all []Scope
	if n != nil && n.IsList() {
		scopes, _ := n.Texts(what)
		for _, e := range scopes {
			if checkScope(e) && !slices.ContainsFunc(all, func(s Scope) bool { return s.Name == e.Key }) {
				all = append(all, Scope{Name: e.Key})
			}
		}
		return all
	}
	known := scopeActions()
	entries, ok := n.Entries(what)
	if ok && len(entries) == 0 {
		n.Fault(strictyaml.Missing, what+" is an empty map, so a token with scopes could do nothing", "write scopes with their actions, such as graph.read: [read, invoke_query]")
	}
	for _, e := range entries {
		checkScope(e)
		s := Scope{Name: e.Key, Actions: []tool.Action{}}
		actions, _ := e.Value.Texts(what + "." + e.Key)
		for _, a := range actions {
			if !slices.Contains(known, a.Key) {
				a.At.Unknown(strictyaml.UnknownName, "action", a.Key, what+"."+e.Key, known)
				continue
			}
			s.Actions = append(s.Actions, tool.Action(a.Key))
		}
		all = append(all, s)
	}
	return all
}

// scopeActions returns the names of the actions that a scope can cover: all that a policy can name.
func scopeActions() []string {
	var names []string
	for _, r := range tool.Actions() {
		names = append(names, string(r.Action))
	}
	return names
}

// studioClient reads the section server.oidc.studio. It returns nil if there is none.
func studioClient(n *strictyaml.Node) *StudioClient {
	const what = oidcSection + ".studio"
	f, ok := n.Mapping(what, studioClientSettings)
	if !ok {
		return nil
	}
	c := &StudioClient{Scopes: []string{openidScope}}
	if n := n.AtKey().Require(f, "client_id", what); n != nil {
		c.ClientID, _ = n.Text("client_id")
		if c.ClientID != "" && !tokenWord().MatchString(c.ClientID) {
			n.Fault(strictyaml.BadValue, "client_id must be at most 256 ASCII characters", "write the id that the issuer has for the studio")
		}
	}
	scopes, _ := f["scopes"].Texts("scopes")
	for _, e := range scopes {
		switch {
		case !checkScope(e):
		case e.Key == offlineScope:
			e.At.Fault(strictyaml.BadValue, "scope offline_access asks for a refresh token, which the studio must not have", "remove the scope")
		case !slices.Contains(c.Scopes, e.Key):
			c.Scopes = append(c.Scopes, e.Key)
		}
	}
	return c
}

// checkScope reports whether an entry is a scope, and a fault if it is not.
func checkScope(e strictyaml.Entry) bool {
	ok := scopeToken().MatchString(e.Key)
	if !ok {
		e.At.Fault(strictyaml.BadValue, fmt.Sprintf("scope %.80q is not a scope: expected ASCII characters without blanks, quotes and backslashes", e.Key), "write each scope as an entry of its own")
	}
	return ok
}

// checkIssuer reports a fault unless s has the form of an issuer.
func checkIssuer(n *strictyaml.Node, s string) {
	u, err := hostcheck.ParseSecureURL(s)
	switch {
	case err != nil:
		n.Fault(strictyaml.BadValue, "issuer: "+err.Error(), "write the issuer as it is in the claim iss of a token")
	case u.RawQuery != "" || u.ForceQuery:
		n.Fault(strictyaml.BadValue, fmt.Sprintf("issuer %.80q has a query part, but an issuer cannot have one", s), "write the issuer as it is in the claim iss of a token")
	}
}

// audiences reads one audience or a list of audiences.
func audiences(n *strictyaml.Node) []string {
	if n == nil {
		return nil
	}
	if !n.IsList() {
		if s, ok := n.Text("audience"); ok {
			return []string{s}
		}
		return nil
	}
	list, ok := n.Texts("audience")
	if ok && len(list) == 0 {
		n.Fault(strictyaml.Missing, "audience is an empty list", "write the name that the issuer has for this server")
	}
	var all []string
	for _, e := range list {
		all = append(all, e.Key)
	}
	return all
}

// claim reads the name of a claim and stores it in *to.
func claim(n *strictyaml.Node, what string, to *string) {
	s, ok := n.Text(what)
	if !ok {
		return
	}
	*to = s
	if !tokenWord().MatchString(s) {
		n.Fault(strictyaml.BadValue, what+" must be at most 256 ASCII characters", "write the claim's name as it is in the tokens")
	}
}
