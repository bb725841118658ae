// Package login has the verbs with which a person at a terminal logs in at the issuer that a server names, and logs out.
package login

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/oauth2"

	"github.com/omnigraph-go/omnigraph/client"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/contexts"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/terminal"
	"github.com/omnigraph-go/omnigraph/cmd/omnigraph/internal/usage"
	"github.com/omnigraph-go/omnigraph/internal/credentials"
)

// flow is one login.
type flow struct {
	server   string   // URL of the server, without a slash at its end
	clientID string   // the id of this program at the issuer
	scopes   []string // in place of those that the server names; nil for those
	browser  bool     // log in with a browser on this machine, even if the issuer lets devices in
	insecure bool     // permits sending the token over http://
	err      io.Writer
}

// say writes a line for the person. The arguments may come from a server or an issuer, so it escapes what is not printable in them.
func (f *flow) say(format string, args ...string) {
	var shown []any
	for _, a := range args {
		shown = append(shown, terminal.Printable(a))
	}
	fmt.Fprintf(f.err, format+"\n", shown...)
}

// New makes the command omnigraph login.
func New() *cobra.Command {
	var f flow
	cmd := &cobra.Command{
		Use:   "login [--server URL]",
		Short: "Log in at the identity provider of a server",
		Long: `Log in at the identity provider (the OpenID Connect issuer) of a server, or of the server of the
current context. Later commands send the access token to that server, and renew it when it has
expired. The tokens are in the keyring of the system or, where there is none, in
` + credentials.LoginsName + `, which only you can read.

The command prints an address and a code to enter there, in a browser on any machine. If the
issuer does not offer this (RFC 8628), or with --browser, it prints an address for a browser on
this machine, which comes back to http://127.0.0.1:PORT` + callbackPath + `. The issuer must know this program
as a public client, which has an id and no secret; name it with --client-id the first time.`,
		Example: "  omnigraph login --server https://graph.example.com --client-id omnigraph-cli\n  omnigraph login",
		Args:    usage.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.err = cmd.ErrOrStderr()
			if err := f.check(cmd.Flags().Changed("server")); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeoutCause(cmd.Context(), patience, fmt.Errorf("nobody logged in within %v", patience))
			defer cancel()
			return f.run(ctx)
		},
	}
	serverFlag(cmd, &f.server)
	cmd.Flags().StringVar(&f.clientID, "client-id", "", "the id of this program at the issuer (default: the one of your last login at the server)")
	cmd.Flags().StringSliceVar(&f.scopes, "scopes", nil, "the `SCOPES` to ask for (default: those that the server names)")
	cmd.Flags().BoolVar(&f.browser, "browser", false, "log in with a browser on this machine")
	cmd.Flags().BoolVar(&f.insecure, "insecure", false, "permit sending the token to another machine over http://, where others can read it")
	return cmd
}

// serverFlag adds the flag that names the server.
func serverFlag(cmd *cobra.Command, server *string) {
	cmd.Flags().StringVar(server, "server", "", "the URL of the server (default: that of the current context)")
}

// serverOf returns the URL of the server, without a slash at its end: the one of the flag or, if it was not given, of the current
// context.
func serverOf(flag string, given bool) (string, error) {
	server := flag
	if !given {
		f, err := contexts.Read()
		if err != nil {
			return "", err
		}
		_, c, err := f.InUse()
		if err != nil {
			return "", err
		}
		if server = c.Server; server == "" {
			return "", usage.Errorf("--server is missing, and no current context names a server; give the URL of a server")
		}
	}
	u, err := url.Parse(server)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", usage.Errorf("--server is not the URL of a server; give one such as https://graph.example.com")
	}
	return strings.TrimRight(server, "/"), nil
}

// check completes the flags and reports faults of them.
func (f *flow) check(given bool) (err error) {
	if f.server, err = serverOf(f.server, given); err != nil {
		return err
	}
	if !f.insecure && credentials.Exposed(f.server) {
		return usage.Errorf("--server is %s, but others could read the token on its way over http://; use an https:// URL, or permit http:// with --insecure", f.server)
	}
	last, err := credentials.FindLogin(f.server)
	if err != nil {
		return err // a file that cannot be read cannot take the new login either
	}
	if f.clientID == "" {
		if last == nil {
			return usage.Errorf("--client-id is missing; give the id that the issuer has for this program, which the operator of the server knows")
		}
		f.clientID = last.ClientID
	}
	return nil
}

// run logs in, and stores the tokens once the server has accepted them.
func (f *flow) run(ctx context.Context) error {
	h := credentials.IssuerClient()
	t, err := discover(ctx, h, f.server, f.insecure)
	if err != nil {
		return err
	}
	if f.scopes != nil {
		t.scopes = f.scopes
	}
	f.tell(t)
	tokens, err := f.grant(context.WithValue(ctx, oauth2.HTTPClient, h), t)
	if err != nil {
		return fmt.Errorf("log in at %s: %w", t.issuer.Issuer, err)
	}
	c, err := client.New(f.server, client.WithToken(tokens.Access))
	if err != nil {
		return err
	}
	defer c.Close()
	who, err := c.Actor(ctx)
	if err != nil {
		return fmt.Errorf("the server does not accept the token of %s: %w; the audience of the token may need a setting of the client at the issuer, or one of --scopes", t.issuer.Issuer, err)
	}
	login := credentials.Login{Issuer: t.issuer.Issuer, TokenURL: t.issuer.TokenEndpoint, RevokeURL: t.issuer.RevocationEndpoint, ClientID: f.clientID, Resource: t.resource}
	place, err := credentials.StoreLogin(context.WithoutCancel(ctx), f.server, login, tokens)
	if err != nil {
		return err
	}
	f.say("Logged in at %s as %s; the tokens are in %s", f.server, who.ActorID, place)
	if tokens.Refresh == "" && !tokens.Expires.IsZero() {
		f.say("The issuer gave no refresh token: log in again when the token expires")
	}
	if used, err := credentials.Find(f.server); err == nil && used != nil && !used.IsLogin() {
		f.say("Commands do not use this login, because %s has a token too", used.Place())
	}
	return nil
}

// tell tells the person which issuer gets the login. A hostile server can name an issuer of its own that sends the person to the page of an
// honest one, and then gets that one's tokens. So it also names a page at another host, unless the answer of the page names its issuer
// (RFC 9207).
func (f *flow) tell(t *target) {
	f.say("The issuer of %s is %s", f.server, t.issuer.Issuer)
	page, named := t.issuer.DeviceURL, false
	if page == "" || f.browser {
		page, named = t.issuer.AuthorizationEndpoint, t.issuer.AuthorizationResponseIssParameterSupported
	}
	if page != "" && !named && host(page) != host(t.issuer.Issuer) {
		f.say("It sends you to another host, %s: go on only if you know that the two belong together", host(page))
	}
}

// host returns the host of a URL with its port.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.Host
}

// grant gets tokens with the grant that the issuer and the flags allow.
func (f *flow) grant(ctx context.Context, t *target) (credentials.Tokens, error) {
	var token *oauth2.Token
	var err error
	methods := t.issuer.CodeChallengeMethodsSupported
	switch {
	case t.issuer.DeviceURL != "" && !f.browser:
		token, err = f.byDevice(ctx, t)
	case t.issuer.AuthorizationEndpoint == "":
		err = errors.New("it offers no grant for a person at a terminal")
	case len(methods) > 0 && !slices.Contains(methods, "S256"):
		err = errors.New("it does not know PKCE with the method S256, which protects a login on this machine")
	default:
		token, err = f.byBrowser(ctx, t)
	}
	if err != nil {
		return credentials.Tokens{}, cmp.Or(context.Cause(ctx), err)
	}
	return credentials.TokensOf(token)
}

// NewLogout makes the command omnigraph logout.
func NewLogout() *cobra.Command {
	var server string
	cmd := &cobra.Command{
		Use:   "logout [--server URL]",
		Short: "Forget the tokens of a login, and revoke them at the issuer",
		Long: `Forget the tokens of a login, and revoke them at the issuer if it offers that (RFC 7009). This does not
end your session in the browser.`,
		Example: "  omnigraph logout --server https://graph.example.com\n  omnigraph logout",
		Args:    usage.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			server, err := serverOf(server, cmd.Flags().Changed("server"))
			if err != nil {
				return err
			}
			l, tokens, err := credentials.ForgetLogin(cmd.Context(), server)
			switch {
			case err != nil:
				return err
			case l == nil:
				return fmt.Errorf("there is no login at %s", server)
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "Logged out of %s\n", server)
			if tokens == nil || l.RevokeURL == "" {
				return nil
			}
			if err := revoke(cmd.Context(), l, tokens); err != nil {
				return fmt.Errorf("the tokens are gone from this machine, but the issuer %s did not revoke them: %w", l.Issuer, err)
			}
			return nil
		},
	}
	serverFlag(cmd, &server)
	return cmd
}

// revoke asks the issuer to take back the refresh token, or else the access token.
func revoke(ctx context.Context, l *credentials.Login, tokens *credentials.Tokens) error {
	form := url.Values{"client_id": {l.ClientID}, "token": {cmp.Or(tokens.Refresh, tokens.Access)}, "token_type_hint": {"refresh_token"}}
	if tokens.Refresh == "" {
		form.Set("token_type_hint", "access_token")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.RevokeURL, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := credentials.IssuerClient().Do(req)
	if err != nil {
		return err
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("it answered with status %d", resp.StatusCode)
	}
	return nil
}
