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

	"github.com/omnigraph-go/omnigraph/server/guard"
)

const (
	// keysAge is how old keys get before they are fetched anew beside the request that
	// noticed: a key that the issuer withdraws holds no longer than that.
	keysAge = time.Hour

	// However many tokens name unknown keys, the issuer is asked once in these: after it
	// answered, and after it did not.
	keysCooldown  = time.Minute
	faultCooldown = 10 * time.Second

	fetchTimeout = 5 * time.Second // of one of the two requests of a fetch

	// What an issuer may answer.
	maxDocument = 1 << 20 // bytes
	maxKeys     = 100

	minRSABits = 2048
)

// Unreachable says that a token's key is not known and that the issuer could not be
// asked for it.
type Unreachable struct {
	Err   error
	Retry time.Duration // until the issuer is asked again
}

func (e *Unreachable) Error() string { return "the issuer's keys: " + e.Err.Error() }

func (e *Unreachable) Unwrap() error { return e.Err }

// issuerKeys are the public keys of an issuer, as it last told them. It owns the
// goroutine that fetches them: whoever caused a fetch may be gone before it ends, and
// others wait for it too.
type issuerKeys struct {
	issuer string
	client *http.Client
	log    *slog.Logger
	now    func() time.Time

	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex
	keys    []jose.JSONWebKey
	fetched time.Time     // the zero time for never
	next    time.Time     // when the issuer may be asked again
	flight  chan struct{} // closed at the end of the fetch under way; nil for none
	fault   error         // of the last fetch
}

func newIssuerKeys(issuer string, client *http.Client, log *slog.Logger, now func() time.Time) *issuerKeys {
	k := &issuerKeys{issuer: issuer, client: client, log: log, now: now}
	k.ctx, k.stop = context.WithCancel(context.Background())
	return k
}

func (k *issuerKeys) close() {
	k.mu.Lock()
	k.stop()
	k.mu.Unlock()
	k.running.Wait()
	k.client.CloseIdleConnections()
}

// verify calls check with each key that may have signed a token with these headers,
// until one holds. The error is a *Rejected, an *Unreachable or that of the context.
func (k *issuerKeys) verify(ctx context.Context, kid, alg string, check func(key any) error) error {
	known, holds := try(k.known(), kid, alg, check)
	// A key that a token names is the one; with none named it may be one to come.
	if !holds && (!known || kid == "") {
		if err := k.renew(ctx); err != nil {
			return err
		}
		known, holds = try(k.known(), kid, alg, check)
	}
	switch {
	case holds:
		return nil
	case known:
		return &Rejected{"has a signature that does not hold"}
	}
	return &Rejected{"is signed with a key that the issuer does not publish for it"}
}

func try(keys []jose.JSONWebKey, kid, alg string, check func(key any) error) (known, holds bool) {
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

// known are the keys of the last fetch that succeeded. Old ones are renewed meanwhile.
func (k *issuerKeys) known() []jose.JSONWebKey {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	if !k.fetched.IsZero() && now.Sub(k.fetched) > keysAge && k.flight == nil && !now.Before(k.next) && k.ctx.Err() == nil {
		k.start()
	}
	return k.keys
}

// renew waits for a fetch of the keys, unless it is too early for one. It answers nil
// when the keys are those of the last fetch.
func (k *issuerKeys) renew(ctx context.Context) error {
	k.mu.Lock()
	flight := k.flight
	if flight == nil {
		if k.ctx.Err() != nil {
			k.mu.Unlock()
			return &Unreachable{Err: k.ctx.Err()}
		}
		if k.now().Before(k.next) {
			defer k.mu.Unlock()
			return k.lastFault()
		}
		flight = k.start()
	}
	k.mu.Unlock()
	select {
	case <-flight:
	case <-ctx.Done():
		return ctx.Err()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.lastFault()
}

func (k *issuerKeys) lastFault() error {
	if k.fault == nil {
		return nil
	}
	return &Unreachable{Err: k.fault, Retry: k.next.Sub(k.now())}
}

// start begins a fetch; mu is held.
func (k *issuerKeys) start() chan struct{} {
	flight := make(chan struct{})
	k.flight = flight
	k.running.Go(func() {
		keys, err := k.fetch(k.ctx)
		k.mu.Lock()
		defer k.mu.Unlock()
		now := k.now()
		k.flight, k.fault = nil, err
		close(flight)
		if err != nil {
			k.next = now.Add(faultCooldown)
			k.log.Warn("the keys of the issuer could not be fetched; those of before still hold", "issuer", k.issuer, "error", err, "keys", len(k.keys))
			return
		}
		k.keys, k.fetched, k.next = keys, now, now.Add(keysCooldown)
		k.log.Info("the keys of the issuer were fetched", "issuer", k.issuer, "keys", len(keys))
	})
	return flight
}

// fetch asks the issuer where its keys are, and then for those.
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
		return nil, fmt.Errorf("%s names the issuer %.200q, wanted %q", discovery, about.Issuer, k.issuer)
	}
	if _, err := guard.ParseSecureURL(about.Keys); err != nil {
		return nil, fmt.Errorf("%s: jwks_uri: %w", discovery, err)
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := k.get(ctx, about.Keys, &set); err != nil {
		return nil, err
	}
	if set.Keys == nil || len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("%s: found %d keys, wanted a list keys of at most %d", about.Keys, len(set.Keys), maxKeys)
	}
	keys := make([]jose.JSONWebKey, 0, len(set.Keys))
	for _, raw := range set.Keys {
		var key jose.JSONWebKey
		// A set may hold keys of kinds to come.
		if err := json.Unmarshal(raw, &key); err == nil && verifies(&key) {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

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
		return fmt.Errorf("%s answered status %d, wanted 200", url, resp.StatusCode)
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	if err != nil {
		return fmt.Errorf("%s: %w", url, err)
	}
	if len(b) > maxDocument {
		return fmt.Errorf("%s answered more than %d bytes", url, maxDocument)
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

// verifies reports whether a published key is one to verify signatures with.
func verifies(key *jose.JSONWebKey) bool {
	if !key.IsPublic() || !key.Valid() || key.Use != "" && key.Use != "sig" {
		return false
	}
	rsaKey, ok := key.Key.(*rsa.PublicKey)
	return !ok || rsaKey.N.BitLen() >= minRSABits
}

// signs reports whether a key is for an algorithm: of its kind, of its curve, and not
// published for another.
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
