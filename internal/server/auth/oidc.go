package auth

import (
	"context"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/omnigraph-go/omnigraph/gq/value"
	"github.com/omnigraph-go/omnigraph/internal/claims"
	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/internal/server/access"
)

// OIDCOptions configure which tokens are accepted and which claims are read.
type OIDCOptions struct {
	// Issuer is the exact value of the claim iss in every token. Its keys are found through its
	// /.well-known/openid-configuration.
	Issuer string

	// Audiences are the names of the server at the issuer. A token must contain one of them as its
	// audience.
	Audiences []string

	// ActorClaim is the name of the claim that identifies the actor; empty means "sub". The actor
	// is ActorPrefix followed by the value of that claim.
	ActorClaim, ActorPrefix string

	// Reserved reports whether a name is reserved, so that tokens must not use it. Nil reserves
	// none.
	Reserved func(actor string) bool

	// GroupsClaim is the name of the claim that lists groups; empty means "groups". Only the groups
	// in the field Groups are kept; other groups of a token are dropped.
	GroupsClaim string
	Groups      []string // names of the groups to keep

	// Claims are the claims that queries may use, by their names in queries.
	Claims map[string]Claim

	// Scopes narrow what the tokens with scopes can do; see [access.Scopes]. Empty means that scopes are not read.
	Scopes []access.Scope

	Log *slog.Logger     // receives messages about fetches of the issuer's keys; never nil
	Now func() time.Time // the clock for expiry and for the age of keys; nil means clock.Now
}

// Claim is a claim of tokens that queries may use.
type Claim struct {
	Name string // in tokens
	Type value.Type
}

// OIDC verifies the JSON Web Tokens of one issuer, both access tokens (RFC 9068) and ID tokens. It
// fetches the issuer's keys when the first token arrives, and keeps them for later tokens. Call
// Close after the last request has ended.
type OIDC struct {
	o    OIDCOptions
	keys *issuerKeys // the issuer's keys
}

// algorithms are the accepted signature algorithms. They are all asymmetric: a party that can
// verify a signature cannot make one. A token itself states its algorithm, so the algorithm "none"
// and the HMAC family must not be in this list.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

const (
	defaultGroupsClaim = "groups" // see OIDCOptions.GroupsClaim

	// groupsOmitted is the beginning of the reason for rejecting a token without groups. The issuer
	// leaves the groups out if the actor has too many.
	groupsOmitted = "has no groups, because the issuer found them too many for a token: "

	// maxJWT bounds the length of a token in bytes. A token with many groups has a few thousand
	// bytes.
	maxJWT = 16 << 10

	// leeway is the accepted difference between the clocks of the issuer and the server.
	leeway = 30 * time.Second
)

// NewOIDC returns a verifier for the tokens of an issuer. It does not call the issuer, which may be
// down.
func NewOIDC(o OIDCOptions) *OIDC {
	if o.ActorClaim == "" {
		o.ActorClaim = "sub"
	}
	if o.GroupsClaim == "" {
		o.GroupsClaim = defaultGroupsClaim
	}
	if o.Now == nil {
		o.Now = clock.Now
	}
	client := &http.Client{
		Timeout: fetchTimeout,
		// The discovery document gives the address of the keys. A redirect on the way is an error.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     http.DefaultTransport.(*http.Transport).Clone(),
	}
	return &OIDC{o: o, keys: newIssuerKeys(o.Issuer, client, o.Log, o.Now)}
}

// Close cancels a running fetch of keys.
func (v *OIDC) Close() error {
	v.keys.close()
	return nil
}

// Rejected is the error for a token that is of the verifier's kind but not valid.
type Rejected struct {
	Reason string // completes a sentence after "the bearer token"; contains no part of the token
}

func (e *Rejected) Error() string { return "the bearer token " + e.Reason }

// Verify implements Verifier. It returns nil, nil if the text does not have the form of a signed
// token. It returns a *Rejected if the token is not valid, and an *Unreachable if the token's key
// cannot be looked up because the issuer does not answer.
//
// Verify ignores the headers jwk, jku, x5c and x5u, with which a token could bring its own key.
func (v *OIDC) Verify(ctx context.Context, token string) (*access.Actor, error) {
	if strings.Count(token, ".") != 2 {
		return nil, nil
	}
	if len(token) > maxJWT {
		return nil, &Rejected{"is too long"}
	}
	parsed, err := jwt.ParseSigned(token, algorithms)
	if err != nil {
		return nil, &Rejected{"is not signed, or is signed with an algorithm that this server does not accept"}
	}
	// A lenient decoder ignores the last bits of a part, so that one token would have several spellings.
	for part := range strings.SplitSeq(token, ".") {
		if _, err := base64.RawURLEncoding.Strict().DecodeString(part); err != nil {
			return nil, &Rejected{"is not encoded in base64url without padding, as RFC 7515 demands"}
		}
	}
	header := parsed.Headers[0]
	if !acceptedType(header.ExtraHeaders[jose.HeaderType]) {
		return nil, &Rejected{"is not an access token or an ID token"}
	}
	if _, critical := header.ExtraHeaders["crit"]; critical {
		return nil, &Rejected{"needs an extension that this server does not support"}
	}
	// The signature is not verified yet. This check only avoids fetching keys because of tokens of
	// other issuers.
	var of struct {
		Issuer string `json:"iss"`
	}
	if err := parsed.UnsafeClaimsWithoutVerification(&of); err != nil {
		return nil, &Rejected{"has no readable claims"}
	}
	if of.Issuer != v.o.Issuer {
		return nil, &Rejected{"is from another issuer"}
	}
	if err := v.keys.verify(ctx, header.KeyID, header.Algorithm, func(key any) error { return parsed.Claims(key) }); err != nil {
		return nil, err
	}
	var said tokenClaims // set once the signature is verified
	if err := parsed.UnsafeClaimsWithoutVerification(&said.registered, &said.all); err != nil {
		return nil, &Rejected{"has no readable claims"}
	}
	return v.actor(&said)
}

// tokenClaims are the claims of a token whose signature was verified.
type tokenClaims struct {
	registered jwt.Claims     // the claims that RFC 7519 defines
	all        map[string]any // every claim by name
}

// acceptedType reports whether the token's header typ, if any, is that of a bearer token. Tokens of
// other kinds, such as logout tokens, have the same issuer, audience and keys.
func acceptedType(typ any) bool {
	if typ == nil {
		return true
	}
	s, ok := typ.(string)
	switch strings.TrimPrefix(strings.ToLower(s), "application/") {
	case "jwt", "at+jwt":
		return ok
	}
	return false
}

// actor checks the claims of a token and returns its actor.
func (v *OIDC) actor(c *tokenClaims) (*access.Actor, error) {
	err := c.registered.ValidateWithLeeway(jwt.Expected{Issuer: v.o.Issuer, AnyAudience: v.o.Audiences, Time: v.o.Now()}, leeway)
	switch {
	case errors.Is(err, jwt.ErrExpired):
		return nil, &Rejected{"has expired"}
	case errors.Is(err, jwt.ErrNotValidYet), errors.Is(err, jwt.ErrIssuedInTheFuture):
		return nil, &Rejected{"is not valid yet"}
	case errors.Is(err, jwt.ErrInvalidAudience):
		return nil, &Rejected{"is for another audience"}
	case err != nil:
		return nil, &Rejected{"is from another issuer"}
	case len(v.o.Audiences) == 0: // without this case, the library would accept any audience
		return nil, &Rejected{"is for another audience"}
	case c.registered.Expiry == nil:
		return nil, &Rejected{"never expires; expected the claim exp"}
	}
	name, err := v.name(c.all, "")
	if err != nil {
		return nil, err
	}
	groups, err := v.groups(c.all, "")
	if err != nil {
		return nil, err
	}
	agents, err := v.agents(c.all, name)
	if err != nil {
		return nil, err
	}
	scopes, err := v.scopes(c.all)
	if err != nil {
		return nil, err
	}
	known, err := v.claims(c.all)
	if err != nil {
		return nil, err
	}
	return &access.Actor{ID: name, Groups: groups, Claims: known, Source: "oidc", Expires: c.registered.Expiry.Time().Add(leeway), Scopes: scopes, Agents: agents}, nil
}

// name returns the name of the actor of some claims. The argument `path` is "" for the claims of the token, and the path to those of an
// agent, such as act.
func (v *OIDC) name(claims map[string]any, path string) (string, error) {
	in := ""
	if path != "" {
		in = ", in the claim " + path
	}
	name, ok := claims[v.o.ActorClaim].(string)
	if !ok || name == "" {
		return "", &Rejected{"names no actor in the claim " + claimAt(path, v.o.ActorClaim)}
	}
	// A user may be able to register any address, so an unverified address does not identify its
	// owner.
	if verified, said := claims["email_verified"]; v.o.ActorClaim == "email" && said && verified != true {
		return "", &Rejected{"names its actor by an email address that is not verified" + in}
	}
	name = v.o.ActorPrefix + name
	if checkActor(name) != nil {
		return "", &Rejected{"names an actor that a policy cannot name" + in + "; expected at most 128 ASCII characters without blanks"}
	}
	if v.o.Reserved != nil && v.o.Reserved(name) {
		return "", &Rejected{"names an actor that a token of this issuer may not have" + in}
	}
	return name, nil
}

// claimAt returns the path to a claim among the claims at a path.
func claimAt(path, claim string) string {
	if path == "" {
		return claim
	}
	return path + "." + claim
}

// scopes returns the scopes of the token: the claim scope of RFC 9068, section 2.2.3, or scp, which Entra ID and Okta write. It
// returns nil if scopes are not read, or if the token has neither claim, like an ID token. It rejects a token
// with a claim that is neither a text nor a list of texts.
func (v *OIDC) scopes(all map[string]any) (*access.Scopes, error) {
	if len(v.o.Scopes) == 0 {
		return nil, nil
	}
	s := &access.Scopes{Known: v.o.Scopes}
	found := false
	for _, name := range []string{"scope", "scp"} {
		claim, ok := all[name]
		if !ok {
			continue
		}
		found = true
		unreadable := &Rejected{"has no list of scopes in the claim " + name}
		switch claim := claim.(type) {
		case string:
			s.Held = append(s.Held, strings.Fields(claim)...)
		case []any:
			for _, e := range claim {
				text, ok := e.(string)
				if !ok {
					return nil, unreadable
				}
				s.Held = append(s.Held, text)
			}
		default:
			return nil, unreadable
		}
	}
	if !found {
		return nil, nil
	}
	return s, nil
}

// claims returns the claims of the token that queries may use. It rejects a token in which one has another type or is left out
// for another source, because a filter may hide by it.
func (v *OIDC) claims(all map[string]any) (map[string]value.Value, error) {
	var known map[string]value.Value
	elsewhere, _ := all["_claim_names"].(map[string]any) // see groups
	for name, c := range v.o.Claims {
		if elsewhere[c.Name] != nil {
			return nil, &Rejected{"does not have the claim " + c.Name + ": the claim _claim_names refers to another source"}
		}
		said := all[c.Name]
		if said == nil {
			continue
		}
		read, ok := claims.FromJSON(said, c.Type)
		if !ok {
			return nil, &Rejected{"has no " + c.Type.Required().String() + " in the claim " + c.Name}
		}
		if known == nil {
			known = map[string]value.Value{}
		}
		known[name] = read
	}
	return known, nil
}

// groups returns, sorted, the groups of the token that o.Groups lists. It rejects a token if its
// groups are unreadable or left out, because a rule may deny by group. The argument `path` is as in name.
func (v *OIDC) groups(all map[string]any, path string) ([]string, error) {
	if len(v.o.Groups) == 0 {
		return nil, nil
	}
	unreadable := &Rejected{"has no list of groups in the claim " + claimAt(path, v.o.GroupsClaim)}
	// A distributed claim (OpenID Connect Core, section 5.6.2): instead of the groups, the token
	// refers to a source that has them.
	if elsewhere, ok := all["_claim_names"].(map[string]any); ok && elsewhere[v.o.GroupsClaim] != nil {
		return nil, &Rejected{groupsOmitted + "the claim " + claimAt(path, "_claim_names") + " refers to another source"}
	}
	var named []any
	switch claim := all[v.o.GroupsClaim].(type) {
	case nil:
		// In tokens of the implicit flow, Entra ID may set hasgroups instead of listing the groups.
		// hasgroups always refers to the claim groups.
		if says := all["hasgroups"]; v.o.GroupsClaim == defaultGroupsClaim && says != nil && says != false && says != "false" {
			return nil, &Rejected{groupsOmitted + "the token has the claim " + claimAt(path, "hasgroups") + " instead"}
		}
		return nil, nil
	case string:
		named = []any{claim}
	case []any:
		named = claim
	default:
		return nil, unreadable
	}
	var groups []string
	for _, g := range named {
		s, ok := g.(string)
		if !ok {
			return nil, unreadable
		}
		if slices.Contains(v.o.Groups, s) {
			groups = append(groups, s)
		}
	}
	slices.Sort(groups)
	return slices.Compact(groups), nil
}
