package reviewkey

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/omnigraph-go/omnigraph/internal/server/access"
)

func TestKeys(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	s := New(func() time.Time { return now }, nil)
	ada := &access.Actor{ID: "act-ada"}
	for _, a := range []*access.Actor{nil, {}, {ID: "act-ada", Agents: []access.Agent{{ID: "act-bot"}}}} {
		if text, _, err := s.Make(a); err == nil {
			t.Errorf("%+v gets the key %s", a, text)
		}
	}
	parts := func() (id, secret string) {
		t.Helper()
		text, expires, err := s.Make(ada)
		if err != nil || !expires.Equal(now.Add(Lasts)) {
			t.Fatal(text, expires, err)
		}
		p := strings.Split(text, "_")
		return p[1], p[2]
	}
	id, secret := parts()
	d := Decision{Proposal: "p", Digest: "d", Decision: "approve", Comment: "good\nenough"}
	// The signature of another program; see the layout in the comment of the package.
	if got := d.Sign("secret", "nonce"); got != "0e6755f469bc0af4712ff866f9c90183c877cdf121bd5664049c2ba1c661dafe" {
		t.Error(got)
	}
	nonce := func() string {
		t.Helper()
		n, err := s.Nonce(id, "p", "act-bot")
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	n := nonce()
	for name, forged := range map[string]func() (string, string, string, Decision){
		"another key":    func() (string, string, string, Decision) { other, _ := parts(); return other, n, d.Sign(secret, n), d },
		"another nonce":  func() (string, string, string, Decision) { return id, "x", d.Sign(secret, "x"), d },
		"another secret": func() (string, string, string, Decision) { return id, n, d.Sign(secret[1:], n), d },
		"no signature":   func() (string, string, string, Decision) { return id, n, "", d },
		"another proposal": func() (string, string, string, Decision) {
			o := d
			o.Proposal = "q"
			return id, n, d.Sign(secret, n), o
		},
		"a signed proposal that the nonce is not for": func() (string, string, string, Decision) {
			o := d
			o.Proposal = "q"
			return id, n, o.Sign(secret, n), o
		},
		"another digest": func() (string, string, string, Decision) { o := d; o.Digest = "e"; return id, n, d.Sign(secret, n), o },
		"another decision": func() (string, string, string, Decision) {
			o := d
			o.Decision = "merge"
			return id, n, d.Sign(secret, n), o
		},
		"another comment": func() (string, string, string, Decision) { o := d; o.Comment = ""; return id, n, d.Sign(secret, n), o },
	} {
		key, no, signature, o := forged()
		if a, err := s.Check(key, no, signature, &o); err == nil {
			t.Errorf("%s: %v may decide", name, a)
		}
	}
	if a, err := s.Check(id, n, d.Sign(secret, n), &d); err != nil || a != ada {
		t.Error(a, err)
	}
	if _, err := s.Check(id, n, d.Sign(secret, n), &d); err == nil {
		t.Error("a decision can be sent twice")
	}
	late := nonce()
	now = now.Add(nonceLasts)
	if _, err := s.Check(id, late, d.Sign(secret, late), &d); err == nil {
		t.Error("a nonce is good for ever")
	}
	last := nonce()
	now = now.Add(Lasts - nonceLasts)
	if _, err := s.Check(id, last, d.Sign(secret, last), &d); err == nil {
		t.Error("a key is good for ever")
	}
	if _, err := s.Nonce(id, "p", "act-bot"); err == nil {
		t.Error("a key that has expired gives a nonce")
	}
	// The oldest keys of an actor go, and keys that have expired take no memory.
	first, _ := parts()
	for range maxKeys {
		parts()
	}
	if _, err := s.Nonce(first, "p", "act-bot"); err == nil || len(s.byID) != maxKeys || len(s.keys) != 1 {
		t.Error(err, len(s.byID), len(s.keys))
	}
}

// TestNonces checks that nonces take little memory, and that no caller takes those of another one away.
func TestNonces(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	s := New(func() time.Time { return now }, nil)
	text, _, err := s.Make(&access.Actor{ID: "act-ada"})
	if err != nil {
		t.Fatal(err)
	}
	id, secret := strings.Split(text, "_")[1], strings.Split(text, "_")[2]
	if _, err := s.Nonce(id, strings.Repeat("p", maxText+1), "act-app"); err == nil {
		t.Error("a nonce keeps a long text")
	}
	d := Decision{Proposal: "p", Digest: "d", Decision: "approve"}
	app, err := s.Nonce(id, "p", "act-app")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 * maxAll {
		if _, err := s.Nonce(id, "p", "act-bot"); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.byID[id].nonces); n != maxNonces+1 {
		t.Errorf("there are %d nonces, expected %d", n, maxNonces+1)
	}
	if _, err := s.Check(id, app, d.Sign(secret, app), &d); err != nil {
		t.Error("another caller took the nonce away:", err)
	}
	for i := 0; len(s.byID[id].nonces) < maxAll; i++ {
		if _, err := s.Nonce(id, "p", strconv.Itoa(i)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Nonce(id, "p", "one more"); err == nil {
		t.Error("nonces have no bound")
	}
	now = now.Add(nonceLasts)
	if _, err := s.Nonce(id, "p", "one more"); err != nil || len(s.byID[id].nonces) != 1 {
		t.Error("nonces that have expired stay:", len(s.byID[id].nonces), err)
	}
}

// TestRevoke revokes keys: those of the actor end, whoever signs with them, and nobody else's do. An agent revokes nothing for the actor.
func TestRevoke(t *testing.T) {
	s := New(nil, nil)
	d := Decision{Proposal: "p", Digest: "d", Decision: "approve"}
	make := func(a *access.Actor) (id, secret, nonce string) {
		t.Helper()
		text, _, err := s.Make(a)
		if err != nil {
			t.Fatal(err)
		}
		p := strings.Split(text, "_")
		if nonce, err = s.Nonce(p[1], "p", "act-bot"); err != nil {
			t.Fatal(err)
		}
		return p[1], p[2], nonce
	}
	ada, bo := &access.Actor{ID: "act-ada"}, &access.Actor{ID: "act-bo"}
	first, secret, nonce := make(ada)
	make(ada)
	other, otherSecret, otherNonce := make(bo)
	for _, a := range []*access.Actor{nil, {}, {ID: "act-ada", Agents: []access.Agent{{ID: "act-bot"}}}} {
		if n, err := s.Revoke(a); err == nil {
			t.Errorf("%+v revokes %d keys", a, n)
		}
	}
	if n, err := s.Revoke(&access.Actor{ID: "act-ada", Tenant: "elsewhere"}); n != 0 || err != nil {
		t.Error("an actor of another tenant:", n, err)
	}
	for _, want := range []int{2, 0} {
		if n, err := s.Revoke(ada); n != want || err != nil {
			t.Errorf("%d keys revoked, %v; want %d", n, err, want)
		}
	}
	if a, err := s.Check(first, nonce, d.Sign(secret, nonce), &d); err == nil {
		t.Error("a revoked key decides as", a)
	}
	if _, err := s.Nonce(first, "p", "act-bot"); err == nil {
		t.Error("a revoked key gives a nonce")
	}
	if a, err := s.Check(other, otherNonce, d.Sign(otherSecret, otherNonce), &d); err != nil || a != bo {
		t.Error("the key of another actor:", a, err)
	}
	make(ada) // a new key after the revoked ones
}

// TestTenure checks that the keys end when another server may have written the graph, and only then.
func TestTenure(t *testing.T) {
	tenure := uint64(3)
	s := New(nil, func() uint64 { return tenure })
	d := Decision{Proposal: "p", Digest: "d", Decision: "approve"}
	text, _, err := s.Make(&access.Actor{ID: "act-ada"})
	if err != nil {
		t.Fatal(err)
	}
	id, secret := strings.Split(text, "_")[1], strings.Split(text, "_")[2]
	nonce, err := s.Nonce(id, "p", "act-bot")
	if err != nil {
		t.Fatal(err)
	}
	tenure = 5
	if a, err := s.Check(id, nonce, d.Sign(secret, nonce), &d); err == nil {
		t.Error("a key of an earlier tenure decides as", a)
	}
	if _, err := s.Nonce(id, "p", "act-bot"); err == nil || len(s.keys)+len(s.byID) != 0 {
		t.Error(err, len(s.keys), len(s.byID))
	}
}
