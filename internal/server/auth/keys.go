package auth

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/omnigraph-go/omnigraph/internal/server/hostcheck"
)

const (
	// keysAge is the maximum age of keys. Older keys are fetched again before the next token is
	// verified. So a key that the issuer withdraws stops working after this time, if the issuer
	// answers.
	keysAge = time.Hour

	// staleWait bounds how long a request waits for a new fetch of old keys after a recent fetch
	// failed. An issuer that accepts connections but does not answer delays a request by at most
	// this long.
	staleWait = time.Second

	// These constants limit how often the keys are fetched, even if many tokens refer to unknown
	// keys: keysCooldown applies after a fetch that succeeded, faultCooldown after one that failed.
	keysCooldown  = time.Minute
	faultCooldown = 10 * time.Second

	fetchTimeout = 5 * time.Second // bounds each of the two requests of a fetch

	// maxDocument bounds the size of an answer of the issuer, in bytes.
	maxDocument = 1 << 20
	maxKeys     = 100 // most keys of an issuer

	minRSABits = 2048 // shortest RSA key that is accepted, in bits
)

// Unreachable is the error for a token if its key is unknown and the issuer cannot be asked for the
// key.
type Unreachable struct {
	Err   error         // why the issuer cannot be asked
	Retry time.Duration // how long until the issuer is asked again
}

func (e *Unreachable) Error() string { return "the issuer's keys: " + e.Err.Error() }

// Unwrap returns why the issuer cannot be asked.
func (e *Unreachable) Unwrap() error { return e.Err }

// issuerKeys holds the public keys that an issuer last published. It owns the goroutine that
// fetches the keys, because several requests can wait for one fetch, and the request that started
// the fetch may end first.
type issuerKeys struct {
	issuer string       // URL of the issuer
	client *http.Client // for requests to the issuer
	log    *slog.Logger
	now    func() time.Time // the clock

	ctx     context.Context    // ends when close is called
	stop    context.CancelFunc // ends ctx
	running sync.WaitGroup     // waits for the running fetch

	mu      sync.Mutex
	keys    []jose.JSONWebKey // the keys of the last fetch that succeeded
	fetched time.Time         // when the fetch of keys began; zero if there was none
	next    time.Time         // when the issuer may be asked again
	pending chan struct{}     // closed when the running fetch ends; nil when none runs
	fault   error             // the error of the last fetch
}

// newIssuerKeys returns the keys of an issuer, none of which has been fetched.
func newIssuerKeys(issuer string, client *http.Client, log *slog.Logger, now func() time.Time) *issuerKeys {
	k := &issuerKeys{issuer: issuer, client: client, log: log, now: now}
	k.ctx, k.stop = context.WithCancel(context.Background())
	return k
}

// close stops the running fetch and waits until it has ended.
func (k *issuerKeys) close() {
	k.mu.Lock()
	k.stop()
	k.mu.Unlock()
	k.running.Wait()
	k.client.CloseIdleConnections()
}

// verify calls `check` with each key that may have signed a token with these headers, until a check
// succeeds. The error is a *Rejected, an *Unreachable or, if ctx ends, the error of ctx.
func (k *issuerKeys) verify(ctx context.Context, kid, alg string, check func(key any) error) error {
	keys, err := k.current(ctx)
	if err != nil {
		return err
	}
	known, holds := tryKeys(keys, kid, alg, check)
	// A token without a key id may be signed with a key that was published after the last fetch.
	if !holds && (!known || kid == "") {
		if keys, err = k.renew(ctx); err != nil {
			return err
		}
		known, holds = tryKeys(keys, kid, alg, check)
	}
	switch {
	case holds:
		return nil
	case known:
		return &Rejected{"has a signature that is not valid"}
	}
	return &Rejected{"is signed with a key that the issuer does not publish"}
}

// tryKeys calls `check` with each key that fits kid and alg. The result `known` reports whether
// there is such a key; `holds` reports whether `check` accepted one.
func tryKeys(keys []jose.JSONWebKey, kid, alg string, check func(key any) error) (known, holds bool) {
	for i := range keys {
		if (kid == "" || keys[i].KeyID == kid) && signs(&keys[i], alg) {
			known = true
			if check(keys[i].Key) == nil {
				return true, true
			}
		}
	}
	return known, false
}

// current returns the keys of the last fetch that succeeded. If they are old and the issuer may be
// asked, current first waits for a fetch. If that fetch fails, the old keys stay in use. An error
// is possible only if ctx ends; it is then the error of ctx.
func (k *issuerKeys) current(ctx context.Context) ([]jose.JSONWebKey, error) {
	k.mu.Lock()
	now := k.now()
	fresh := k.fetched.IsZero() || now.Sub(k.fetched) < keysAge
	tooSoon := k.pending == nil && now.Before(k.next)
	if fresh || tooSoon || k.ctx.Err() != nil {
		defer k.mu.Unlock()
		return k.keys, nil
	}
	// If the last fetch failed long ago, the issuer may work again. So only a recent failure
	// shortens the wait.
	pending, failing := k.startLocked(), k.fault != nil && now.Sub(k.next) < keysCooldown
	k.mu.Unlock()

	var patience <-chan time.Time // runs on the machine's clock, as does the timeout of the fetch
	if failing {
		timer := time.NewTimer(staleWait)
		defer timer.Stop()
		patience = timer.C
	}
	select {
	case <-pending:
	case <-patience:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.keys, nil
}

// renew waits for a fetch and returns its keys. If it is too early for a fetch, renew returns the
// result of the last one: its keys, or its fault as an *Unreachable. If ctx ends, renew returns the
// error of ctx.
func (k *issuerKeys) renew(ctx context.Context) ([]jose.JSONWebKey, error) {
	k.mu.Lock()
	if k.pending == nil {
		if err := k.ctx.Err(); err != nil {
			k.mu.Unlock()
			return nil, &Unreachable{Err: err}
		}
		if k.now().Before(k.next) {
			defer k.mu.Unlock()
			return k.lastLocked()
		}
	}
	pending := k.startLocked()
	k.mu.Unlock()
	select {
	case <-pending:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.lastLocked()
}

// lastLocked returns the result of the last fetch. REQUIRES: mu is held.
func (k *issuerKeys) lastLocked() ([]jose.JSONWebKey, error) {
	if k.fault != nil {
		return nil, &Unreachable{Err: k.fault, Retry: k.next.Sub(k.now())}
	}
	return k.keys, nil
}

// startLocked starts a fetch unless one is running. It returns the channel that is closed when the
// fetch ends. REQUIRES: mu is held, and close was not called.
func (k *issuerKeys) startLocked() <-chan struct{} {
	if k.pending != nil {
		return k.pending
	}
	pending, began := make(chan struct{}), k.now()
	k.pending = pending
	k.running.Go(func() {
		keys, err := k.fetch(k.ctx)
		k.mu.Lock()
		defer k.mu.Unlock()
		now := k.now()
		k.pending, k.fault = nil, err
		close(pending)
		if err != nil {
			k.next = now.Add(faultCooldown)
			k.log.Warn("the server could not fetch the keys of the issuer; it continues to verify tokens with the keys that it fetched last", "issuer", k.issuer, "error", err, "keys", len(k.keys))
			return
		}
		k.keys, k.fetched, k.next = keys, began, now.Add(keysCooldown)
		k.log.Info("the server fetched the keys of the issuer", "issuer", k.issuer, "keys", len(keys))
	})
	return pending
}

// fetch asks the issuer for the address of its keys and then fetches the keys.
func (k *issuerKeys) fetch(ctx context.Context) ([]jose.JSONWebKey, error) {
	var about struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	discovery := strings.TrimSuffix(k.issuer, "/") + "/.well-known/openid-configuration"
	if err := k.get(ctx, discovery, &about); err != nil {
		return nil, err
	}
	if about.Issuer != k.issuer {
		return nil, fmt.Errorf("%s names the issuer %.200q, expected %q", discovery, about.Issuer, k.issuer)
	}
	if _, err := hostcheck.ParseSecureURL(about.Keys); err != nil {
		return nil, fmt.Errorf("%s: jwks_uri: %w", discovery, err)
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := k.get(ctx, about.Keys, &set); err != nil {
		return nil, err
	}
	if set.Keys == nil || len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("%s: found %d keys, expected a list of at most %d under keys", about.Keys, len(set.Keys), maxKeys)
	}
	keys := make([]jose.JSONWebKey, 0, len(set.Keys))
	for _, raw := range set.Keys {
		if key := keyOf(raw); key != nil && verifies(key) {
			keys = append(keys, *key)
		}
	}
	return keys, nil
}

// certificates are the members of a key about its certificates. The server trusts a key because the
// issuer publishes it, so it drops them: a malformed one would make a good key unusable.
var certificates = []string{"x5c", "x5t", "x5t#S256", "x5u"}

// keyOf decodes a published key. It returns nil for a key that does not decode: a set may hold keys of
// types that this server does not know.
func keyOf(raw json.RawMessage) *jose.JSONWebKey {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return nil
	}
	for _, name := range certificates {
		delete(members, name)
	}
	b, err := json.Marshal(members)
	if err != nil {
		return nil
	}
	key := new(jose.JSONWebKey)
	if json.Unmarshal(b, key) != nil {
		return nil
	}
	return key
}

// get fetches a JSON document and decodes it into the value that the pointer `into` refers to.
func (k *issuerKeys) get(ctx context.Context, url string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "application/json")
	resp, err := k.client.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered status %d, expected 200", url, resp.StatusCode)
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	if err != nil {
		return fmt.Errorf("%s: %w", url, err)
	}
	if len(b) > maxDocument {
		return fmt.Errorf("%s answered with more than %d bytes", url, maxDocument)
	}
	if err := json.Unmarshal(b, into); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return fmt.Errorf("%s did not answer with JSON", url)
		}
		return fmt.Errorf("%s: %w", url, err)
	}
	return nil
}

// verifies reports whether a published key may be used to verify signatures.
func verifies(key *jose.JSONWebKey) bool {
	if !key.IsPublic() || !key.Valid() || key.Use != "" && key.Use != "sig" {
		return false
	}
	rsaKey, ok := key.Key.(*rsa.PublicKey)
	return !ok || rsaKey.N.BitLen() >= minRSABits
}

// signs reports whether a key can be used with an algorithm: it has the algorithm's key type and
// curve, and it is not published for another algorithm.
func signs(key *jose.JSONWebKey, alg string) bool {
	if key.Algorithm != "" && key.Algorithm != alg {
		return false
	}
	switch k := key.Key.(type) {
	case *rsa.PublicKey:
		return strings.HasPrefix(alg, "RS") || strings.HasPrefix(alg, "PS")
	case *ecdsa.PublicKey:
		return alg == map[int]string{256: "ES256", 384: "ES384", 521: "ES512"}[k.Curve.Params().BitSize]
	case ed25519.PublicKey:
		return alg == string(jose.EdDSA)
	}
	return false
}
