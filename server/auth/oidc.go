package auth

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/omnigraph-go/omnigraph/internal/clock"
	"github.com/omnigraph-go/omnigraph/server/service"
)

// OIDCOptions say whose tokens are taken and what is read from them.
type OIDCOptions struct {
	// Issuer is the iss of every token, letter by letter. Its keys are found by way of
	// its /.well-known/openid-configuration.
	Issuer string

	// Audiences are what the server is called at the issuer; a token is for one of them.
	Audiences []string

	// ActorClaim is the claim that names the actor; sub when empty. ActorPrefix stands
	// in front of the name.
	ActorClaim, ActorPrefix string

	// Reserved reports names that no token may give its bearer; nil for none.
	Reserved func(actor string) bool

	// GroupsClaim is the claim that lists groups; groups when empty. Groups are those
	// that count, and the others of a token are dropped.
	GroupsClaim string
	Groups      []string

	Log *slog.Logger     // of what befalls the issuer's keys; never nil
	Now func() time.Time // the clock for expiries and for the age of keys; nil for clock.Now
}

// OIDC verifies the JSON Web Tokens of one issuer: access tokens (RFC 9068) and ID
// tokens alike. It asks the issuer for its keys when the first token comes, and holds
// later tokens against the keys that it then knows. Close it when no request is under
// way any more.
type OIDC struct {
	o    OIDCOptions
	keys *issuerKeys
}

// algorithms are those in which whoever verifies cannot sign. A token names its own,
// so none and the HMAC family must not be among them.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

const (
	defaultGroupsClaim = "groups"

	// leavesGroupsOut begins the reason for which a token of an actor with too many groups
	// is refused.
	leavesGroupsOut = "leaves its groups out, which are too many for it: "

	// maxJWT bounds a token's length in bytes. One with many groups has some thousands.
	maxJWT = 16 << 10

	// leeway is how far the clocks of issuer and server may be apart.
	leeway = 30 * time.Second
)

// NewOIDC returns the verifier of an issuer. It does not call the issuer, which may be
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
		// An issuer says where its keys are; being sent elsewhere on the way is a fault.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     http.DefaultTransport.(*http.Transport).Clone(),
	}
	return &OIDC{o: o, keys: newIssuerKeys(o.Issuer, client, o.Log, o.Now)}
}

// Close ends a fetch of keys that is under way.
func (v *OIDC) Close() error {
	v.keys.close()
	return nil
}

// Rejected says why a token of a verifier's own kind does not hold.
type Rejected struct {
	Reason string // goes on after "the bearer token"; it shows nothing of the token
}

func (e *Rejected) Error() string { return "the bearer token " + e.Reason }

// Verify implements Verifier. A text that is not of the form of a signed token is none
// of this verifier's; a token that does not hold is a *Rejected, and one whose key
// cannot be looked up, since the issuer does not answer, an *Unreachable.
//
// The headers jwk, jku, x5c and x5u, in which a token brings a key of its own, count
// for nothing.
func (v *OIDC) Verify(ctx context.Context, token string) (*service.Actor, error) {
	if strings.Count(token, ".") != 2 {
		return nil, nil
	}
	if len(token) > maxJWT {
		return nil, &Rejected{"is too long"}
	}
	parsed, err := jwt.ParseSigned(token, algorithms)
	if err != nil {
		return nil, &Rejected{"is not a signed token, or not signed in an algorithm that is taken here"}
	}
	header := parsed.Headers[0]
	if !takenType(header.ExtraHeaders[jose.HeaderType]) {
		return nil, &Rejected{"is not an access token or an ID token"}
	}
	if _, critical := header.ExtraHeaders["crit"]; critical {
		return nil, &Rejected{"wants an extension that is not taken here"}
	}
	// Not trusted yet: it only spares the issuer the tokens of others.
	var of struct {
		Issuer string `json:"iss"`
	}
	if err := parsed.UnsafeClaimsWithoutVerification(&of); err != nil {
		return nil, &Rejected{"has no readable claims"}
	}
	if of.Issuer != v.o.Issuer {
		return nil, &Rejected{"is of another issuer"}
	}
	if err := v.keys.verify(ctx, header.KeyID, header.Algorithm, func(key any) error { return parsed.Claims(key) }); err != nil {
		return nil, err
	}
	var said claims // by a signature that holds
	if err := parsed.UnsafeClaimsWithoutVerification(&said.registered, &said.all); err != nil {
		return nil, &Rejected{"has no readable claims"}
	}
	return v.actor(&said)
}

// claims are what a token says whose signature holds.
type claims struct {
	registered jwt.Claims
	all        map[string]any
}

// takenType holds the header typ against what may be a bearer token here. Tokens of
// other kinds, such as logout tokens, have the same issuer, audience and keys.
func takenType(typ any) bool {
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

// actor checks what a token says and names who it is from.
func (v *OIDC) actor(c *claims) (*service.Actor, error) {
	err := c.registered.ValidateWithLeeway(jwt.Expected{Issuer: v.o.Issuer, AnyAudience: v.o.Audiences, Time: v.o.Now()}, leeway)
	switch {
	case errors.Is(err, jwt.ErrExpired):
		return nil, &Rejected{"has expired"}
	case errors.Is(err, jwt.ErrNotValidYet), errors.Is(err, jwt.ErrIssuedInTheFuture):
		return nil, &Rejected{"is not valid yet"}
	case errors.Is(err, jwt.ErrInvalidAudience):
		return nil, &Rejected{"is for another audience"}
	case err != nil:
		return nil, &Rejected{"is of another issuer"}
	case len(v.o.Audiences) == 0: // to the library that is no wish
		return nil, &Rejected{"is for another audience"}
	case c.registered.Expiry == nil:
		return nil, &Rejected{"never expires; wanted the claim exp"}
	}
	name, ok := c.all[v.o.ActorClaim].(string)
	if !ok || name == "" {
		return nil, &Rejected{"names no actor in the claim " + v.o.ActorClaim}
	}
	// Who may register any address is not yet its owner.
	if verified, said := c.all["email_verified"]; v.o.ActorClaim == "email" && said && verified != true {
		return nil, &Rejected{"names its actor by an address that was not verified"}
	}
	name = v.o.ActorPrefix + name
	if checkActor(name) != nil {
		return nil, &Rejected{"names an actor that no policy could: wanted at most 128 characters of ascii without blanks"}
	}
	if v.o.Reserved != nil && v.o.Reserved(name) {
		return nil, &Rejected{"names an actor that the issuer may not name"}
	}
	groups, err := v.groups(c.all)
	if err != nil {
		return nil, err
	}
	return &service.Actor{ID: name, Groups: groups, Source: "oidc"}, nil
}

// groups returns the groups of the token that count, sorted. It refuses a token whose
// groups are unreadable or left out: a rule may deny by one of them.
func (v *OIDC) groups(all map[string]any) ([]string, error) {
	if len(v.o.Groups) == 0 {
		return nil, nil
	}
	unreadable := &Rejected{"has no list of groups in the claim " + v.o.GroupsClaim}
	// A distributed claim (OpenID Connect Core, section 5.6.2): the token names a source to
	// ask for the groups.
	if elsewhere, ok := all["_claim_names"].(map[string]any); ok && elsewhere[v.o.GroupsClaim] != nil {
		return nil, &Rejected{leavesGroupsOut + "the claim _claim_names names another source for them"}
	}
	var named []any
	switch claim := all[v.o.GroupsClaim].(type) {
	case nil:
		// Entra ID says hasgroups in a token of the implicit flow, always of the claim groups.
		if says := all["hasgroups"]; v.o.GroupsClaim == defaultGroupsClaim && says != nil && says != false && says != "false" {
			return nil, &Rejected{leavesGroupsOut + "the claim hasgroups stands in their place"}
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
