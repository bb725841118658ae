package credentials

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"al.essio.dev/pkg/shellescape"
	"golang.org/x/oauth2"

	"github.com/omnigraph-go/omnigraph/internal/clock"
)

// Login says how a person who logged in at an issuer gets access tokens for a server.
type Login struct {
	Issuer    string `json:"issuer"`                        // URL of the issuer
	TokenURL  string `json:"token_endpoint"`                // where the issuer renews tokens
	RevokeURL string `json:"revocation_endpoint,omitempty"` // where the issuer takes tokens back; "" if nowhere
	ClientID  string `json:"client_id"`                     // the id of this program at the issuer; it has no secret
	Resource  string `json:"resource"`                      // the server as the issuer knows it (RFC 8707)
}

// Tokens are the tokens of a login.
type Tokens struct {
	Access  string    `json:"access_token"`
	Refresh string    `json:"refresh_token,omitempty"` // renews both; "" if the issuer gave none
	Renew   time.Time `json:"renew_at,omitzero"`       // from when the access token is renewed; zero for [early] before it ends, if it ends
	Expires time.Time `json:"expires_at,omitzero"`     // of the access token; zero if the issuer did not say
}

// early is how long before its end an access token is renewed, so that it is still valid when it arrives. A token with a short lifetime
// is renewed in the last tenth of it.
const early = 30 * time.Second

// unstated is for how long an access token is used before it is renewed, if the issuer did not say when it ends.
const unstated = 5 * time.Minute

// fresh reports whether the access token need not be renewed.
func (t Tokens) fresh() bool {
	renew := t.Renew
	if renew.IsZero() && !t.Expires.IsZero() {
		renew = t.Expires.Add(-early)
	}
	return renew.IsZero() || clock.Now().Before(renew)
}

// valid reports whether the access token has not ended.
func (t Tokens) valid() bool { return t.Expires.IsZero() || clock.Now().Before(t.Expires) }

// TokensOf returns the tokens in an answer of an issuer.
func TokensOf(t *oauth2.Token) (Tokens, error) {
	if t.Type() != "Bearer" {
		return Tokens{}, errors.New("the issuer returned a token that is not a bearer token")
	}
	if err := checkToken(t.AccessToken); err != nil {
		return Tokens{}, fmt.Errorf("the issuer returned %w", err)
	}
	tokens := Tokens{Access: t.AccessToken, Refresh: t.RefreshToken}
	switch {
	case t.ExpiresIn > 0:
		lifetime := time.Duration(t.ExpiresIn) * time.Second
		tokens.Expires = clock.Now().Add(lifetime)
		tokens.Renew = tokens.Expires.Add(-min(early, lifetime/10))
	case t.RefreshToken != "":
		tokens.Renew = clock.Now().Add(unstated)
	}
	return tokens, nil
}

// IssuerClient returns the client for requests to an issuer. It follows no redirects, because a request holds secrets.
func IssuerClient() *http.Client {
	return &http.Client{
		Timeout:       timeLimit,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// IssuerError returns an error with what an issuer says about a failed request: its code and its description. It drops the rest of the
// answer, and each of the given secrets, because the answer may repeat what the request sent.
func IssuerError(err error, secrets ...string) error {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) {
		return err
	}
	if refused.ErrorCode == "" {
		return fmt.Errorf("the issuer answered with status %d", refused.Response.StatusCode)
	}
	text := refused.ErrorCode
	if refused.ErrorDescription != "" {
		text += ": " + refused.ErrorDescription
	}
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "…")
		}
	}
	return fmt.Errorf("the issuer answered: %.300s", text)
}

// renew gets new tokens from the issuer.
func (l Login) renew(ctx context.Context, old Tokens) (Tokens, error) {
	c := oauth2.Config{ClientID: l.ClientID, Endpoint: oauth2.Endpoint{TokenURL: l.TokenURL, AuthStyle: oauth2.AuthStyleInParams}}
	// A token source would not send the resource. The empty code counts as left out (RFC 6749, section 3.2).
	t, err := c.Exchange(context.WithValue(ctx, oauth2.HTTPClient, IssuerClient()), "",
		oauth2.SetAuthURLParam("grant_type", "refresh_token"), oauth2.SetAuthURLParam("refresh_token", old.Refresh), oauth2.SetAuthURLParam("resource", l.Resource))
	if err != nil {
		return Tokens{}, err
	}
	tokens, err := TokensOf(t)
	tokens.Refresh = cmp.Or(tokens.Refresh, old.Refresh)
	return tokens, err
}

// fromLogin returns the tokens of a login. It renews them if the access token ends soon. If that fails, the access token is used until
// it ends, and this process tries again after [early].
func (c *Credential) fromLogin(ctx context.Context) (Tokens, error) {
	_, tokens, err := readLogin(ctx, c.server)
	if err == nil && tokens != nil && !tokens.fresh() {
		var renewed *Tokens
		if renewed, err = c.renewStored(ctx); err != nil && tokens.valid() {
			tokens.Renew = clock.Now().Add(early)
			if !tokens.Expires.IsZero() && tokens.Expires.Before(tokens.Renew) {
				tokens.Renew = tokens.Expires
			}
			return *tokens, nil
		}
		tokens = renewed
	}
	if err == nil && tokens == nil {
		err = errors.New("it is gone; " + again(c.server))
	}
	if err != nil {
		return Tokens{}, fmt.Errorf("get the token of your login at %s: %w", c.server, err)
	}
	return *tokens, nil
}

// renewStored renews the tokens of a stored login. One process at a time does so, because an issuer may accept a refresh token once
// only; the others find the new tokens. If these cannot be stored, it warns and returns them.
func (c *Credential) renewStored(ctx context.Context) (*Tokens, error) {
	unlock, err := lockLogins(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	login, tokens, err := readLogin(ctx, c.server)
	switch {
	case err != nil || tokens == nil || tokens.fresh():
		return tokens, err
	case tokens.Refresh == "":
		return nil, errors.New("it has expired; " + again(c.server))
	}
	// The issuer may void the old refresh token before its answer is here, so the renewal goes on if the caller gives up.
	ctx = context.WithoutCancel(ctx)
	renewed, err := login.renew(ctx, *tokens)
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) && slices.Contains([]string{"invalid_grant", "invalid_client", "unauthorized_client"}, refused.ErrorCode) {
		return nil, fmt.Errorf("%w; %s", IssuerError(err, tokens.Refresh, tokens.Access), again(c.server))
	}
	if err != nil {
		return nil, fmt.Errorf("renew it at %s: %w", login.Issuer, IssuerError(err, tokens.Refresh, tokens.Access))
	}
	if err := storeLogin(ctx, c.server, *login, renewed); err != nil && c.Stderr != nil {
		fmt.Fprintf(c.Stderr, "warning: the new tokens of your login at %s cannot be stored: %v; if the next command fails, %s\n", c.server, err, again(c.server))
	}
	return &renewed, nil
}

// again says how to log in again.
func again(server string) string {
	return "log in with: omnigraph login --server " + shellescape.Quote(server)
}
