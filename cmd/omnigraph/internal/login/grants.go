package login

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/oauth2"

	"github.com/omnigraph-go/omnigraph/internal/credentials"
)

// patience bounds the time that a person has to log in. An issuer may set a shorter limit.
const patience = 10 * time.Minute

// maxInterval bounds the time between two polls of an issuer, in seconds.
const maxInterval = 300

// byDevice lets the person log in with a browser on any device (RFC 8628).
func (f *flow) byDevice(ctx context.Context, t *target) (*oauth2.Token, error) {
	c, resource := t.config(f.clientID), oauth2.SetAuthURLParam("resource", t.resource)
	verifier := oauth2.GenerateVerifier()
	d, err := c.DeviceAuth(ctx, resource, oauth2.S256ChallengeOption(verifier))
	if err != nil {
		return nil, credentials.IssuerError(err)
	}
	if !secure(d.VerificationURI) {
		return nil, fmt.Errorf("the issuer names the page %q, which is not an https:// URL", d.VerificationURI)
	}
	if d.Interval < 0 || d.Interval > maxInterval {
		return nil, fmt.Errorf("the issuer asks for %d seconds between two polls; from 0 to %d are possible", d.Interval, maxInterval)
	}
	f.say("Open %s in a browser, on this machine or another one, and enter the code %s", d.VerificationURI, d.UserCode)
	if d.VerificationURIComplete != "" && secure(d.VerificationURIComplete) {
		f.say("or open %s", d.VerificationURIComplete)
	}
	token, err := f.poll(ctx, c, d, resource, oauth2.VerifierOption(verifier))
	return token, credentials.IssuerError(err, d.DeviceCode, verifier)
}

// errCode says that a code for a device has expired.
var errCode = errors.New("the code has expired; run omnigraph login again")

// poll asks the issuer for the tokens of a device until the person has logged in or the code has expired. It goes on after failures
// that can pass, each time with twice the interval.
func (f *flow) poll(ctx context.Context, c *oauth2.Config, d *oauth2.DeviceAuthResponse, opts ...oauth2.AuthCodeOption) (*oauth2.Token, error) {
	if !d.Expiry.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, d.Expiry, errCode)
		defer cancel()
		d.Expiry = time.Time{} // the library would hide the cause
	}
	for {
		token, err := c.DeviceAccessToken(ctx, d, opts...)
		var refused *oauth2.RetrieveError
		var broken *net.OpError
		var failed *url.Error
		switch {
		case err == nil:
			return token, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.As(err, &refused) && refused.ErrorCode == "expired_token":
			return nil, errCode
		case refused != nil && refused.Response.StatusCode >= 500, errors.As(err, &broken), errors.As(err, &failed) && failed.Timeout():
			f.say("%s; trying again", credentials.IssuerError(err, d.DeviceCode).Error())
			d.Interval = min(2*max(d.Interval, 1), maxInterval)
		default:
			return nil, err
		}
	}
}

// answer is what the issuer sends to the redirect address.
type answer struct {
	code string
	err  error
}

// byBrowser lets the person log in with a browser on this machine, which the issuer sends back to an address of this process (RFC 8252,
// with PKCE).
func (f *flow) byBrowser(ctx context.Context, t *target) (*oauth2.Token, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("wait for the browser on this machine: %w", err)
	}
	c := t.config(f.clientID)
	c.RedirectURL = "http://" + l.Addr().String() + callbackPath
	state, verifier := rand.Text(), oauth2.GenerateVerifier()
	answers := make(chan answer, 1)
	srv := &http.Server{Handler: t.callback(state, answers), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = srv.Serve(l) }() // ends with Close or Shutdown

	defer func() {
		// The browser may still wait for the page.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		_ = srv.Shutdown(ctx)
		_ = srv.Close()
	}()

	resource := oauth2.SetAuthURLParam("resource", t.resource)
	f.say("Open this address in a browser on this machine:\n%s", c.AuthCodeURL(state, resource, oauth2.S256ChallengeOption(verifier)))
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case a := <-answers:
		if a.err != nil {
			return nil, a.err
		}
		token, err := c.Exchange(ctx, a.code, resource, oauth2.VerifierOption(verifier))
		return token, credentials.IssuerError(err, a.code, verifier)
	}
}

// callbackPath is the path of the redirect address, which a person registers at the issuer.
const callbackPath = "/callback"

// callback returns the handler of the redirect address. It passes on the first answer with the state of this login, and ignores all
// other requests, because any page can send a browser to this address.
func (t *target) callback(state string, answers chan<- answer) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+callbackPath, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if q.Get("state") != state {
			http.Error(w, "This address belongs to another login; start again with omnigraph login.", http.StatusBadRequest)
			return
		}
		a := answer{code: q.Get("code")}
		switch iss := q.Get("iss"); {
		case iss != t.issuer.Issuer && (iss != "" || t.issuer.AuthorizationResponseIssParameterSupported): // RFC 9207
			a.err = errors.New("the answer in the browser is that of another issuer")
		case q.Get("error") != "":
			a.err = fmt.Errorf("the issuer answered: %.200s: %.200s", q.Get("error"), q.Get("error_description"))
		case a.code == "":
			a.err = errors.New("the issuer sent no code")
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Referrer-Policy", "no-referrer") // the address has the code
		if a.err != nil {
			fmt.Fprintln(w, "You are not logged in; the terminal says why. You can close this page.")
		} else {
			fmt.Fprintln(w, "The terminal goes on from here. You can close this page.")
		}
		select {
		case answers <- a:
		default:
		}
	})
	return mux
}
