package authtest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
)

// Logins lets people log in at an issuer, without a page: the issuer grants at once what its public client asks for, by the
// authorization code grant with PKCE or by the device grant. A refresh token is valid once.
type Logins struct {
	ClientID string
	Mint     func() string // makes an access token
	Lifetime int           // of access tokens in seconds, as the issuer states it
	NoDevice bool          // there is no device grant
	Pending  int           // the number of polls of a device that are told to wait
	Deny     string        // the error that answers a poll of a device; "" for none

	challenges map[string]string // of PKCE, by code
	refresh    map[string]bool   // the refresh tokens that are valid
	asked      []url.Values      // the forms of the requests
}

// LetIn makes the issuer let people in.
func (i *Issuer) LetIn(l *Logins) {
	l.challenges, l.refresh = map[string]string{}, map[string]bool{}
	i.set(func() { i.logins = l })
}

// Asked returns the forms of the requests with which people logged in, in order.
func (i *Issuer) Asked() []url.Values {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.logins.asked)
}

// RevokeAll makes all refresh tokens void.
func (i *Issuer) RevokeAll() { i.set(func() { clear(i.logins.refresh) }) }

// describe adds the endpoints to the discovery document.
func (l *Logins) describe(base string, document map[string]any) {
	document["scopes_supported"] = []string{"openid", "offline_access"}
	document["revocation_endpoint"] = base + "/revoke"
	document["authorization_response_iss_parameter_supported"] = true
	if !l.NoDevice {
		document["device_authorization_endpoint"] = base + "/device"
	}
}

// serve answers a request for one of the endpoints, and reports whether it did.
func (l *Logins) serve(w http.ResponseWriter, r *http.Request, base string) bool {
	if l == nil || !slices.Contains([]string{"/authorize", "/device", "/token", "/revoke"}, r.URL.Path) {
		return false
	}
	_ = r.ParseForm()
	l.asked = append(l.asked, r.Form)
	if r.Form.Get("client_id") != l.ClientID {
		refuse(w, "invalid_client")
		return true
	}
	switch r.URL.Path {
	case "/authorize":
		back, err := url.Parse(r.Form.Get("redirect_uri"))
		if err != nil || r.Form.Get("code_challenge_method") != "S256" {
			refuse(w, "invalid_request")
			return true
		}
		back.RawQuery = url.Values{"code": {l.code(r)}, "state": {r.Form.Get("state")}, "iss": {base}}.Encode()
		http.Redirect(w, r, back.String(), http.StatusFound)
	case "/device":
		answer(w, map[string]any{"device_code": l.code(r), "user_code": "WDJB-MJHT", "verification_uri": base + "/activate", "expires_in": 600, "interval": 1})
	case "/token":
		l.grant(w, r)
	case "/revoke":
		delete(l.refresh, r.Form.Get("token"))
	}
	return true
}

// code returns a code that is valid with the verifier of the request's challenge.
func (l *Logins) code(r *http.Request) string {
	code := rand.Text()
	l.challenges[code] = r.Form.Get("code_challenge")
	return code
}

// grant answers a request for tokens.
func (l *Logins) grant(w http.ResponseWriter, r *http.Request) {
	code := r.Form.Get("code")
	switch r.Form.Get("grant_type") {
	case "refresh_token":
		if !l.refresh[r.Form.Get("refresh_token")] {
			refuse(w, "invalid_grant")
			return
		}
		delete(l.refresh, r.Form.Get("refresh_token"))
	case "urn:ietf:params:oauth:grant-type:device_code":
		code = r.Form.Get("device_code")
		switch {
		case l.Deny != "":
			refuse(w, l.Deny)
			return
		case l.Pending > 0:
			l.Pending--
			refuse(w, "authorization_pending")
			return
		}
		fallthrough
	default:
		sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
		if l.challenges[code] != base64.RawURLEncoding.EncodeToString(sum[:]) {
			refuse(w, "invalid_grant")
			return
		}
		delete(l.challenges, code)
	}
	refresh := rand.Text()
	l.refresh[refresh] = true
	answer(w, map[string]any{"access_token": l.Mint(), "token_type": "Bearer", "expires_in": l.Lifetime, "refresh_token": refresh})
}

// refuse answers with an error that repeats nothing of the request.
func refuse(w http.ResponseWriter, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = w.Write([]byte(`{"error":"` + code + `","error_description":"the issuer says ` + code + `"}`))
}
